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
        chosen = np.flatnonzero(data.is_reachable())
        starts = data.tokens.bounds[chosen]
        lengths = data.tokens.bounds[chosen + 1] - starts
        joined = np.frombuffer(data.tokens.joined + b"\0", dtype=np.uint8).astype(np.uint32)
        seconds = np.where(lengths > 1, joined[starts + 1] + 1, 0)
        keys = joined[starts] * 257 + seconds
        order = np.argsort(keys, kind="stable")
        self._data = data
        self._ids = chosen[order]
        self._begins = np.searchsorted(keys[order], np.arange(256 * 257 + 1)).data
        self._rows: dict[bytes, dict[bytes, int]] = {}
        self._whole: dict[bytes, int] | None = None

    def missing_bytes(self) -> list[int]:
        """The bytes that are no tokens by themselves."""
        begins = self._begins
        return [byte for byte in range(256) if begins[byte * 257] == begins[byte * 257 + 1]]

    def getter(self) -> Getter:
        """What gives the id of a token, or else another number: the faster one, once there is one."""
        return self._get if self._whole is None else self._whole.get

    def _get(self, token: bytes, default: int, /) -> int:
        row = self._rows.get(token[:2])
        if row is None:
            row = self._fill(token[:2])
        return row.get(token, default)

    def _fill(self, start: bytes) -> dict[bytes, int]:
        """The tokens that begin with two bytes, or the one that is a single byte."""
        if len(self._rows) >= _ROWS:
            self._whole = self._data.ranks
        key = start[0] * 257 + (start[1] + 1 if len(start) > 1 else 0)
        tokens = self._data.tokens
        ids: list[int] = self._ids[self._begins[key] : self._begins[key + 1]].tolist()
        row = self._rows[start] = {tokens[token]: token for token in ids}
        return row
