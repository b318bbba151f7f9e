"""The unigram language model: of all segmentations of a word the one of the highest score (Kudo 2018). For mypyc.

Scores are added from the left in binary64, and of two segmentations with the same sum the one found first stays: by the
place where its last token begins, from the left. With `single`, each sum is rounded to binary32.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_f64_le, read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.character_pairs import SPACE, width_of
from katapi.runtime.native.encoder import PADDING
from katapi.runtime.native.words import WordEncoder

_NODE: Final = 0x1FFFFF  # a node of the trie in 21 bits
_NO_NODE: Final = -1
_SINGLE_ULPS: Final = 805306368.0  # 1.5 * 2**29: how many of a binary32's last place the highest bit of a binary64 is
_LEAST_SINGLE: Final = 2.0**-126
NO_SCORE: Final = -1.0e300
"""Lower than any sum."""


class UnigramEncoder(WordEncoder):
    """Encodes texts; the ids of the last one are left in `out`. Not to be shared between threads."""

    def __init__(
        self, tables: dict[str, bytes], unknown: i64, unknown_score: float, marked: bool, single: bool
    ) -> None:
        """`tables` as `katapi.runtime.native.word_tables` derives them; `marked` words begin with a mark."""
        super().__init__(tables)
        self.tables = tables
        self._unknown: i64 = unknown
        self._unknown_score = unknown_score
        self._single = single
        self._marked = marked
        self._scores = tables["scores"]
        self._byte_tokens = tables["byte_tokens"]
        child: i64 = (read_i64_le(self.trie, 0) >> 21 & _NODE) + SPACE
        is_child = read_i64_le(self.trie, child << 3) & _NODE == 0
        self._mark_node: i64 = child if marked and is_child else _NO_NODE
        root: i64 = read_i64_le(self.trie, 0) >> 21 & _NODE
        leads = bytearray(256)
        for byte in range(256):
            leads[byte] = 1 if read_i64_le(self.trie, root + byte << 3) & _NODE == 0 else 0
        self._leads = bytes(leads)  # whether a token begins with a byte
        self.totals = vec[float]([0.0] * 64)
        """The best score up to each place."""
        self.seconds = vec[float]([0.0] * 64)
        """The best but one."""
        self.begins = vec[i32]([-1] * 64)
        """Where the last token of the best segmentation up to each place begins."""
        self.lasts = vec[i32]([-1] * 64)
        """And which it is."""
        self.ends = vec[i32]([-1] * 64)
        """Where the tokens of the best one end, from the last to the first."""
        self._power = _LEAST_SINGLE

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids; one without marks is one word. Raises as `WordEncoder` does."""
        if self._marked:
            return super().encode(text)
        b = text.encode("utf-8")
        count: i64 = self.merge(b + PADDING, 0, len(b))
        self.leave_in(self.parts)
        return count

    def merge_short(self, b: bytes, p: i64, size: i64, parts: vec[i32]) -> i64:
        """Finds the best segmentation; its ids come into `parts`."""
        marks: i64 = 1 if self._marked else 0
        last: i64 = self.find(b, p, size, marks, 0.0, self._single)
        return self.path(b, p - marks, last, parts)

    def find(self, b: bytes, p: i64, size: i64, marks: i64, start: float, single: bool) -> i64:
        """Finds the best segmentation of `b[p : p + size]` behind a text that scores `start`, and gives its last place.

        Places count bytes, and one of the `marks`, which are not in the text, as one. What is found stays in `totals`
        and for `path`; `seconds` has the best score but one, which nothing rounds unless `single` does.
        """
        trie = self.trie
        scores = self._scores
        last: i64 = size + marks
        if last >= i64(len(self.begins)):
            self.totals = vec[float]([0.0] * int(2 * last + 2))
            self.seconds = vec[float]([0.0] * int(2 * last + 2))
            self.begins = vec[i32]([-1] * int(2 * last + 2))
            self.lasts = vec[i32]([-1] * int(2 * last + 2))
            self.ends = vec[i32]([-1] * int(2 * last + 2))
        totals, seconds, begins, lasts = self.totals, self.seconds, self.begins, self.lasts
        unknown: i64 = self._unknown
        unknown_score = self._unknown_score
        root: i64 = read_i64_le(trie, 0) >> 21 & _NODE
        leads = self._leads
        place: i64 = 0
        while place <= last:
            begins[place] = -1
            place += 1
        totals[0] = start
        seconds[0] = NO_SCORE
        end: i64 = p + size
        q: i64 = p - marks  # where in the text the place is
        place = 0
        while place < last:
            total = totals[place]
            second = seconds[place]
            here: i64 = q
            node: i64
            entry: i64
            token: i64
            score: float
            behind: i64
            width: i64
            if place < marks:
                width = 1
                node = self._mark_node
                entry = 0
                here += 1
                if node == _NO_NODE:
                    here = end  # no token begins with a mark
                    node = 0
                else:
                    entry = read_i64_le(trie, node << 3)
            else:
                width = width_of(b, q)
                node = 0
                entry = root << 21
            alone = False  # whether the character is a token
            if place < marks and entry >> 42 != 0:
                token = (entry >> 42) - 1
                alone = True
                score = read_f64_le(scores, token << 3) + total
                totals[1] = self.single_of(score) if single else score
                seconds[1] = NO_SCORE
                begins[1] = 0
                lasts[1] = i32(token)
            while here < end:
                child: i64 = (entry >> 21 & _NODE) + i64(b[here])
                entry = read_i64_le(trie, child << 3)
                if entry & _NODE != node:
                    break
                node = child
                here += 1
                if entry >> 42 != 0:
                    token = (entry >> 42) - 1
                    behind = here - p + marks
                    if behind == place + width:
                        alone = True
                    score = read_f64_le(scores, token << 3) + total
                    if single:
                        score = self.single_of(score)
                    if begins[behind] < 0 or score > totals[behind]:
                        following = read_f64_le(scores, token << 3) + second
                        if begins[behind] >= 0 and totals[behind] > following:
                            following = totals[behind]
                        seconds[behind] = following
                        totals[behind] = score
                        begins[behind] = i32(place)
                        lasts[behind] = i32(token)
                    elif score > seconds[behind]:
                        seconds[behind] = score
            if not alone:
                score = unknown_score + total
                if single:
                    score = self.single_of(score)
                second += unknown_score
                behind = place + width
                # Where no token ends and none begins, the next character is unknown too: as they become one token in
                # the end, they are one here.
                while begins[behind] < 0 and behind < last and leads[b[p - marks + behind]] == 0:
                    score = unknown_score + score
                    if single:
                        score = self.single_of(score)
                    second += unknown_score
                    behind += width_of(b, p - marks + behind)
                width = behind - place
                if begins[behind] < 0 or score > totals[behind]:
                    if begins[behind] >= 0 and totals[behind] > second:
                        second = totals[behind]
                    seconds[behind] = second
                    totals[behind] = score
                    begins[behind] = i32(place)
                    lasts[behind] = i32(unknown)
                elif score > seconds[behind]:
                    seconds[behind] = score
            place += width
            q += width
        return last

    def path(self, b: bytes, start: i64, last: i64, parts: vec[i32]) -> i64:
        """The ids of the best segmentation; neighbours that are unknown become one token, or what they are spelled in.

        The byte of the place 0 is that at `start`, which is a mark's where words are marked.
        """
        begins, lasts, ends = self.begins, self.lasts, self.ends
        unknown: i64 = self._unknown
        tokens: i64 = 0
        place: i64 = last
        while place > 0:
            ends[tokens] = i32(place)
            tokens += 1
            place = i64(begins[place])
        count: i64 = 0
        begin: i64 = 0
        tokens -= 1
        while tokens >= 0:
            end: i64 = i64(ends[tokens])
            token: i64 = i64(lasts[end])
            if token == unknown:
                while tokens > 0 and i64(lasts[i64(ends[tokens - 1])]) == unknown:
                    tokens -= 1
                end = i64(ends[tokens])
                count = self._spelled(b, start, begin, end, parts, count)
            else:
                parts[count] = i32(token)
                count += 1
            begin = end
            tokens -= 1
        return count

    def _spelled(self, b: bytes, start: i64, begin: i64, end: i64, parts: vec[i32], count: i64) -> i64:
        """Characters that were unknown one by one as the token of them all, or as their bytes, or as unknown."""
        whole: i64 = self._whole_token(b, start, begin, end)
        if whole >= 0:
            parts[count] = i32(whole)
            return count + 1
        first: i64 = count
        byte_tokens = self._byte_tokens
        place: i64 = begin
        while place < end:
            byte: i64 = SPACE if place == 0 and self._marked else i64(b[start + place])
            left: i64 = 1
            if byte == SPACE:
                byte = 0xE2  # the first of the bytes of the mark
                left = 3
            while left > 0:
                token: i64 = i64(read_i32_le(byte_tokens, byte << 2))
                if token < 0:
                    parts[first] = i32(self._unknown)
                    return first + 1
                parts[count] = i32(token)
                count += 1
                left -= 1
                byte = 0x96 if left == 2 else 0x81
            place += 1
        return count

    def _whole_token(self, b: bytes, start: i64, begin: i64, end: i64) -> i64:
        """The token of some characters, or -1."""
        trie = self.trie
        node: i64 = 0
        entry: i64 = read_i64_le(trie, 0)
        place: i64 = begin
        while place < end:
            byte: i64 = SPACE if place == 0 and self._marked else i64(b[start + place])
            child: i64 = (entry >> 21 & _NODE) + byte
            entry = read_i64_le(trie, child << 3)
            if entry & _NODE != node:
                return -1
            node = child
            place += 1
        return (entry >> 42) - 1

    def single_of(self, value: float) -> float:
        """The nearest value of binary32, for a value that is not beyond its range."""
        size = -value if value < 0.0 else value
        power = self._power  # of two, at most the size: that of the last value, which is seldom far
        if power > size or power * 2.0 <= size:
            while power > size and power > _LEAST_SINGLE:
                power = power * 0.5
            while power * 2.0 <= size:
                power = power * 2.0
            self._power = power
        shift = power * _SINGLE_ULPS
        return value + shift - shift
