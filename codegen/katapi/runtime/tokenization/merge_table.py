"""The table of merges by ids: which two tokens merge, in which order, and into what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHIFT = 32
"""How many bits an id takes in a pair of ids, which is `left << SHIFT | right`."""


@dataclass(frozen=True, eq=False)
class MergeTable:
    """`ranks` gives the place of a merge in the list by its pair of ids, `merged` the result by that place."""

    ranks: dict[int, int]
    merged: list[int]

    @classmethod
    def of(cls, merges: NDArray[np.int32]) -> MergeTable:
        """The table of a list (`VocabularyData.merges`). Of two alike the later counts."""
        left, right, merged = merges.T.astype(np.int64)
        return cls(dict(zip((left << SHIFT | right).tolist(), range(len(merges)), strict=True)), merged.tolist())
