"""The ranks of tokens by their bytes, for a text of a few words without making a dictionary of all of them.

A vocabulary has hundreds of thousands of tokens, and a dictionary of them takes longer to make than everything else
that a tokenizer needs. So the first questions are answered from the tokens that begin with the same two bytes, each
such row becoming a small dictionary when it is first asked for; after some rows the whole dictionary is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_ROWS = 256  # after so many rows a text is long enough for the whole dictionary to be worth its making


Getter: TypeAlias = Callable[[bytes, int], int]
"""`getter(token, default)` is the id of a token, or `default`."""


class RankIndex:
    """Finds the id of a token that text can yield. Safe to share between threads."""

    def __init__(self, data: VocabularyData) -> None:
        tokens, reachable = data.tokens, data.is_reachable()
        starts = tokens.bounds[:-1]
        letters = np.frombuffer(tokens.joined or b"\0", dtype=np.uint8)
        # A token of one byte stands among those that begin with it and with whatever comes next: nobody asks there.
        last = len(letters) - 1
        keys = letters[np.minimum(starts, last)].astype(np.uint16)
        keys <<= 8
        keys |= letters[np.minimum(starts + 1, last)]
        self._data = data
        # Each of these makes numbers of 64 bits out of its input, so they come one after the other.
        self._ends = np.cumsum(np.bincount(keys[reachable], minlength=1 << 16), dtype=np.int32).data
        order = np.argsort(keys, kind="stable").astype(np.int32)
        self._ids = order if reachable.all() else order[reachable[order]]
        lengths = np.diff(tokens.bounds)
        self._singles = {tokens[token]: token for token in np.flatnonzero((lengths == 1) & reachable).tolist()}
        self._rows = dict.fromkeys(self._singles, self._singles)
        self._whole: dict[bytes, int] | None = None

    def getter(self) -> Getter:
        """What gives the id of a token, or else another number: the faster one, once there is one."""
        return self._get if self._whole is None else self._whole.get

    def _get(self, token: bytes, default: int, /) -> int:
        row = self._rows.get(token[:2])
        if row is None:
            row = self._fill(token[:2])
        return row.get(token, default)

    def _fill(self, start: bytes) -> dict[bytes, int]:
        """The tokens that begin with two bytes; none where a single byte is asked for that is no token."""
        if len(self._rows) - len(self._singles) >= _ROWS:
            self._whole = self._data.ranks
        row: dict[bytes, int] = {}
        if len(start) == 2:
            key = start[0] << 8 | start[1]
            tokens, ids = self._data.tokens, self._ids[self._ends[key - 1] if key else 0 : self._ends[key]]
            row = {tokens[token]: token for token in ids.tolist()}
        self._rows[start] = row
        return row
