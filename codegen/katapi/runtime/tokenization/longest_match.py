"""Segmentation by the longest token that fits, from left to right (chapter 1, section 1.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


class LongestMatch:
    """At each place takes the longest token that the text goes on with, else `unknown` for one character (code point).

    `tokens` gives the text of each token by id, no two alike and none empty. `unknown` need not be among them; its
    spelling is never matched. Time is linear in the length of the text, times the number of token lengths that share a
    first character.
    """

    def __init__(self, tokens: Mapping[int, str], *, unknown: int) -> None:
        self._ids = {text: token for token, text in tokens.items() if token != unknown}
        self._unknown = unknown
        lengths: dict[str, set[int]] = {}
        for text in self._ids:
            lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        self._widths = {token: len(text.encode()) for text, token in self._ids.items()}

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece."""
        ids: list[int] = []
        position = 0
        while position < len(piece):
            token, length = self._longest(piece, position)
            ids.append(token)
            position += length
        return tuple(ids)

    def widths(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """The length of each token in bytes; an unknown character is as wide as it is in `text`."""
        data = text.encode()
        widths: list[int] = []
        position = 0
        for token in ids:
            width = _character_width(data, position) if token == self._unknown else self._widths[token]
            widths.append(width)
            position += width
        return np.array(widths, dtype=np.int64)

    def _longest(self, piece: str, position: int) -> tuple[int, int]:
        for length in self._lengths.get(piece[position], ()):
            token = self._ids.get(piece[position : position + length])
            if token is not None:
                return token, length
        return self._unknown, 1


def _character_width(data: bytes, position: int) -> int:
    """How many bytes the character takes that begins at `position` in UTF-8."""
    lead = data[position]
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
