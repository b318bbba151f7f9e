"""Segmentation by the longest token that fits, from left to right."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.runtime.tokenization.lexicon import Lexicon


class LongestMatch:
    """At each place takes the longest token that the text goes on with, else `unknown` for one character (code point).

    `tokens` gives the text of each token by id, no two alike and none empty. `unknown` need not be among them; its
    spelling is never matched. Time is linear in the length of the text, times the number of token lengths that share
    their first two characters.
    """

    def __init__(self, tokens: Mapping[int, str], *, unknown: int) -> None:
        self._lexicon = Lexicon({text: token for token, text in tokens.items() if token != unknown})
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
