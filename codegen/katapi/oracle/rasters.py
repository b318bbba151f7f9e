"""Pictures as arrays of numbers, and what images do with them, one pixel or patch after the other.

Resampling is Pillow's, or that of the kernels that stand for torchvision, torch and OpenCV, since that is what a
declaration means by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.model.formulas import Operation
from katapi.runtime.errors import MediaError
from katapi.runtime.images.resampling import Kernel, resize_bytes

Array: TypeAlias = NDArray[np.float32 | np.int32 | np.int64]
Pixels: TypeAlias = NDArray[np.uint8]


class Raster:
    """A picture of a height and a width; its pixels, uint8 [height, width, 3], or None where only its size counts."""

    def __init__(self, height: int, width: int, pixels: Pixels | None, most_pixels: int) -> None:
        if height < 1 or width < 1 or height * width > most_pixels:
            raise MediaError(f"a picture cannot be {height} × {width}", code="M105")
        self.height = height
        self.width = width
        self.pixels = pixels
        self.most_pixels = most_pixels

    def like(self, height: int, width: int, pixels: Pixels | None) -> Raster:
        """Another picture under the same limit."""
        return Raster(height, width, pixels, self.most_pixels)


def resized(raster: Raster, height: int, width: int, filter: str) -> Raster:
    """The picture at another size."""
    new = raster.like(height, width, None)
    if raster.pixels is not None:
        from PIL import Image  # Pillow is an extra

        method = Image.Resampling[filter.upper()]
        new.pixels = np.array(Image.fromarray(raster.pixels).resize((width, height), method))
    return new


def cropped(raster: Raster, top: int, left: int, height: int, width: int) -> Raster:
    """A part of the picture, as far as it goes."""
    bottom, right = min(top + height, raster.height), min(left + width, raster.width)
    if top < 0 or left < 0 or bottom <= top or right <= left:
        raise MediaError("the part does not lie in the picture", code="M109")
    pixels = None if raster.pixels is None else raster.pixels[top:bottom, left:right]
    return raster.like(bottom - top, right - left, pixels)


def padded(raster: Raster, height: int, width: int, top: int, left: int, colour: Sequence[int]) -> Raster:
    """The picture on a canvas."""
    if top < 0 or left < 0 or top + raster.height > height or left + raster.width > width:
        raise MediaError("the picture does not lie on the canvas", code="M109")
    canvas = raster.like(height, width, None)
    if raster.pixels is not None:
        canvas.pixels = np.empty((height, width, 3), np.uint8)
        canvas.pixels[:, :] = colour
        canvas.pixels[top : top + raster.height, left : left + raster.width] = raster.pixels
    return canvas


def cut(raster: Raster, height: int, width: int) -> list[Raster]:
    """The picture in tiles, row by row."""
    return [
        cropped(raster, top, left, height, width)
        for top in range(0, raster.height, height)
        for left in range(0, raster.width, width)
    ]


def resized_by_torchvision(raster: Raster, height: int, width: int, filter: str) -> Raster:
    """The picture at another size, as torchvision has it."""
    new = raster.like(height, width, None)
    if raster.pixels is not None:
        planes = np.ascontiguousarray(raster.pixels.transpose(2, 0, 1))
        new.pixels = resize_bytes(planes, height, width, Kernel(filter)).transpose(1, 2, 0)
    return new


def normal(
    pixels: Pixels | NDArray[np.float32],
    order: Operation,
    scale: float,
    mean: Sequence[float] | None,
    std: Sequence[float] | None,
) -> NDArray[np.float32]:
    """The numbers of pixels, float32 [height, width, 3], by one of the orders of the arithmetic."""
    no, one = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    less, over = np.array(mean or no, np.float32), np.array(std or one, np.float32)
    match order:
        case Operation.FOLDED:
            whole = np.array(1 / scale, np.float32)
            less, over = np.multiply(less, whole, dtype=np.float32), np.multiply(over, whole, dtype=np.float32)
            numbers = pixels.astype(np.float32)
        case Operation.BFLOAT16:
            scaled = _bfloat16(np.multiply(pixels, np.float32(scale), dtype=np.float32))
            return _bfloat16(np.divide(_bfloat16(scaled - _bfloat16(less)), _bfloat16(over), dtype=np.float32))
        case Operation.REAL:
            numbers = np.divide(pixels, np.float32(scale), dtype=np.float32)
        case _:
            numbers = (pixels.astype(np.float64) * scale).astype(np.float32)
    return np.divide(np.subtract(numbers, less, dtype=np.float32), over, dtype=np.float32)


def _bfloat16(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest numbers of 8 significant bits, halves to the even one; exponents are never too small here."""
    fraction, exponent = np.frexp(numbers.astype(np.float64))
    out = np.empty_like(numbers)
    out[...] = np.ldexp(np.round(fraction * 256) / 256, exponent)
    return out


def blocks(numbers: NDArray[np.float32], side: int) -> list[list[NDArray[np.float32]]]:
    """The square patches of a picture, in rows, each [side, side, 3]."""
    height, width, _ = numbers.shape
    if height % side or width % side:
        raise ValueError(f"{height} × {width} is no grid of squares of {side}")
    return [
        [numbers[top : top + side, left : left + side] for left in range(0, width, side)]
        for top in range(0, height, side)
    ]
