"""Byte-level byte-pair encoding of whole texts: the pieces that a scanner finds, each from a memo or by its merges.

For mypyc. The scanners in `katapi_scanners` are classes that find the end of a piece; all else is here. What decides
the speed is how much memory a piece touches: a piece of up to 7 bytes is one number with its length in the highest
byte, one of up to 15 bytes two, and each is looked up in one line of a cache, first among those that came before.

The memos are direct-mapped and bounded: a new entry takes the place of the one that was there. Up to 3 ids are packed
in a number, 18 bits each, their count above them.

An encoder keeps what it works with from one text to the next, so two threads must not use one at the same time. The
global lock does not see to that: memory that is allocated here can start the garbage collector, and that can run code
which lets another thread go on. `NativeEngine` gives each call an encoder of its own.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i16_le, read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.merging import MASKS, MIX, Merging, are_equal

PADDING: Final = b"\xff" * 32  # behind a text, so that nothing reads beyond it; the byte begins no character
ID: Final = 0x3FFFF  # the bits of an id
COUNT: Final = 54  # the bits below a count of ids
ONE_ID: Final = 0x40000000000000  # the count 1
LENGTH: Final = 56  # the bits below the length of a piece
BYTES: Final = 0xFFFFFFFFFFFFFF  # these bits
MIX_HIGH: Final = -4417276706812531889
HIGH: Final = -9187201950435737472  # the highest bit of each of eight bytes
SPACES: Final = 0x2020202020202020  # eight of them
OPENS: Final = 1
INSIDE: Final = 2
CLOSES: Final = 4
SHORT_BITS: Final = 15  # of the number of entries of each memo
MEDIUM_BITS: Final = 15
MERGED_BITS: Final = 16
WHOLE_ONLY: Final = 0x100000  # marks the id of a token that cannot be made: a piece can be it, a part of one cannot
PART: Final = 0x2000000000000000  # marks a part of a piece, where that makes a difference
ALIGNED: Final = 3  # so many numbers behind the start of a large vec lies the start of a line of the cache
ALIGNED_BYTES: Final = 16  # and so many bytes behind the start of large bytes
LONG_ENTRIES: Final = 1 << 14
LONGEST_KEPT: Final = 256  # bytes; a longer piece seldom comes twice
ROOM: Final = 64  # ids; eight times as many fit before each piece, and four before each part of one
CROSSING_BITS: Final = 20
PARTS_CROSS: Final = 1 << 17  # where it says of a byte and the next whether a token begins with both: behind the bits
ALONE: Final = 2  # one has no more than these


class BytePairEncoder(Merging):
    """Encodes texts; the ids of the last one are left in `out`."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.tables` derives them."""
        super().__init__(tables)
        self.leads = tables["leads"]
        self._pages = tables["pages"]
        self._kinds = tables["kinds"]
        self._ids = tables["ids"]
        self._short = tables["short"]
        self._medium = tables["medium"]
        self._long = tables["long"]
        self._crossings = tables["crossings"]
        self._characters = tables["characters"]
        self._part: i64 = PART if tables["parts_differ"] == b"\1" else 0
        self._short_mask: i64 = (len(self._short) - ALIGNED_BYTES) // 16 - 1
        self._medium_mask: i64 = (len(self._medium) - ALIGNED_BYTES) // 32 - 1
        self._long_mask: i64 = len(self._long) // 4 - 1
        self._bounds = tables["bounds"]
        self._joined = tables["joined"]
        self.mix_high: i64 = MIX_HIGH
        self.high: i64 = HIGH
        self.short_memo = vec[i64]([-1] * ((2 << SHORT_BITS) + 8))
        self._medium_memo = vec[i64]([-1] * ((4 << MEDIUM_BITS) + 8))
        self._merged_memo = vec[i64]([-1] * ((4 << MERGED_BITS) + 8))
        self._long_memo: dict[bytes, bytes] = {}
        self._packed: i64 = 0
        self._integers: list[object] = [None] * (len(self._bounds) // 4)
        self.out = vec[i32]([0] * 4096)

    def piece_end(self, b: bytes, q: i64) -> i64:
        """Where the piece ends that begins at `q`: what a scanner knows."""
        raise NotImplementedError

    def steps(self, members: i64) -> bytes:
        """The length of a character by its first byte, where every character with it is of the classes `members`.

        0 for other bytes, and for those of which some characters are of other classes. Behind these 256 the same for
        characters of three bytes by their first two.
        """
        steps = bytearray(256 + 1024)
        for byte in range(256):
            kind: i64 = self.leads[byte]
            if kind < 64 and (members >> kind) & 1 == 1:
                steps[byte] = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        page: i64 = 0x800 >> 6
        while page < 0x10000 >> 6:
            kinds: i64 = i64(read_i16_le(self._pages, page << 1)) << 6
            i: i64 = 0
            while i < 64 and (members >> i64(self._kinds[kinds + i])) & 1 == 1:
                i += 1
            if i == 64:
                steps[256 + page] = 3
            page += 1
        return bytes(steps)

    def words_of(self, opens: i64, inside: i64, closes: i64) -> bytes:
        """By a byte of ASCII, or the one at the end: whether a word can begin with it, consist of it, end before it."""
        words = bytearray(256)
        for byte in range(256):
            kind: i64 = self.leads[byte]
            if byte < 0x80 or byte == 0xFF:
                words[byte] = (
                    OPENS * int(opens >> kind & 1) | INSIDE * int(inside >> kind & 1) | CLOSES * int(closes >> kind & 1)
                )
        return bytes(words)

    def character(self, b: bytes, q: i64) -> i64:
        """The class of the character at `q`, shifted by 3, and its length in bytes; at the end that of the end."""
        c: i64 = b[q]
        code: i64
        size: i64
        if c < 0x80 or c == 0xFF:
            kind: i64 = self.leads[c]
            return kind << 3 | 1
        if c < 0xE0:
            code = (c & 0x1F) << 6 | i64(b[q + 1]) & 0x3F
            size = 2
        elif c < 0xF0:
            code = (c & 0x0F) << 12 | (i64(b[q + 1]) & 0x3F) << 6 | i64(b[q + 2]) & 0x3F
            size = 3
        else:
            code = (c & 0x07) << 18 | (i64(b[q + 1]) & 0x3F) << 12 | (i64(b[q + 2]) & 0x3F) << 6 | i64(b[q + 3]) & 0x3F
            size = 4
        page: i64 = i64(read_i16_le(self._pages, code >> 6 << 1))
        kind = self._kinds[page << 6 | code & 63]
        return kind << 3 | size

    def step(self, b: bytes, q: i64, steps: bytes, members: i64) -> i64:
        """The length of the character at `q` where it is of the classes `members`, whose `steps` are given; else 0."""
        c: i64 = b[q]
        if c >> 4 == 0xE and steps[256 + ((c & 15) << 6 | i64(b[q + 1]) & 63)] != 0:
            return 3
        found: i64 = self.character(b, q)
        return found & 7 if members >> (found >> 3) & 1 == 1 else 0

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids. Raises UnicodeEncodeError on a lone surrogate."""
        b = text.encode("utf-8")
        n: i64 = len(b)
        b = b + PADDING
        out = self.out
        room: i64 = i64(len(out)) - 8 * ROOM
        memo = self.short_memo
        masks = MASKS
        mix: i64 = MIX
        count: i64 = 0
        p: i64 = 0
        while p < n:
            if count > room:
                self.make_room(2 * count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            end: i64 = self.piece_end(b, p)
            size: i64 = end - p
            if size < 8:
                key: i64 = read_i64_le(b, p) & read_i64_le(masks, size << 3) | size << LENGTH
                slot: i64 = (key * mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
                if memo[slot] == key:
                    packed: i64 = memo[slot + 1]
                    out[count] = i32(packed & ID)
                    ids: i64 = packed >> COUNT
                    if ids > 1:
                        out[count + 1] = i32(packed >> 18 & ID)
                        if ids > 2:
                            out[count + 2] = i32(packed >> 36 & ID)
                    count += ids
                else:
                    count = self._short_piece(b, p, size, key, slot, count)
            elif size < 16 and not is_wide_lead(b[p]):
                count = self._medium_piece(b, p, size, count, 0, False)
            else:
                count = self._in_parts(b, p, size, count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            p = end
        return count

    def listed(self, count: i64) -> list[object]:
        """The first ids of `out` as a list of integers, each of which is made once.

        Their type is `object`, since mypyc would take an `int` out of its object and make it anew.
        """
        integers = self._integers
        out = self.out
        ids: list[object] = [None] * int(count)
        i: i64 = 0
        while i < count:
            token: i64 = i64(out[i])
            known = integers[token]
            if known is None:
                known = int(token)
                integers[token] = known
            ids[i] = known
            i += 1
        return ids

    def make_room(self, size: i64) -> None:
        """Makes `out` hold at least so many ids and some more."""
        old = self.out
        held: i64 = len(old)
        new = vec[i32]([0] * int(size + 16 * ROOM))
        i: i64 = 0
        while i < held:
            new[i] = old[i]
            i += 1
        self.out = new

    def _segment(self, b: bytes, p: i64, size: i64, count: i64, part: i64) -> i64:
        """A piece, or a part of one to which no token reaches from outside; `part` is 0, or marks a part."""
        if size < 8:
            key: i64 = read_i64_le(b, p) & read_i64_le(MASKS, size << 3) | size << LENGTH | part
            slot: i64 = (key * self.mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
            if self.short_memo[slot] == key:
                return self._put(self.short_memo[slot + 1], 0, count)
            return self._short_piece(b, p, size, key, slot, count)
        if size < 16:
            return self._medium_piece(b, p, size, count, part, True)
        return self._remembered(b, p, size, count, part)

    def _short_piece(self, b: bytes, p: i64, size: i64, key: i64, slot: i64, count: i64) -> i64:
        """A piece of up to 7 bytes that its memo does not have at `slot`."""
        table = self._short
        memo = self.short_memo
        mask: i64 = self._short_mask
        plain: i64 = key & ~PART
        at: i64 = plain * self.mix >> 36 & mask
        while True:
            found: i64 = read_i64_le(table, (at << 4) + ALIGNED_BYTES)
            if found == plain:
                token: i64 = read_i64_le(table, (at << 4) + ALIGNED_BYTES + 8)
                if token >= WHOLE_ONLY and key != plain:
                    break
                token &= ID
                self.out[count] = i32(token)
                memo[slot] = key
                memo[slot + 1] = token | ONE_ID
                return count + 1
            if found == -1:
                break
            at = (at + 1) & mask
        count = self._merged_piece(b, p, size, key & BYTES, size << LENGTH, count)
        if self._packed != 0:
            memo[slot] = key
            memo[slot + 1] = self._packed
        return count

    def _medium_piece(self, b: bytes, p: i64, size: i64, count: i64, part: i64, cut: bool) -> i64:
        """A piece or a part of 8 to 15 bytes; `cut` says that it was cut already where that is possible."""
        low: i64 = read_i64_le(b, p)
        high: i64 = read_i64_le(b, p + 8) & read_i64_le(MASKS, size - 8 << 3) | size << LENGTH
        mixed: i64 = low * self.mix + high * self.mix_high
        marked: i64 = high | part
        memo = self._medium_memo
        slot: i64 = (mixed >> 40 & ((1 << MEDIUM_BITS) - 1)) * 4 + ALIGNED
        if memo[slot] == low and memo[slot + 1] == marked:
            return self._put(memo[slot + 2], 0, count)
        table = self._medium
        mask: i64 = self._medium_mask
        at: i64 = mixed >> 36 & mask
        while True:
            found: i64 = read_i64_le(table, (at << 5) + ALIGNED_BYTES + 8)
            if found == high and read_i64_le(table, (at << 5) + ALIGNED_BYTES) == low:
                token: i64 = read_i64_le(table, (at << 5) + ALIGNED_BYTES + 16)
                if token >= WHOLE_ONLY and part != 0:
                    break
                token &= ID
                self.out[count] = i32(token)
                memo[slot] = low
                memo[slot + 1] = marked
                memo[slot + 2] = token | ONE_ID
                return count + 1
            if found == -1:
                break
            at = (at + 1) & mask
        if not cut and b[p + size - 1] >= 0x80:
            return self._in_parts(b, p, size, count)
        count = self._merged_piece(b, p, size, low, high, count)
        if self._packed != 0:
            memo[slot] = low
            memo[slot + 1] = marked
            memo[slot + 2] = self._packed
        return count

    def _merged_piece(self, b: bytes, p: i64, size: i64, low: i64, high: i64, count: i64) -> i64:
        """A piece of up to 15 bytes that is no token. Up to 3 ids are left in `_packed`, which is 0 for more."""
        memo = self._merged_memo
        slot: i64 = (low * self.mix + high * self.mix_high >> 40 & ((1 << MERGED_BITS) - 1)) * 4 + ALIGNED
        packed: i64
        if memo[slot] == low and memo[slot + 1] == high:
            packed = memo[slot + 2]
            self._packed = packed if packed >> COUNT <= 3 else 0
            return self._put(packed, memo[slot + 3], count)
        parts: i64 = self.merge_short(b, p, size, self.parts)
        ids = self._ids
        packed = parts << COUNT
        more: i64 = 0
        i: i64 = 0
        while i < parts:
            token: i64 = i64(read_i32_le(ids, i64(self.parts[i]) << 2))
            self.out[count + i] = i32(token)
            if i < 3:
                packed |= token << 18 * i
            elif i < 6:
                more |= token << 18 * (i - 3)
            i += 1
        self._packed = packed if parts <= 3 else 0
        if parts <= 6:
            memo[slot] = low
            memo[slot + 1] = high
            memo[slot + 2] = packed
            memo[slot + 3] = more
        return count + parts

    def _put(self, packed: i64, more: i64, count: i64) -> i64:
        """Puts packed ids behind the others, those from the fourth on in `more`."""
        out = self.out
        ids: i64 = packed >> COUNT
        out[count] = i32(packed & ID)
        if ids > 1:
            out[count + 1] = i32(packed >> 18 & ID)
            if ids > 2:
                out[count + 2] = i32(packed >> 36 & ID)
                if ids > 3:
                    out[count + 3] = i32(more & ID)
                    if ids > 4:
                        out[count + 4] = i32(more >> 18 & ID)
                        if ids > 5:
                            out[count + 5] = i32(more >> 36 & ID)
        return count + ids

    def _in_parts(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A piece of 8 bytes or more, cut between characters of three bytes where no token holds both.

        So no merge ever reaches across, and each part has the ids that it has by itself.
        """
        if count + size + 4 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + size + 4 * ROOM)
        out = self.out
        crossings = self._crossings
        characters = self._characters
        end: i64 = p + size
        start: i64 = p
        before: i64 = 0
        part: i64 = 0
        while p < end:
            c: i64 = b[p]
            if not is_wide_lead(c):
                before = 0
                p += 1
                continue
            here: i64 = i64(read_i32_le(b, p)) & 0xFFFFFF
            if before != 0:
                mixed: i64 = crossing_of(before, here)
                parts: i64 = crossings[PARTS_CROSS + (before >> 12 & 0x3F0 | c & 15)]
                if crossings[mixed >> 3] >> (mixed & 7) & 1 == 0 and (
                    parts == 0 or not self._part_crosses(before >> 16, here, parts)
                ):
                    part = self._part
                    token: i64 = -1
                    if p - start == 3:
                        token = i64(read_i32_le(characters, place_of(before)))
                    if token >= 0:
                        out[count] = i32(token)
                        count += 1
                    else:
                        count = self._segment(b, start, p - start, count, part)
                    start = p
            before = here
            p += 3
        if end - start == 3 and before != 0:
            token = i64(read_i32_le(characters, place_of(before)))
            if token >= 0:
                out[count] = i32(token)
                return count + 1
        return self._segment(b, start, end - start, count, part)

    def _part_crosses(self, last: i64, here: i64, parts: i64) -> bool:
        """Whether a token begins with the last byte of a character and holds the next, or two bytes of it.

        `parts` tells that one begins with the byte and the first of the next: with these, or with these alone.
        """
        if parts == ALONE:
            return True
        crossings = self._crossings
        whole: i64 = crossing_of(last, here)
        begun: i64 = crossing_of(last, here & 0xFFFF)
        return (crossings[whole >> 3] >> (whole & 7) | crossings[begun >> 3] >> (begun & 7)) & 1 != 0

    def _remembered(self, b: bytes, p: i64, size: i64, count: i64, part: i64) -> i64:
        """A piece or part of 16 bytes or more, from its memo where it is there."""
        if size > LONGEST_KEPT:
            token: i64 = self._whole(b, p, size, part)
            if token >= 0:
                self.out[count] = i32(token)
                return count + 1
            return self._merged_long(b, p, size, count)
        key = b[p : p + size]
        if part != 0:
            key += b"\xff"  # which no text holds
        known = self._long_memo.get(key)
        i: i64 = 0
        if known is not None:
            out = self.out
            known_size: i64 = len(known)
            while i < known_size:
                out[count] = read_i32_le(known, i)
                count += 1
                i += 4
            return count
        first: i64 = count
        token = self._whole(b, p, size, part)
        if token >= 0:
            self.out[count] = i32(token)
            count += 1
        else:
            count = self._merged_long(b, p, size, count)
        if len(self._long_memo) >= LONG_ENTRIES:
            self._long_memo = {}
        self._long_memo[key] = memoryview(self.out)[int(first) : int(count)].tobytes()
        return count

    def _merged_long(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A piece of any length that is no token."""
        parts: i64 = self.merge(b, p, size)
        if count + parts + 4 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + parts + 4 * ROOM)
        out = self.out
        ids = self._ids
        merged = self.parts
        i: i64 = 0
        while i < parts:
            out[count] = read_i32_le(ids, i64(merged[i]) << 2)
            count += 1
            i += 1
        return count

    def _whole(self, b: bytes, p: i64, size: i64, part: i64) -> i64:
        """The id of the token of 16 bytes or more that a piece or a part of one is, or -1."""
        mixed: i64 = hash_of(b, p, size)
        mask: i64 = self._long_mask
        bounds = self._bounds
        joined = self._joined
        at: i64 = mixed >> 20 & mask
        while True:
            entry: i64 = i64(read_i32_le(self._long, at << 2))
            if entry < 0:
                return -1
            token: i64 = entry & ID
            start: i64 = i64(read_i32_le(bounds, token << 2))
            if i64(read_i32_le(bounds, (token << 2) + 4)) - start == size and are_equal(b, p, joined, start, size):
                return -1 if entry >= WHOLE_ONLY and part != 0 else token
            at = (at + 1) & mask


def is_wide_lead(byte: i64) -> bool:
    """Whether it begins a character of three bytes."""
    return byte >> 4 == 0xE


def place_of(character: i64) -> i64:
    """Where the id of such a character stands, whose first byte is in the lowest place."""
    return ((character & 15) << 12 | (character >> 8 & 63) << 6 | character >> 16 & 63) << 2


def crossing_of(before: i64, here: i64) -> i64:
    """The bit for two characters of three bytes, the first byte of each in the lowest place."""
    return (before * 0x9E3779B1 ^ here * 0x85EBCA77) >> 8 & ((1 << CROSSING_BITS) - 1)


def hash_of(b: bytes, p: i64, size: i64) -> i64:
    """A hash of `b[p : p + size]`, behind which `b` has 8 bytes more."""
    mix: i64 = MIX
    mixed: i64 = size
    while size >= 8:
        mixed = (mixed ^ read_i64_le(b, p)) * mix
        mixed ^= mixed >> 32
        p += 8
        size -= 8
    mixed = (mixed ^ read_i64_le(b, p) & read_i64_le(MASKS, size << 3)) * mix
    return mixed ^ mixed >> 32
