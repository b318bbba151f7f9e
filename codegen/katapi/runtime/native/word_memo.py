"""A memo of words with all their ids, for vocabularies whose words are seldom one token. For mypyc.

A word of 8 to 15 bytes fills one line of the cache: two numbers of its bytes and its length, and up to 15 ids, three to
a number, with their count above the first three. Each place has two lines: a new word takes the first, the word there
moves to the second, and what was there goes. The memo grows with the number of words that were new.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.byte_pairs import ALIGNED, ALIGNED_BYTES, COUNT, ID, LENGTH, BytePairEncoder
from katapi.runtime.native.merging import MASKS

FIRST_PLACES: Final = 1 << 11
MOST_PLACES: Final = 1 << 15
LINE: Final = 8  # numbers
MOST_KEPT: Final = 15  # ids


class WordMemoEncoder(BytePairEncoder):
    """Encodes texts, with a memo of words of medium length. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `BytePairEncoder` takes them."""
        super().__init__(tables)
        self._places: i64 = FIRST_PLACES
        self._words = vec[i64]([-1] * (2 * LINE * FIRST_PLACES + LINE))
        self._new_words: i64 = 0

    def _medium_piece(self, b: bytes, p: i64, size: i64, count: i64, part: i64, cut: bool) -> i64:
        """A piece or a part of 8 to 15 bytes."""
        low: i64 = read_i64_le(b, p)
        high: i64 = read_i64_le(b, p + 8) & read_i64_le(MASKS, size - 8 << 3) | size << LENGTH
        mixed: i64 = low * self.mix + high * self.mix_high
        words = self._words
        at: i64 = (mixed >> 40 & (self._places - 1)) * (2 * LINE) + ALIGNED
        if words[at] != low or words[at + 1] != high:
            if words[at + LINE] != low or words[at + LINE + 1] != high:
                return self._new_word(b, p, size, count, at)
            at += LINE
        out = self.out
        packed: i64 = words[at + 2]
        left: i64 = packed >> COUNT
        at += 2
        while True:
            out[count] = i32(packed & ID)
            if left < 2:
                return count + 1
            out[count + 1] = i32(packed >> 18 & ID)
            if left < 3:
                return count + 2
            out[count + 2] = i32(packed >> 36 & ID)
            count += 3
            left -= 3
            if left == 0:
                return count
            at += 1
            packed = words[at]

    def _new_word(self, b: bytes, p: i64, size: i64, count: i64, at: i64) -> i64:
        """A piece of 8 to 15 bytes that the memo does not have at `at`."""
        low: i64 = read_i64_le(b, p)
        high: i64 = read_i64_le(b, p + 8) & read_i64_le(MASKS, size - 8 << 3) | size << LENGTH
        out = self.out
        parts: i64 = 1
        token: i64 = self._whole_word(low, high)
        if token >= 0:
            out[count] = i32(token)
        else:
            parts = self.merge_short(b, p, size, self.parts)
            ids = self._ids
            merged = self.parts
            i: i64 = 0
            while i < parts:
                out[count + i] = read_i32_le(ids, i64(merged[i]) << 2)
                i += 1
        if parts <= MOST_KEPT:
            self._keep(low, high, count, parts, at)
        return count + parts

    def _keep(self, low: i64, high: i64, first: i64, count: i64, at: i64) -> None:
        """Takes a word into the memo, whose ids stand in `out` from `first` on."""
        words = self._words
        out = self.out
        i: i64 = 0
        while i < LINE:
            words[at + LINE + i] = words[at + i]
            i += 1
        words[at] = low
        words[at + 1] = high
        at += 2
        packed: i64 = count << COUNT
        shift: i64 = 0
        i = 0
        while i < count:
            packed |= i64(out[first + i]) << shift
            shift += 18
            i += 1
            if shift == COUNT or i == count:
                words[at] = packed
                at += 1
                packed = 0
                shift = 0
        self._new_words += 1
        if 4 * self._new_words > self._places and self._places < MOST_PLACES:
            self._places *= 4
            self._words = vec[i64]([-1] * int(2 * LINE * self._places + LINE))
            self._new_words = 0

    def _whole_word(self, low: i64, high: i64) -> i64:
        """The id of the token of 8 to 15 bytes that a piece is, or -1."""
        table = self._medium
        mask: i64 = self._medium_mask
        at: i64 = low * self.mix + high * self.mix_high >> 36 & mask
        while True:
            found: i64 = read_i64_le(table, (at << 5) + ALIGNED_BYTES + 8)
            if found == high and read_i64_le(table, (at << 5) + ALIGNED_BYTES) == low:
                return read_i64_le(table, (at << 5) + ALIGNED_BYTES + 16) & ID
            if found == -1:
                return -1
            at = (at + 1) & mask
