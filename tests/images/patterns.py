"""Pictures that are worked out, so that what other libraries made of them can be stated by digest."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def smooth(height: int, width: int) -> Bytes:
    """Planes [3, height, width] of waves and an edge."""
    channel, row, column = np.indices((3, height, width))
    waves: NDArray[np.int64] = (row * row + 3 * row * column + 7 * column * (channel + 1)) // 5 % 256
    return waves.astype(np.uint8)


def harsh(height: int, width: int) -> Bytes:
    """Planes [3, height, width] of black and white alone, in no order: kernels overshoot most on these."""
    channel, row, column = np.indices((3, height, width))
    mixed = (row * 7919 + column * 104729 + channel * 1299709 + row * column * 31) % 65521
    return np.where(mixed * mixed % 8191 % 2 == 1, 255, 0).astype(np.uint8)


def digest(array: NDArray[np.generic]) -> str:
    """The first 16 hex digits of the sha256 of its bytes, in C order."""
    return sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
