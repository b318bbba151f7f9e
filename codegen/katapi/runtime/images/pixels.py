"""From 8-bit pixels to the numbers that a model receives, in the layouts that vision models take.

Of outlines, which have no pixels, there are arrays as well: of the right shape, with zeros that take no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.images.picture import Picture, Size

if TYPE_CHECKING:
    from katapi.runtime.json_types import JsonObject


class Normalization:
    """How a pixel becomes a number: `(value * rescale - mean) / std` for each channel, in this order.

    The product is that of 64-bit floats, rounded to 32 bits; mean and deviation are rounded to 32 bits, and the rest is
    arithmetic of 32 bits. Without mean and deviation the product is all.
    """

    def __init__(
        self,
        rescale: float = 1 / 255,
        mean: tuple[float, float, float] | None = None,
        std: tuple[float, float, float] | None = None,
    ) -> None:
        self.rescale = rescale
        """What a pixel, 0 to 255, is multiplied by."""
        self.mean = mean
        """What is taken away then, for red, green and blue."""
        self.std = std
        """What is divided by last, likewise."""

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """The number of each value of each channel: float32 of shape [3, 256]."""
        pixels = np.repeat(np.arange(256, dtype=np.float32)[:, None], 3, axis=1)
        return np.ascontiguousarray(self.of(pixels).T)

    def of(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """The numbers of pixels, both float32 of shape [n, 3] or [height, width, 3]: red, green and blue."""
        numbers = (pixels.astype(np.float64) * self.rescale).astype(np.float32)
        if self.mean is not None:
            numbers -= np.array(self.mean, np.float32)
        if self.std is not None:
            numbers /= np.array(self.std, np.float32)
        return numbers

    def to_json(self) -> JsonObject:
        """The parameters, and the type in which numbers are computed."""
        mean = None if self.mean is None else list(self.mean)
        return {"rescale": self.rescale, "mean": mean, "std": None if self.std is None else list(self.std)}


def planes(pictures: Sequence[Picture], numbers: Normalization) -> NDArray[np.float32]:
    """Pictures of one size, each as its channels: float32 of shape [n, 3, height, width]."""
    shape = (len(pictures), 3, *_one_size(pictures))
    if pictures[0].is_outline:
        return _nothing(shape)
    out = np.empty(shape, np.float32)
    for picture, planes_of_one in zip(pictures, out, strict=True):
        for channel, plane in enumerate(planes_of_one):
            # Whole numbers of 8 bits are never beyond a table of 256, so that nothing is clipped; it is the fast mode.
            np.take(numbers.table[channel], picture.pixels[:, :, channel], out=plane, mode="clip")
    return out


def patches(picture: Picture, side: int, numbers: Normalization) -> NDArray[np.float32]:
    """The picture as square patches, row by row, each as its channels: float32 of shape [n, 3, side, side]."""
    rows, columns = _grid(picture, side)
    if picture.is_outline:
        return _nothing((rows * columns, 3, side, side))
    out = np.empty((rows * columns, 3, side, side), np.float32)
    for channel in range(3):
        cut = picture.pixels[:, :, channel].reshape(rows, side, columns, side).transpose(0, 2, 1, 3)
        out[:, channel] = numbers.table[channel].take(cut).reshape(-1, side, side)
    return out


def flat_patches(picture: Picture, side: int, numbers: Normalization) -> NDArray[np.float32]:
    """The picture as square patches, row by row, each flat with the channel last: float32 [n, values]."""
    rows, columns = _grid(picture, side)
    if picture.is_outline:
        return _nothing((rows * columns, side * side * 3))
    out = np.empty((rows * columns, side * side, 3), np.float32)
    for channel in range(3):
        cut = picture.pixels[:, :, channel].reshape(rows, side, columns, side).transpose(0, 2, 1, 3)
        out[:, :, channel] = numbers.table[channel].take(cut).reshape(-1, side * side)
    return out.reshape(rows * columns, -1)


def merged_patches(picture: Picture, side: int, merge: int, frames: int, numbers: Normalization) -> NDArray[np.float32]:
    """The picture as square patches, in blocks of `merge` by `merge` that a model joins into one token.

    Blocks stand row by row, and so do the patches of each. A patch is its channels, each with the picture repeated for
    so many frames of a video: float32 of shape [n, values].
    """
    rows, columns = _grid(picture, side * merge)
    count = rows * columns * merge * merge
    if picture.is_outline:
        return _nothing((count, 3 * frames * side * side))
    out = np.empty((rows, columns, merge, merge, 3, frames, side, side), np.float32)
    band = np.empty((side * merge, picture.width), np.float32)
    for row, blocks in enumerate(out):  # a row of blocks at a time, which the cache holds
        pixels = picture.pixels[row * side * merge : (row + 1) * side * merge]
        for channel in range(3):
            np.take(numbers.table[channel], pixels[:, :, channel], out=band, mode="clip")
            cut = band.reshape(merge, side, columns, merge, side).transpose(2, 0, 3, 1, 4)
            blocks[:, :, :, channel] = cut[:, :, :, None]
    return out.reshape(count, -1)


def temporal_patches(
    pictures: Sequence[Picture], side: int, merge: int, frames: int, numbers: Normalization
) -> NDArray[np.float32]:
    """The pictures of a film as patches of `frames` pictures each, the last one of which is repeated to fill them up.

    The patches of the first pictures stand before those of the next, and are ordered as those of `merged_patches`. A
    patch is its channels, each with its place in all of its pictures: float32 of shape [n, values].
    """
    size = _one_size(pictures)
    rows, columns = _grid(pictures[0], side * merge)
    times = -(-len(pictures) // frames)
    shape = (times, rows, columns, merge, merge, 3, frames, side, side)
    if pictures[0].is_outline:
        return _nothing((times * rows * columns * merge * merge, 3 * frames * side * side))
    out = np.empty(shape, np.float32)
    plane = np.empty(size, np.float32)
    for place in range(times * frames):
        pixels = pictures[min(place, len(pictures) - 1)].pixels
        for channel in range(3):
            np.take(numbers.table[channel], pixels[:, :, channel], out=plane, mode="clip")
            cut = plane.reshape(rows, merge, side, columns, merge, side).transpose(0, 3, 1, 4, 2, 5)
            out[place // frames, :, :, :, :, channel, place % frames] = cut
    return out.reshape(-1, 3 * frames * side * side)


def strips(pictures: Sequence[Picture], side: int, numbers: Normalization) -> NDArray[np.float32]:
    """The square patches of all pictures side by side, in one strip for each channel: float32 [3, side, width].

    The patches of a picture stand row by row, those of the next picture behind them.
    """
    grids = [_grid(picture, side) for picture in pictures]
    shape = (3, side, sum(grid.height * grid.width for grid in grids) * side)
    if pictures[0].is_outline:
        return _nothing(shape)
    out = np.empty(shape, np.float32)
    for channel in range(3):
        at = 0
        for picture, (rows, columns) in zip(pictures, grids, strict=True):
            plane = picture.pixels[:, :, channel].reshape(rows, side, columns * side).transpose(1, 0, 2)
            width = rows * columns * side
            out[channel, :, at : at + width] = numbers.table[channel].take(plane).reshape(side, width)
            at += width
    return out


def _nothing(shape: tuple[int, ...]) -> NDArray[np.float32]:
    return np.broadcast_to(np.float32(0), shape)


def _one_size(pictures: Sequence[Picture]) -> Size:
    sizes = {picture.size for picture in pictures}
    if len(sizes) != 1:
        raise ValueError(f"pictures of one array have one size, not {', '.join(map(str, sorted(sizes))) or 'none'}")
    return sizes.pop()


def _grid(picture: Picture, side: int) -> Size:
    if picture.height % side or picture.width % side:
        raise ValueError(f"a picture of {picture.size} is no grid of squares of {side}")
    return Size(picture.height // side, picture.width // side)
