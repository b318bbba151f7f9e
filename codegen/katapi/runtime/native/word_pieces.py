"""WordPiece: a word is cut greedily into the longest tokens, or it is unknown as a whole (Devlin et al. 2019).

For mypyc.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.words import WordEncoder

_NODE: Final = 0x1FFFFF  # a node of the trie in 21 bits
_PLACE: Final = 0xFFFFFFFF


class WordPieceEncoder(WordEncoder):
    """Encodes texts; the ids of the last one are left in `out`. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes], unknown: i64, longest_word: i64) -> None:
        """`tables` as `katapi.runtime.native.word_tables` derives them; `longest_word` counts characters."""
        super().__init__(tables)
        self._unknown: i64 = unknown
        self._longest_word: i64 = longest_word
        self._continuing = tables["continuing"] or self.trie

    def merge_short(self, b: bytes, p: i64, size: i64, parts: vec[i32]) -> i64:
        """Takes the longest token at each place; the ids come into `parts`."""
        end: i64 = p + size
        characters: i64 = 0
        q: i64 = p
        while q < end:
            if i64(b[q]) & 0xC0 != 0x80:
                characters += 1
            q += 1
        if characters > self._longest_word:
            parts[0] = i32(self._unknown)
            return 1
        trie = self.trie
        count: i64 = 0
        while p < end:
            found: i64 = longest_in(trie, b, p, end)
            if found < 0:
                parts[0] = i32(self._unknown)
                return 1
            parts[count] = i32(found >> 32)
            count += 1
            p = found & _PLACE
            trie = self._continuing
        return count


def longest_in(trie: bytes, b: bytes, p: i64, end: i64) -> i64:
    """The longest token of a trie that stands at `p`, and in the lower half where it ends; -1 where there is none."""
    node: i64 = 0
    entry: i64 = read_i64_le(trie, 0)
    found: i64 = -1
    while p < end:
        child: i64 = (entry >> 21 & _NODE) + i64(b[p])
        entry = read_i64_le(trie, child << 3)
        if entry & _NODE != node:
            return found
        node = child
        p += 1
        if entry >> 42 != 0:
            found = (entry >> 42) - 1 << 32 | p
    return found
