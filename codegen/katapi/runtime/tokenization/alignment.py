"""Maps ranges of a normalized text back to the text that it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Alignment:
    """The parts that normalization changed; between them both texts are the same, byte for byte.

    `source` and `normalized` have shape [k, 2]: the half-open range of UTF-8 bytes that part k takes in either text,
    ascending.
    """

    source: NDArray[np.int64]
    normalized: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> Alignment:
        """From pairs of a source range and a normalized range."""
        array = np.array(parts, dtype=np.int64).reshape(-1, 2, 2)
        return cls(array[:, 0], array[:, 1])

    def to_source(self, ranges: NDArray[np.int64]) -> NDArray[np.int64]:
        """The source range of each range of the normalized text, shape [n, 2].

        A range that touches a part covers all of it.
        """
        if not len(self.source):
            return ranges
        return np.stack([self._starts(ranges[:, 0]), self._ends(ranges[:, 1])], axis=1)

    def _starts(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        passed = np.searchsorted(self.normalized[:, 1], positions, side="right")  # parts that end there or before
        mapped = positions + self._shift()[passed]
        inside = passed < np.searchsorted(self.normalized[:, 0], positions, side="left")
        mapped[inside] = self.source[passed[inside], 0]
        return mapped

    def _ends(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        begun = np.searchsorted(self.normalized[:, 0], positions, side="left")  # parts that begin before
        mapped = positions + self._shift()[begun]
        inside = np.searchsorted(self.normalized[:, 1], positions, side="left") < begun
        mapped[inside] = self.source[begun[inside] - 1, 1]
        return mapped

    def _shift(self) -> NDArray[np.int64]:
        """How far source positions run ahead of normalized ones after the first k parts, shape [k + 1]."""
        return np.concatenate([np.zeros(1, np.int64), self.source[:, 1] - self.normalized[:, 1]])
