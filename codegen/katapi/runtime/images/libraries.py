"""Pictures resized as torchvision, torch and OpenCV do it, for processors that do not resize with Pillow.

The kernels are numpy's work (`resampling`, `cubic`): none of these libraries is imported.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.images.cubic import opencv_cubic, torch_bicubic
from katapi.runtime.images.picture import Picture, Size
from katapi.runtime.images.pixels import Normalization, planes
from katapi.runtime.images.resampling import Kernel, resize_bytes


def resize_by_torchvision(picture: Picture, size: Size, kernel: Kernel) -> Picture:
    """The picture at another size, 8-bit and antialiased as torchvision has it; at its own size nothing changes.

    Raises `MediaError` M105 where the size has no pixels, or more than the limit.
    """
    made = picture.trace.step("resize", picture, size, detail=f"{kernel.value} of torchvision")
    if picture.is_outline:
        return Picture(size, picture.trace, made)
    if size == picture.size:
        return Picture(size, picture.trace, made, array=picture.pixels)
    resized = resize_bytes(np.ascontiguousarray(picture.pixels.transpose(2, 0, 1)), size.height, size.width, kernel)
    return Picture(size, picture.trace, made, array=resized.transpose(1, 2, 0))


def view_by_torch(picture: Picture, size: Size, numbers: Normalization) -> NDArray[np.float32]:
    """The numbers of the picture, resized as float32 by torch's bicubic: float32 of shape [1, 3, height, width].

    The resize comes after the normalising, has no antialiasing, and clips nothing. Raises `MediaError` M105 where the
    size has no pixels, or more than the limit.
    """
    picture.trace.step("resize", picture, size, detail="bicubic of torch, of the normalised picture")
    if picture.is_outline:
        return np.broadcast_to(np.float32(0), (1, 3, *size))
    return torch_bicubic(planes([picture], numbers)[0], size.height, size.width)[None]


def planes_by_opencv(picture: Picture, size: Size, numbers: Normalization) -> NDArray[np.float32]:
    """The picture resized as float32 by OpenCV's cubic, then made numbers: float32 of shape [3, height, width].

    There is no antialiasing, nothing is rounded to 8 bits, and nothing is clipped. Raises `MediaError` M105 where the
    size has no pixels, or more than the limit.
    """
    picture.trace.step("resize", picture, size, detail="cubic of OpenCV, as float32")
    if picture.is_outline:
        return np.broadcast_to(np.float32(0), (3, *size))
    resized = opencv_cubic(picture.pixels.astype(np.float32), size.height, size.width)
    return np.ascontiguousarray(numbers.of(resized).transpose(2, 0, 1))


def tile_masks(shown: Size, grid: Size, side: int) -> NDArray[np.float32]:
    """For each of `grid` tiles, row by row, 1 where a cell is shown and 0 where it is padding: float32 [n, side, side].

    Of the whole canvas, `grid * side` cells, the first `shown.height` rows and `shown.width` columns are shown.
    """
    rows = np.arange(grid.height * side).reshape(grid.height, 1, side, 1) < shown.height
    columns = np.arange(grid.width * side).reshape(1, grid.width, 1, side) < shown.width
    return (rows & columns).astype(np.float32).reshape(-1, side, side)
