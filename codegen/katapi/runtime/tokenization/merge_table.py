"""The table of merges by ids: which two tokens merge, in which order, and into what.

A list has up to half a million merges, of which a text needs few: they stay arrays, and become dictionaries by the
left part when one is met.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.tokens import bounds_of


class MergeTable(dict[int, dict[int, int]]):
    """`table[left].get(right)` is the place in the list of the merge of two ids; of two alike the later counts.

    `merges` are int32 of shape [n, 3], as `VocabularyData` has them. `merged` gives the result by that place. Safe to
    share between threads: at worst a part is looked up twice.
    """

    def __init__(self, merges: NDArray[np.int32]) -> None:
        super().__init__()
        left, right, merged = merges.T
        # Sorted by left part and then by place, both in one number, which is faster than a stable sort.
        keys = left.astype(np.int64)
        keys <<= 32
        keys |= np.arange(len(left))
        keys.sort()
        keys &= 0xFFFFFFFF
        self._places = keys.astype(np.int32)
        self._rights = right[keys]
        del keys
        self._starts = bounds_of(np.bincount(left)).data
        self.merged = merged.copy().data  # the whole list need not stay for it

    def __missing__(self, left: int) -> dict[int, int]:
        row: dict[int, int] = {}
        if left + 1 < len(self._starts):
            chosen = slice(self._starts[left], self._starts[left + 1])
            row = dict(zip(self._rights[chosen].tolist(), self._places[chosen].tolist(), strict=True))
        self[left] = row
        return row
