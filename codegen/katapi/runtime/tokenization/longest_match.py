"""Segmentation by the longest token that fits, from left to right: that of the chapter's fixture (section 1.6)."""

from __future__ import annotations

from katapi.runtime.tokenization.lexicon import Lexicon
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


class LongestMatch:
    """At each place takes the longest token that the text goes on with, else `unknown` for one character (code point).

    Of a vocabulary the tokens count that text can yield, but for `unknown`: its spelling is never matched. Time is
    linear in the length of the text, times the number of token lengths that share their first two characters.
    """

    def __init__(self, data: VocabularyData, *, unknown: int) -> None:
        self._lexicon = Lexicon.of(data.hiding({unknown}))
        self._unknown = unknown

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece."""
        return tuple([token for token, _, _ in self.segment_ranges(piece)])

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that it takes."""
        tokens: list[tuple[int, int, int]] = []
        position = 0
        while position < len(piece):
            token, length = self._lexicon.longest(piece, position) or (self._unknown, 1)
            tokens.append((token, position, position + length))
            position += length
        return tokens
