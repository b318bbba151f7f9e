"""Resizing 8-bit pixels with antialiasing as torchvision does it on a CPU: by 16-bit fixed-point weights.

Pictures are planes here: arrays of shape [channels, height, width]. The result is torch's bit by bit, and not Pillow's,
whose weights have 22 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
"""Pixels."""
Doubles: TypeAlias = NDArray[np.float64]
"""What weights are worked out in."""
Indices: TypeAlias = NDArray[np.int64]
"""Places of pixels, and weights that are whole numbers."""


class Kernel(Enum):
    """What a pixel weighs as a function of its distance."""

    BILINEAR = "bilinear"
    """A triangle."""
    BICUBIC = "bicubic"
    """Keys' cubic with a = -0.5, as in Pillow."""


def _triangle(distance: Doubles) -> Doubles:
    return np.maximum(1.0 - distance, 0.0)


def _keys_cubic(distance: Doubles) -> Doubles:
    near = (1.5 * distance - 2.5) * distance * distance + 1.0
    far = ((-0.5 * distance + 2.5) * distance - 4.0) * distance + 2.0
    return np.where(distance < 1.0, near, np.where(distance < 2.0, far, 0.0))


_SHAPES: dict[Kernel, tuple[float, Callable[[Doubles], Doubles]]] = {
    Kernel.BILINEAR: (1.0, _triangle),
    Kernel.BICUBIC: (2.0, _keys_cubic),
}
"""How far each kernel reaches, and its weight at a distance."""


class Taps(NamedTuple):
    """The weights of one axis: output `i` is the sum of `weights[i, k] * input[first[i] + k]`, over 2**precision."""

    first: Indices
    """The first input that each output is made of: int64 of shape [outputs]."""
    weights: Indices
    """Whole numbers, 0 past the last input that counts: int64 of shape [outputs, k]."""
    precision: int
    """How many bits of a weight stand behind the point."""


@lru_cache(maxsize=64)
def fixed_point_taps(length: int, wanted: int, kernel: Kernel) -> Taps:
    """The weights of an axis, normalised in float64, then rounded to 16 bits, halves away from zero.

    The precision is the greatest, up to 22 bits, with which the largest weight of the axis stays below 2**15.
    """
    reach, shape = _SHAPES[kernel]
    scale = length / wanted
    stretch = max(scale, 1.0)
    support = reach * stretch
    center = scale * (np.arange(wanted) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((center + support + 0.5).astype(np.int64), length)
    taps = np.arange(min(ceil(support) * 2 + 1, length))
    distance = np.abs((taps + first[:, None] - center[:, None] + 0.5) * (1.0 / stretch))
    weights = np.where(taps < (stop - first)[:, None], shape(distance), 0.0)
    total = np.zeros(wanted)
    for column in weights.T:  # one after the other, as torch sums them; numpy's own sum is pairwise
        total += column
    np.divide(weights, total[:, None], out=weights, where=total[:, None] != 0.0)
    largest = max(float(weights.max()), 0.0)
    precision = next((bits for bits in range(22) if int(0.5 + largest * (1 << bits + 1)) >= 1 << 15), 22)
    rounded = np.trunc(weights * (1 << precision) + np.copysign(0.5, weights)).astype(np.int64)
    return Taps(first, rounded, precision)


class _Band(NamedTuple):
    """A few outputs that lie side by side, as one matrix over the inputs that they need."""

    outputs: slice
    inputs: slice
    matrix: NDArray[np.float32] | NDArray[np.float64]
    """[inputs, outputs]."""


_LEAST, _MOST = 16, 64
"""How many outputs are one band: enough for a fast product, few enough that not many of its weights are 0."""

_PIXELS = 1 << 17
"""About how many pixels are made into floating-point numbers at a time: as many as the cache holds."""

_PRODUCTS = 1 << 18
"""How many multiplications one product of matrices has at most: BLAS would share more among threads, which costs more
than it saves where other work runs beside it."""


@lru_cache(maxsize=16)
def _bands(length: int, wanted: int, kernel: Kernel) -> tuple[_Band, ...]:
    first, weights, precision = fixed_point_taps(length, wanted, kernel)
    # All products and sums are whole numbers, so that no order of adding changes them as long as they are held
    # exactly: float32 does so while every sum stays below 2**24.
    bound = int(np.abs(weights).sum(axis=1).max()) * 255 + (1 << precision)
    dtype = np.float32 if bound < 1 << 24 else np.float64
    outputs = min(max(_MOST * wanted // length, _LEAST), _MOST)
    bands = []
    for start in range(0, wanted, outputs):
        stop = min(start + outputs, wanted)
        low, high = int(first[start]), min(int(first[stop - 1]) + weights.shape[1], length)
        matrix = np.zeros((high - low + weights.shape[1], stop - start), dtype)
        places = first[start:stop, None] - low + np.arange(weights.shape[1])
        matrix[places, np.arange(stop - start)[:, None]] = weights[start:stop]
        bands.append(_Band(slice(start, stop), slice(low, high), np.ascontiguousarray(matrix[: high - low])))
    return tuple(bands)


def _resized_lines(lines: Bytes, wanted: int, kernel: Kernel) -> Bytes:
    """Lines of pixels [lines, length] made longer or shorter."""
    bands = _bands(lines.shape[1], wanted, kernel)
    precision = fixed_point_taps(lines.shape[1], wanted, kernel).precision
    half, unit = float(1 << precision - 1), 1.0 / (1 << precision)
    resized = np.empty((len(lines), wanted), np.uint8)
    most = max(band.matrix.size for band in bands)
    rows = min(max(_PRODUCTS // most, 1), len(lines))
    blocks = min(max(_PIXELS // (rows * max(lines.shape[1], wanted)), 1), -(-len(lines) // rows))
    exact = np.zeros((blocks, rows, lines.shape[1]), bands[0].matrix.dtype)
    sums = np.empty((blocks, rows, wanted), exact.dtype)
    for start in range(0, len(lines), blocks * rows):
        some = lines[start : start + blocks * rows]
        filled = -(-len(some) // rows)
        np.copyto(exact.reshape(-1, lines.shape[1])[: len(some)], some)
        for band in bands:
            np.matmul(exact[:filled, :, band.inputs], band.matrix, out=sums[:filled, :, band.outputs])
        total = sums.reshape(-1, wanted)[: len(some)]
        total += half
        total *= unit
        np.clip(total, 0.0, 255.0, out=total)
        np.copyto(resized[start : start + len(some)], total, casting="unsafe")
    return resized


def resize_bytes(planes: Bytes, height: int, width: int, kernel: Kernel) -> Bytes:
    """Planes [channels, height, width] resized, the width first: each pass rounds to 8 bits and clips.

    An axis that keeps its length is left as it is.
    """
    channels, old_height, old_width = planes.shape
    if width != old_width:
        planes = _resized_lines(planes.reshape(-1, old_width), width, kernel).reshape(channels, old_height, width)
    if height != old_height:
        turned = np.ascontiguousarray(planes.transpose(0, 2, 1)).reshape(-1, old_height)
        planes = _resized_lines(turned, height, kernel).reshape(channels, width, height).transpose(0, 2, 1)
    return planes
