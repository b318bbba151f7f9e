"""Films as lists of pictures, and what videos do with them, one patch after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from katapi.oracle.rasters import Pixels, Raster, blocks
from katapi.runtime.errors import MediaError

_ALL_DIGITS = Context(prec=400)
"""So many digits has no whole number of 64 bits floating."""


@dataclass(frozen=True)
class Reel:
    """A film: how large its frames are, when each is shown, and their pixels, or None where only sizes count."""

    height: int
    width: int
    fps: float
    times: tuple[float, ...]
    most_pixels: int
    pixels: tuple[Pixels, ...] | None = None

    def frame(self, index: int) -> Raster:
        """The frame of a number."""
        if index not in range(len(self.times)):
            raise MediaError("the film has no such frame", code="M109")
        return Raster(self.height, self.width, None if self.pixels is None else self.pixels[index], self.most_pixels)


def temporal(pictures: Sequence[NDArray[np.float32]], side: int, merge: int, frames: int) -> NDArray[np.float32]:
    """The patches of a film, each of several pictures; the last picture is repeated until they are enough."""
    whole = list(pictures)
    while len(whole) % frames:
        whole.append(whole[-1])
    found: list[NDArray[np.float32]] = []
    for first in range(0, len(whole), frames):
        cut = [blocks(one, side) for one in whole[first : first + frames]]
        rows, columns = len(cut[0]), len(cut[0][0])
        if rows % merge or columns % merge:
            raise ValueError(f"{rows} × {columns} patches are no blocks of {merge}")
        for top in range(0, rows, merge):
            for left in range(0, columns, merge):
                for row in range(top, top + merge):
                    for column in range(left, left + merge):
                        patch = [one[row][column].transpose(2, 0, 1) for one in cut]
                        found.append(np.stack(patch, axis=1).reshape(-1))
    return np.stack(found)


def printed(number: float, digits: int) -> str:
    """A number with so many digits behind the point: the nearest to what the number is exactly, halves to the even."""
    exact = Decimal(number)
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, _ALL_DIGITS):f}"
