"""Tokens by their text, without a dictionary of all of them.

A vocabulary has up to a quarter of a million tokens, of which a text meets few, and a string in a dictionary takes ten
times what the table has for it. So the ids stay in one piece, sorted by the first two characters of their texts, and
come into a dictionary where a text is first asked for that begins with these two.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.tokens import AT_ONCE, Texts
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_BITS = 22  # of a code point, and of what says that there is none
_FIRSTS = 1 << 13  # how many first characters are remembered, those that begin no token together included


class TokenIndex:
    """Finds the id of a text. Safe to share between threads.

    `chosen` are ids of `texts`, int32 of shape [n]. The text of each begins with `prefix`, which does not count; an
    empty one is never found, and of two alike the later is.
    """

    def __init__(self, texts: Texts, chosen: NDArray[np.int32], *, prefix: str = "") -> None:
        skipped = len(prefix.encode(texts.encoding))
        chosen = chosen[np.diff(texts.bounds)[chosen] > skipped]
        keys = _first_two(texts, texts.bounds[chosen] + np.int32(skipped), texts.bounds[1:][chosen])
        order = np.argsort(keys, kind="stable")
        self._texts = texts
        self._bounds = texts.bounds.data  # gives integers of Python's own, and faster, as do the others
        self._skipped = skipped
        self._sorted = chosen[order].astype(np.min_scalar_type(len(texts.bounds))).data
        del order
        keys.sort()
        begins = np.flatnonzero(np.append(-1, keys[:-1]) != keys)
        self._keys = keys[begins].data  # of the rows of tokens that begin alike
        self._begins = np.append(begins, len(keys)).astype(np.int32).data
        self._waiting = Memo(self._rows_of, entries=_FIRSTS)
        self.met: dict[str, int] = {}
        """Ids by text: those of the tokens within each text that `meet` was called with, and more."""

    @classmethod
    def of(cls, data: VocabularyData) -> Self:
        """The tokens that text can yield."""
        return cls(data.tokens.texts(), np.flatnonzero(data.is_reachable()).astype(np.int32))

    def get(self, text: str) -> int | None:
        """The id of a text, if it is a token."""
        self.meet(text[:2])
        return self.met.get(text)

    def meet(self, text: str) -> None:
        """Takes over into `met` all tokens that stand anywhere in a text."""
        waiting = self._waiting
        for first, second in pairwise(text):
            if second in waiting[first]:
                self._meet(first + second)
        if text:
            waiting[text[-1]]

    def _meet(self, start: str) -> None:
        """Takes over the tokens that begin with these two characters."""
        rows = self._waiting[start[0]]
        row = rows.get(start[1])
        if row is not None:
            self._keep(start, self._row(row))
            rows.pop(start[1], None)  # at last: what does not wait for another thread has been kept

    def _keep(self, start: str, tokens: dict[str, int]) -> None:
        """What is to be known of tokens that begin with two characters, or of the one that is `start`."""
        self.met.update(tokens)

    def _rows_of(self, first: str) -> dict[str, int]:
        """The rows of the tokens that begin with a character, by the second one; takes over the token that has none."""
        keys, key = self._keys, ord(first) << _BITS
        begin = bisect_left(keys, key)
        end = bisect_left(keys, key + (1 << _BITS), begin)
        if begin < end and keys[begin] == key:
            self._keep(first, self._row(begin))
            begin += 1
        if begin == end:
            return _NO_ROWS
        return {chr(keys[row] - key - 1): row for row in range(begin, end)}

    def _row(self, row: int) -> dict[str, int]:
        """The ids of a row by text."""
        joined, encoding = self._texts.joined, self._texts.encoding
        bounds, skipped = self._bounds, self._skipped
        return {
            joined[bounds[token] + skipped : bounds[token + 1]].decode(encoding): token
            for token in self._sorted[self._begins[row] : self._begins[row + 1]]
        }


_NO_ROWS: dict[str, int] = {}


def _first_two(texts: Texts, starts: NDArray[np.int32], ends: NDArray[np.int32]) -> NDArray[np.int64]:
    """What stands for the first two characters of texts none of which is empty, or for the only one."""
    keys = np.empty(len(starts), dtype=np.int64)
    for some in (slice(first, first + AT_ONCE) for first in range(0, len(keys), AT_ONCE)):
        codes, following = texts.codes_at(starts[some])
        keys[some] = codes
        keys[some] <<= _BITS
        keys[some] |= np.where(following < ends[some], texts.codes_at(following)[0] + 1, 0)
    return keys
