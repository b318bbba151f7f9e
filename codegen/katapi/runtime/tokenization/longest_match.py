"""Segmentation by the longest token that fits, from left to right: that of the chapter's fixture (section 1.6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from katapi.runtime.tokenization.lexicon import Lexicon
from katapi.runtime.tokenization.tokens import Texts


class LongestMatch:
    """At each place takes the longest token that the text goes on with, else `unknown` for one character (code point).

    `tokens` gives the text of each token by id, no two alike and none empty. `unknown` need not be among them; its
    spelling is never matched. Time is linear in the length of the text, times the number of token lengths that share
    their first two characters.
    """

    def __init__(self, tokens: Mapping[int, str], *, unknown: int) -> None:
        known = {token: text for token, text in tokens.items() if token != unknown}
        ids = np.array([*known], dtype=np.int64)
        self._lexicon = Lexicon(Texts.of(known.values()), np.arange(len(known)), ids=ids)
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
