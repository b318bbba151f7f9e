"""A memo of words with all their ids, for vocabularies whose words are seldom one token. For mypyc.

A word of up to 15 bytes fills one line of the cache: two numbers of its bytes and its length, and up to 15 ids, three
to a number, with their count above the first three. Each place has two lines: a new word takes the first, the word
there moves to the second, and what was there goes. The memo grows with the number of words that were new. Words of up
to 7 bytes that are at most three ids have a memo before it.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.encoder import (
    ALIGNED,
    ALIGNED_BYTES,
    BYTES,
    COUNT,
    ID,
    LENGTH,
    SHORT_BITS,
    Encoder,
)
from katapi.runtime.native.merging import MASKS

FIRST_PLACES: Final = 1 << 11
MOST_PLACES: Final = 1 << 15
LINE: Final = 8  # numbers
MOST_KEPT: Final = 15  # ids


class WordMemoEncoder(Encoder):
    """Encodes texts word by word. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `Encoder` takes them."""
        super().__init__(tables)
        self._places: i64 = FIRST_PLACES
        self._words = vec[i64]([-1] * (2 * LINE * FIRST_PLACES + LINE))
        self._new_words: i64 = 0

    def _segment(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A word of any length, or a part of one to which no token reaches from outside."""
        if size >= 16:
            return self._remembered(b, p, size, count)
        if size >= 8:
            return self._medium_word(b, p, size, count)
        key: i64 = read_i64_le(b, p) & read_i64_le(MASKS, size << 3) | size << LENGTH
        slot: i64 = (key * self.mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
        if self.short_memo[slot] != key:
            return self._short_word(b, p, size, key, slot, count)
        return self._put(self.short_memo[slot + 1], 0, count)

    def _short_word(self, b: bytes, p: i64, size: i64, key: i64, slot: i64, count: i64) -> i64:
        """A word of up to 7 bytes that its memo does not have at `slot`."""
        behind: i64
        token: i64 = self._short_token(key)
        if token >= 0:
            self.out[count] = i32(token)
            behind = count + 1
        else:
            behind = self._word(b, p, size, key & BYTES, size << LENGTH, count)
        ids: i64 = behind - count
        if ids <= 3:
            out = self.out
            packed: i64 = ids << COUNT
            i: i64 = 0
            while i < ids:
                packed |= i64(out[count + i]) << 18 * i
                i += 1
            self.short_memo[slot] = key
            self.short_memo[slot + 1] = packed
        return behind

    def _medium_word(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A word of 8 to 15 bytes."""
        high: i64 = read_i64_le(b, p + 8) & read_i64_le(MASKS, size - 8 << 3) | size << LENGTH
        return self._word(b, p, size, read_i64_le(b, p), high, count)

    def _word(self, b: bytes, p: i64, size: i64, low: i64, high: i64, count: i64) -> i64:
        """A word of up to 15 bytes, which are `low` and `high` with its length, from the memo where it is there."""
        mixed: i64 = low * self.mix + high * self.mix_high
        words = self._words
        at: i64 = (mixed >> 40 & (self._places - 1)) * (2 * LINE) + ALIGNED
        if words[at] != low or words[at + 1] != high:
            if words[at + LINE] != low or words[at + LINE + 1] != high:
                return self._new_word(b, p, size, low, high, count, at)
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

    def _new_word(self, b: bytes, p: i64, size: i64, low: i64, high: i64, count: i64, at: i64) -> i64:
        """The same of a word that the memo does not have at `at`."""
        out = self.out
        parts: i64 = 1
        token: i64 = self._medium_token(low, high)
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

    def _short_token(self, key: i64) -> i64:
        """The id of the token of up to 7 bytes that a word is, or -1."""
        table = self._short
        mask: i64 = self._short_mask
        at: i64 = key * self.mix >> 36 & mask
        while True:
            found: i64 = read_i64_le(table, (at << 4) + ALIGNED_BYTES)
            if found == key:
                return read_i64_le(table, (at << 4) + ALIGNED_BYTES + 8) & ID
            if found == -1:
                return -1
            at = (at + 1) & mask

    def _medium_token(self, low: i64, high: i64) -> i64:
        """The id of the token of 8 to 15 bytes that a word is, or -1."""
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
