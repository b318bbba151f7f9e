"""The unigram model over texts as they come: each segment from a memo, normalized only when it is new. For mypyc.

A text is cut before spaces, and around runs of characters that are in no token and stay what they are. No token and no
normalizer reaches over these places, so the best segmentation of a text is made of the best ones of its segments.

Where the sum of scores goes on from segment to segment, rounded to binary32 each time, what is best may depend on all
that stands before. So a segment is kept with the sum up to which it does not: the best score is ahead of the best but
one by more than the two can lose by rounding. While sums stay above -2**j, each addition loses 2**(j - 25) at most.
Beyond that sum, the best segmentation is found anew from the sum that there is. As no score is above 0, sums only fall.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Final

from librt.strings import read_f64_le, read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.character_pairs import HIGH_BITS, LOW_BITS, PLACES, SPACE, width_of
from katapi.runtime.native.encoder import (
    ALIGNED,
    COUNT,
    ID,
    LENGTH,
    LONG_ENTRIES,
    LONGEST_KEPT,
    PADDING,
    ROOM,
    SHORT_BITS,
    Encoder,
)
from katapi.runtime.native.merging import MASKS, MIX
from katapi.runtime.native.rewriting import code_at
from katapi.runtime.native.unigram import UnigramEncoder

BREAK: Final = 1
PLAIN: Final = 2
LONGEST_TEXT: Final = 1 << 23
"""Bytes beyond which a text is encoded as a whole."""
_MOST: Final = 31  # the highest exponent
_FLOORS: Final = pack(
    "<32d", 1.0, *(-(2.0**exponent) for exponent in range(1, 32))
)  # by the exponent j; 0 is for never
_EXPONENT: Final = 57  # the bits below the exponent of a segment, above those that tell the number of its tokens
_ENDED: Final = 62  # the bit that says that a segment ends with a space
_STEPS: Final = 7  # tokens of a segment that a line takes
_LINE: Final = 8  # numbers
_FIRST_PLACES: Final = 1 << 11
_MOST_PLACES: Final = 1 << 15
_ULPS: Final = 805306368.0  # 1.5 * 2**29: how many of a binary32's last place the highest bit of a binary64 is
_HALF_ULP: Final = 2.0**-24
_LEAST_SINGLE: Final = 2.0**-126
_LOST: Final = 2.0**-17  # what an addition may lose that is not rounded to binary32, down to -2**37
LOWEST: Final = -(2.0**14)
"""What no score may be below, as sums of binary64 are not below -2**37 then."""


class SegmentEncoder(Encoder):
    """Encodes texts; the ids of the last one are left in `out`. Not to be shared between threads."""

    def __init__(
        self,
        model: UnigramEncoder,
        scores: bytes,
        unknown: i64,
        mark: i64,
        single: bool,
        in_bytes: bool,
        normalized: Callable[[str], str],
        spaced: Callable[[str], str | None],
        kinds: Callable[[int], tuple[int, int]],
        ascii_kinds: bytes,
    ) -> None:
        """`model` takes whole texts that `normalized` gives.

        In `scores`, that of `unknown` is the score of an unknown character; `mark` is the token of a space alone. With
        `single`, sums go on over a text and are rounded to binary32; else each word begins anew. With `in_bytes`,
        unknown characters may be spelled in bytes.

        `spaced` gives a segment normalized, with single spaces before words and one behind the last where it ends with
        some; None where only the whole text can be encoded. `kinds` gives 64 code points as bits: those that are in no
        token, stay, and are tied to none; and those that are tied to whatever stands beside them. `ascii_kinds` says of
        each byte below 128 whether its character is or becomes a space, `BREAK`, or stays and is tied to none, `PLAIN`.
        """
        super().__init__(model.tables)
        self._model = model
        self._unknown: i64 = unknown
        self._mark: i64 = mark
        self._single = single
        self._in_bytes = in_bytes
        self._normalized = normalized
        self._spaced = spaced
        self._kinds_of = kinds
        self._scores = scores
        self._ascii = ascii_kinds
        self._apart = vec[i64]([-1] * (0x110000 >> 6))  # a page that was not asked for has all bits, as below
        self._tied = vec[i64]([-1] * (0x110000 >> 6))
        self._places: i64 = _FIRST_PLACES
        self._lines = vec[i64]([-1] * (2 * _LINE * _FIRST_PLACES + _LINE))
        self._new_segments: i64 = 0
        self._others: dict[bytes, bytes] = {}
        self._forms: dict[bytes, bytes] = {}
        self._steps = vec[i32]([0] * 64)
        self._total = 0.0  # where `single`, the score of what was encoded
        self._power = 1.0

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids. Raises UnicodeEncodeError on a lone surrogate."""
        b = b" " + text.encode("utf-8")
        n: i64 = len(b)
        if n > LONGEST_TEXT:
            return self._as_a_whole(text)
        b = b + PADDING
        apart = self._apart
        tied = self._tied
        code: i64
        if b[1] >= 0x80 and n > 1:
            code = code_at(b, 1)
            if tied[code >> 6] >> (code & 63) & 1 != 0 and self._is_tied(code):
                return self._as_a_whole(text)  # to the space that is not there
        out = self.out
        room: i64 = i64(len(out)) - 8 * ROOM
        memo = self.short_memo
        lines = self._lines
        last_place: i64 = self._places - 1
        scores = self._scores
        single = self._single
        masks = MASKS
        unknown: i64 = self._unknown
        mix: i64 = MIX
        mix_high: i64 = self.mix_high
        low_bits: i64 = LOW_BITS
        high_bits: i64 = HIGH_BITS
        bounds: i64 = LOW_BITS * 0x21
        ascii_kinds = self._ascii
        places: i64 = PLACES
        total = 0.0  # of scores
        shift = 0.0
        lowest = 0.0  # above which `shift` rounds sums to binary32
        ended = False  # whether a space stands before what comes next, if that is no segment
        count: i64 = 0
        p: i64 = 0
        q: i64
        first: i64
        v: float
        while p < n:
            if count > room:
                self.make_room(2 * count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            begins = False  # whether the segment is what it is with a space for its first byte
            if b[p] < 0x80:
                q = p + 1
                if ascii_kinds[b[p]] == BREAK:
                    while ascii_kinds[b[q]] == BREAK:
                        q += 1
                    p = q - 1
                    begins = b[q] < 0x80
            else:
                # A run of characters that are in no token, but for one to which the next is tied.
                before: i64 = p
                run: i64 = 0
                q = p
                while q < n and b[q] >= 0x80:
                    code = code_at(b, q)
                    if apart[code >> 6] >> (code & 63) & 1 == 0 or (tied[code >> 6] == -1 and not self._is_apart(code)):
                        if run > 0 and tied[code >> 6] >> (code & 63) & 1 != 0:
                            q = before
                            run -= 1
                        break
                    before = q
                    run += 1
                    q += width_of(b, q)
                if run > 0:
                    if ended:
                        out[count] = i32(self._mark)
                        count += 1
                        ended = False
                        if single:
                            total = self._sum_of(total, self._mark, 1)
                    if count == 0 or i64(out[count - 1]) != unknown:
                        out[count] = i32(unknown)
                        count += 1
                    if single:
                        total = self._sum_of(total, unknown, run)
                    p = q
                    continue
                q = p + width_of(b, p)
            # The end of the segment: the next space, or character in no token, where none is tied to what is beside it.
            # Bytes below 0x21 or beyond ASCII are looked for, eight at a time.
            loose = True
            while True:
                word: i64 = read_i64_le(b, q)
                found: i64 = (word - bounds & ~word | word) & high_bits
                if found == 0:
                    q += 8
                    loose = True
                    continue
                step: i64 = ((found & -found) >> 7 & low_bits) * places >> 56
                if step > 0:
                    q += step
                    loose = True
                if q >= n:
                    q = n
                    break
                if b[q] < 0x80:
                    if loose and ascii_kinds[b[q]] == BREAK:
                        break
                    q += 1
                    loose = True
                    continue
                code = code_at(b, q)
                if tied[code >> 6] == -1 and apart[code >> 6] == -1:
                    self._learn_kinds(code >> 6)
                after: i64 = q + width_of(b, q)
                if (
                    loose
                    and apart[code >> 6] >> (code & 63) & 1 != 0
                    and (after >= n or b[after] < 0x80 or not self._is_tied(code_at(b, after)))
                ):
                    break
                loose = tied[code >> 6] >> (code & 63) & 1 == 0
                q = after
            size: i64 = q - p
            first = count
            v = total
            low: i64 = 0
            high: i64 = 0
            ids: i64 = -1
            info: i64 = 0
            token: i64
            left: i64
            if size < 8:
                low = read_i64_le(b, p) & read_i64_le(masks, size << 3)
                high = size << LENGTH
                if begins:
                    low = low & -256 | SPACE
                slot: i64 = ((low | high) * mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
                if memo[slot] == low | high:
                    ids = memo[slot + 1]
                    info = ids
                    left = ids >> COUNT & _STEPS
                    while left > 0:
                        token = ids & ID
                        if single:
                            v = v + read_f64_le(scores, token << 3)
                            if v <= lowest:
                                power = self._power_of(v)
                                lowest = power * -2.0
                                shift = power * _ULPS
                            v = v + shift - shift
                        if token != unknown or count == 0 or i64(out[count - 1]) != unknown:
                            out[count] = i32(token)
                            count += 1
                        ids >>= 18
                        left -= 1
            elif size < 16:
                low = read_i64_le(b, p)
                if begins:
                    low = low & -256 | SPACE
                high = read_i64_le(b, p + 8) & read_i64_le(masks, size - 8 << 3) | size << LENGTH
            if ids < 0 and size < 16:
                at: i64 = (low * mix + high * mix_high >> 40 & last_place) * (2 * _LINE) + ALIGNED
                if lines[at] != low or lines[at + 1] != high:
                    at += _LINE
                if lines[at] == low and lines[at + 1] == high:
                    at += 2
                    ids = lines[at]
                    info = ids
                    left = ids >> COUNT & _STEPS
                    if size < 8 and left <= 3:
                        slot = ((low | high) * mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
                        memo[slot] = low | high
                        memo[slot + 1] = ids
                    i: i64 = 3
                    while left > 0:
                        token = ids & ID
                        if single:
                            v = v + read_f64_le(scores, token << 3)
                            if v <= lowest:
                                power = self._power_of(v)
                                lowest = power * -2.0
                                shift = power * _ULPS
                            v = v + shift - shift
                        if token != unknown or count == 0 or i64(out[count - 1]) != unknown:
                            out[count] = i32(token)
                            count += 1
                        ids >>= 18
                        left -= 1
                        i -= 1
                        if i == 0:
                            at += 1
                            ids = lines[at]
                            i = 3
            if ids >= 0:
                if not single or v > read_f64_le(_FLOORS, (info >> _EXPONENT & _MOST) << 3):
                    total = v
                    ended = info >> _ENDED != 0
                    p = q
                    continue
                count = first  # the sum is too low for what the memo has
            self._total = total
            key = b" " + b[p + 1 : q] if begins else b[p:q]
            count = self._other(key, low, high, count)
            if count < 0:
                return self._as_a_whole(text)
            ended = count & 1 != 0
            count >>= 1
            total = self._total
            lowest = 0.0
            out = self.out
            room = i64(len(out)) - 8 * ROOM
            lines = self._lines
            last_place = self._places - 1
            p = q
        return count

    def _other(self, key: bytes, low: i64, high: i64, count: i64) -> i64:
        """Encodes a segment that is not in the memos of short ones, or there for other sums only.

        Gives the number of ids times two, and one more where a space stands behind it; -1 where only the whole text can
        be encoded.
        """
        size: i64 = len(key)
        if self._single and size > LONGEST_KEPT:
            return self._anew(key, count)
        value = self._others.get(key, b"")
        if not value:
            value = self._found(key)
            if not value:
                return -1
            steps: i64 = (i64(len(value)) >> 2) - 2
            if (
                size < 16
                and steps <= _STEPS
                and (not self._in_bytes or read_i64_le(value, 0) >> _EXPONENT & _MOST != 0)
            ):
                self._keep(value, steps, low, high)
            if size >= 16 or steps > _STEPS:
                self._remember(key, value)
        info: i64 = read_i64_le(value, 0)
        end: i64 = len(value)
        if count + (end >> 2) + 8 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + (end >> 2) + 8 * ROOM)
        out = self.out
        i: i64 = 8
        if self._single:
            v = self._total
            while i < end:
                v = self._model.single_of(v + read_f64_le(self._scores, i64(read_i32_le(value, i)) << 3))
                i += 4
            if v <= read_f64_le(_FLOORS, (info >> _EXPONENT & _MOST) << 3):
                self._remember(key, value)
                return self._anew(key, count)
            self._total = v
            i = 8
        unknown: i64 = self._unknown
        while i < end:
            token: i64 = i64(read_i32_le(value, i))
            if token != unknown or count == 0 or i64(out[count - 1]) != unknown:
                out[count] = i32(token)
                count += 1
            i += 4
        return count << 1 | info >> _ENDED

    def _remember(self, key: bytes, value: bytes) -> None:
        """Takes a segment into the memo of those that no line has, or not for such sums."""
        if len(self._others) >= LONG_ENTRIES:
            self._others = {}
            self._forms = {}
        if len(key) <= LONGEST_KEPT:
            self._others[key] = value

    def _found(self, key: bytes) -> bytes:
        """What is kept of a segment: a number with its exponent and end, and its tokens, 4 bytes each.

        An unknown character is a token, also beside another. Nothing where only the whole text can be encoded.
        """
        form = key
        if not self._is_plain(key):
            spaced = self._spaced(key.decode("utf-8"))
            if spaced is None:
                return b""
            form = spaced.encode("utf-8")
        info: i64 = 0
        end: i64 = len(form)
        if end > 0 and form[end - 1] == SPACE:
            info = 1 << _ENDED
            end -= 1
        b = form + PADDING
        exponent: i64 = _MOST
        steps: list[bytes] = []
        if self._single:
            exponent = self._exponent_of(b, 0, end, 2.0**-24)
            steps.append(self._steps_of(b, 0, end))
            if self._in_bytes and self._unknown_in(steps[0]):
                exponent = 0
        else:
            p: i64 = 0
            while p < end:
                q: i64 = p + 1
                while q < end and b[q] != SPACE:
                    q += 1
                if b[p] != SPACE and self._exponent_of(b, p, q, _LOST) == 0:
                    return b""
                steps.append(self._ids_of(b, p, q))
                p = q
        return pack("<q", int(info | exponent << _EXPONENT)) + b"".join(steps)

    def _is_plain(self, key: bytes) -> bool:
        """Whether a segment is a space and characters of ASCII that stay what they are."""
        if key[0] != SPACE:
            return False
        i: i64 = 1
        while i < i64(len(key)):
            if self._ascii[key[i]] != PLAIN:
                return False
            i += 1
        return i > 1

    def _exponent_of(self, b: bytes, p: i64, q: i64, lost: float) -> i64:
        """Finds the best segmentation of `b[p:q]`, and the highest j such that it is that also from sums above -2**j.

        Two paths lose `lost` * 2**j a step.
        """
        model = self._model
        last: i64 = model.find(b, p, q - p, 0, 0.0, False)
        margin = model.totals[last] - model.seconds[last]
        bound = float(last + 1) * lost * 2.0**_MOST  # steps at most, and one for what the sums here have lost
        exponent: i64 = _MOST
        while exponent > 0 and bound >= margin:
            bound *= 0.5
            exponent -= 1
        return exponent

    def _steps_of(self, b: bytes, p: i64, q: i64) -> bytes:
        """The tokens of the segmentation of `b[p:q]` that was found last, each unknown character by itself."""
        model = self._model
        unknown: i64 = self._unknown
        size: i64 = q - p
        if size > i64(len(self._steps)):
            self._steps = vec[i32]([0] * int(2 * size))
        steps = self._steps
        place: i64 = size
        first: i64 = i64(len(steps))
        while place > 0:
            begin: i64 = i64(model.begins[place])
            token: i64 = i64(model.lasts[place])
            first -= 1
            steps[first] = i32(token)
            if token == unknown:
                i: i64 = begin + width_of(b, p + begin)
                while i < place:
                    first -= 1
                    steps[first] = i32(token)
                    i += width_of(b, p + i)
            place = begin
        return memoryview(steps)[int(first) :].tobytes()

    def _ids_of(self, b: bytes, p: i64, q: i64) -> bytes:
        """The tokens of the word `b[p:q]`, as they become ids."""
        model = self._model
        last: i64 = model.find(b, p, q - p, 0, 0.0, False)
        if not self._in_bytes:
            return self._steps_of(b, p, q)
        parts = vec[i32]([0] * int(3 * (q - p) + 8))
        count: i64 = model.path(b, p, last, parts)
        return memoryview(parts)[: int(count)].tobytes()

    def _unknown_in(self, steps: bytes) -> bool:
        i: i64 = 0
        while i < i64(len(steps)):
            if i64(read_i32_le(steps, i)) == self._unknown:
                return True
            i += 4
        return False

    def _anew(self, key: bytes, count: i64) -> i64:
        """Encodes a segment from the sum that there is, and gives what `_other` gives."""
        form = self._forms.get(key, b"")
        if not form:
            form = key
            if not self._is_plain(key):
                spaced = self._spaced(key.decode("utf-8"))
                if spaced is None:
                    return -1
                form = spaced.encode("utf-8")
            if len(key) <= LONGEST_KEPT:
                self._forms[key] = form
        end: i64 = len(form)
        ended: i64 = 0
        if end > 0 and form[end - 1] == SPACE:
            ended = 1
            end -= 1
        model = self._model
        b = form + PADDING
        last: i64 = model.find(b, 0, end, 0, self._total, True)
        self._total = model.totals[last]
        if self._in_bytes:
            parts = vec[i32]([0] * int(3 * last + 8))
            ids: i64 = model.path(b, 0, last, parts)
            if count + ids + 8 * ROOM > i64(len(self.out)):
                self.make_room(2 * count + ids + 8 * ROOM)
            i: i64 = 0
            while i < ids:
                self.out[count + i] = parts[i]
                i += 1
            return count + ids << 1 | ended
        steps = self._steps_of(b, 0, last)
        if count + last + 8 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + last + 8 * ROOM)
        out = self.out
        i = 0
        while i < i64(len(steps)):
            token: i64 = i64(read_i32_le(steps, i))
            if token != self._unknown or count == 0 or i64(out[count - 1]) != self._unknown:
                out[count] = i32(token)
                count += 1
            i += 4
        return count << 1 | ended

    def _keep(self, value: bytes, steps: i64, low: i64, high: i64) -> None:
        """Takes a segment of up to 15 bytes into the memos, by its bytes and its length."""
        packed: i64 = read_i64_le(value, 0) | steps << COUNT
        second: i64 = 0
        third: i64 = 0
        i: i64 = 0
        while i < steps:
            token: i64 = i64(read_i32_le(value, 8 + 4 * i))
            if i < 3:
                packed |= token << 18 * i
            elif i < 6:
                second |= token << 18 * (i - 3)
            else:
                third = token
            i += 1
        lines = self._lines
        at: i64 = (low * self.mix + high * self.mix_high >> 40 & (self._places - 1)) * (2 * _LINE) + ALIGNED
        if lines[at] == low and lines[at + 1] == high:
            return  # it is there, for other sums
        self._new_segments += 1
        if self._new_segments > self._places and self._places < _MOST_PLACES:
            self._places *= 4
            self._lines = vec[i64]([-1] * int(2 * _LINE * self._places + _LINE))
            self._new_segments = 1
            lines = self._lines
        at = (low * self.mix + high * self.mix_high >> 40 & (self._places - 1)) * (2 * _LINE) + ALIGNED
        i = 0
        while i < _LINE:
            lines[at + _LINE + i] = lines[at + i]
            i += 1
        lines[at] = low
        lines[at + 1] = high
        lines[at + 2] = packed
        lines[at + 3] = second
        lines[at + 4] = third

    def _sum_of(self, total: float, token: i64, times: i64) -> float:
        """A sum of scores to which that of a token is added some times, each time rounded to binary32."""
        score = read_f64_le(self._scores, token << 3)
        while times > 0:
            before = total
            v = total + score
            power = self._power_of(v)
            shift = power * _ULPS
            total = v + shift - shift
            times -= 1
            half = power * _HALF_ULP
            if times > 1 and before <= -power and v - total < half and total - v < half:
                # From one power of two to the next the sum falls by the same each time, but for sums that lie in the
                # middle between two numbers.
                fall = before - total
                more: i64 = times
                if fall > 0.0:
                    steps = (total + power * 2.0) / fall - 1.0
                    more = 0 if steps < 1.0 else times if steps > float(times) else i64(int(steps))
                total -= fall * float(more)
                times -= more
        return total

    def _power_of(self, total: float) -> float:
        """The highest power of two that a sum reaches, which is not above 0, or the least of binary32."""
        size = -total
        power = self._power
        while power > size and power > _LEAST_SINGLE:
            power = power * 0.5
        while power * 2.0 <= size:
            power = power * 2.0
        self._power = power
        return power

    def _is_apart(self, code: i64) -> bool:
        """Whether a character is in no token, stays and is tied to none."""
        if self._tied[code >> 6] == -1 and self._apart[code >> 6] == -1:
            self._learn_kinds(code >> 6)
        return self._apart[code >> 6] >> (code & 63) & 1 != 0

    def _is_tied(self, code: i64) -> bool:
        """Whether a character is tied to whatever stands beside it."""
        if self._tied[code >> 6] == -1 and self._apart[code >> 6] == -1:
            self._learn_kinds(code >> 6)
        return self._tied[code >> 6] >> (code & 63) & 1 != 0

    def _learn_kinds(self, page: i64) -> None:
        apart, tied = self._kinds_of(int(page << 6))
        self._apart[page] = i64(apart)
        self._tied[page] = i64(tied)

    def _as_a_whole(self, text: str) -> i64:
        """Encodes a text as a whole."""
        model = self._model
        count: i64 = model.encode(self._normalized(text))
        if count > i64(len(self.out)):
            self.make_room(count)
        out, ids = self.out, model.out
        i: i64 = 0
        while i < count:
            out[i] = ids[i]
            i += 1
        return count
