"""Tokens by their text, and how long the tokens can be that a text goes on with.

A vocabulary has up to a quarter of a million tokens, of which a text meets few: they stay in one piece, sorted by their
first two characters, and become a dictionary where a text first goes on with these two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.tokens import Texts
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_BITS = 22  # of a code point, and of what says that there is none


class Row(NamedTuple):
    """The tokens that a text can go on with at a place: `lengths` in characters, ascending, and `ids` by text."""

    lengths: tuple[int, ...]
    ids: Mapping[str, int]


_NOTHING = Row((), {})


class Lexicon:
    """Finds the tokens that stand at a place of a text. Safe to share between threads.

    `chosen` are places in `texts`, int64 of shape [n], and `ids` the ids of those texts, of the same shape, where they
    are others than the places. Of each text the first `skipped` characters do not count; an empty one is never found,
    and of two alike the later is.
    """

    def __init__(
        self, texts: Texts, chosen: NDArray[np.int64], *, ids: NDArray[np.int64] | None = None, skipped: int = 0
    ) -> None:
        lengths = texts.lengths()[chosen] - skipped
        full = lengths > 0
        chosen, lengths = chosen[full], lengths[full]
        starts = texts.bounds[chosen] + skipped
        codes = texts.codes()
        keys = codes[starts].astype(np.int64)
        keys <<= _BITS
        keys += np.where(lengths > 1, codes.take(starts + 1, mode="clip") + 1, 0)
        del codes
        order = np.argsort(keys, kind="stable")
        distinct, begins = np.unique(keys[order], return_index=True)
        self._text = texts.joined
        self._starts, self._ends = starts[order], starts[order] + lengths[order]
        self._ids = (chosen if ids is None else ids[full])[order].astype(np.int32)
        self._begins = np.append(begins, len(order)).data
        self._places = dict(zip(_first_two(distinct), range(len(distinct)), strict=True))
        self._rows: dict[str, Row] = {}

    @classmethod
    def of(cls, data: VocabularyData) -> Lexicon:
        """The tokens that text can yield."""
        return cls(data.tokens.texts(), np.flatnonzero(data.is_reachable()))

    def row(self, text: str, position: int) -> Row:
        """The tokens that `text` may go on with at `position`; some may reach past its end."""
        return self._rows.get(text[position : position + 2]) or self._fill(text[position : position + 2])

    def get(self, text: str) -> int | None:
        """The id of a text, if it is a token."""
        return self.row(text, 0).ids.get(text)

    def longest(self, text: str, position: int) -> tuple[int, int] | None:
        """The id and the length in characters of the longest token that `text` goes on with, if there is any."""
        row = self.row(text, position)
        for length in reversed(row.lengths):
            token = row.ids.get(text[position : position + length])
            if token is not None and position + length <= len(text):
                return token, length
        return None

    def _fill(self, start: str) -> Row:
        """The row of two characters, or of the last one of a text; kept only where there are tokens."""
        place = self._places.get(start)
        if place is None:
            return self.row(start[0], 0) if len(start) > 1 else _NOTHING
        chosen = slice(self._begins[place], self._begins[place + 1])
        ends = zip(self._starts[chosen].tolist(), self._ends[chosen].tolist(), strict=True)
        ids = dict(zip([self._text[begin:end] for begin, end in ends], self._ids[chosen].tolist(), strict=True))
        if len(start) > 1:
            ids |= self.row(start[0], 0).ids
        row = self._rows[start] = Row(tuple(sorted({*map(len, ids)})), ids)
        return row


def _first_two(keys: NDArray[np.int64]) -> list[str]:
    """The first two characters that each key stands for, or the only one."""
    firsts = (keys >> _BITS).astype("<u4").tobytes().decode("utf-32-le")
    seconds = (keys & (1 << _BITS) - 1).tolist()
    return [first + chr(second - 1) if second else first for first, second in zip(firsts, seconds, strict=True)]
