"""Cutting text into words by the classes of single characters, each word from a memo or as a vocabulary segments it.

For mypyc. Between words stands what is left out; some characters are words by themselves. Where words are marked, each
begins with a mark that is not in the text, and a mark in the text begins a word, which may be empty but for it.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.encoder import (
    ALIGNED,
    COUNT,
    ID,
    LENGTH,
    PADDING,
    ROOM,
    SHORT_BITS,
)
from katapi.runtime.native.merging import MASKS, MIX
from katapi.runtime.native.word_memo import WordMemoEncoder

WORD: Final = 0
"""The class of characters of words."""
GAP: Final = 1
"""Of those that are left out between words."""
MARK: Final = 2
"""Of those that are written as a mark, with which a word begins."""
ALONE: Final = 3
"""Of those that are words by themselves."""


class WordEncoder(WordMemoEncoder):
    """Encodes texts; the ids of the last one are left in `out`. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.word_tables` derives them."""
        super().__init__(tables)
        self._steps = self.steps(1 << WORD) if self.leads else b""  # none where text is one word

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids. Raises UnicodeEncodeError on a lone surrogate."""
        b = text.encode("utf-8")
        n: i64 = len(b)
        b = b + PADDING
        out = self.out
        room: i64 = i64(len(out)) - 8 * ROOM
        memo = self.short_memo
        masks = MASKS
        steps = self._steps
        mix: i64 = MIX
        count: i64 = 0
        p: i64 = 0
        while p < n:
            q: i64 = p
            step: i64 = steps[b[p]]
            if step == 0:
                found: i64 = self.character(b, p)
                q += found & 7
                kind: i64 = found >> 3
                if kind == GAP:
                    p = q
                    continue
                if kind == MARK:
                    p = q
                    kind = WORD
                if kind == WORD:
                    q = self._word_end(b, q, steps)
            else:
                q += step
                step = steps[b[q]]
                while step != 0:
                    q += step
                    step = steps[b[q]]
                if b[q] >= 0x80 and q < n:
                    q = self._word_end(b, q, steps)
            if count > room:
                self.make_room(2 * count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            size: i64 = q - p
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
                    count = self._short_word(b, p, size, key, slot, count)
            elif size < 16:
                count = self._medium_word(b, p, size, count)
            else:
                count = self._in_parts(b, p, size, count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            p = q
        return count

    def _in_parts(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A word of 16 bytes or more."""
        if count + 4 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + 4 * ROOM)
        return self._segment(b, p, size, count)

    def _word_end(self, b: bytes, q: i64, steps: bytes) -> i64:
        """Where the characters of a word end, from `q` on."""
        while True:
            step: i64 = steps[b[q]]
            if step == 0:
                found: i64 = self.character(b, q)
                if found >> 3 != WORD:
                    return q
                step = found & 7
            q += step

    def merge(self, b: bytes, p: i64, size: i64) -> i64:
        """Segments the word `b[p : p + size]` into `parts`, and gives their number."""
        if 3 * size + 8 > i64(len(self.parts)):
            self.parts = vec[i32]([0] * int(4 * size + 8))
        return self.merge_short(b, p, size, self.parts)
