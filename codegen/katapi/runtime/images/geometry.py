"""What changes the shape of a picture: resize, crop, pad, tiles. Each rounds to 8 bits, and is a step of the record.

An outline, a picture of a size alone, goes the same way without pixels.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from katapi.runtime.errors import MediaError
from katapi.runtime.images.picture import BLACK, Colour, Picture, Size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image


class Filter(IntEnum):
    """The filters of Pillow's resampling, whose code works on integers and gives the same on every machine.

    `NEAREST`, `BOX`, `BILINEAR`, `HAMMING`, `BICUBIC` (Keys, a = -0.5) and `LANCZOS` (three lobes) have its numbers.
    """

    NEAREST = 0
    LANCZOS = 1
    BILINEAR = 2
    BICUBIC = 3
    BOX = 4
    HAMMING = 5


def resize(picture: Picture, size: Size, filter: Filter) -> Picture:
    """The picture at another size, as `PIL.Image.resize` of Pillow 13 gives it; at its own size nothing is done.

    Raises `MediaError` M105 where the size has no pixels, or more than the limit.
    """
    made = picture.trace.step("resize", picture, size, detail=filter.name.lower())
    if size == picture.size:
        return _same(picture, made)
    image = None if picture.is_outline else _resized(picture.image, size, filter)
    return Picture(size, picture.trace, made, image=image)


def crop(picture: Picture, top: int, left: int, size: Size) -> Picture:
    """A part of the picture, which ends where the picture does.

    Raises `MediaError` M105 where the part has no pixels, and M109 where it begins outside of the picture.
    """
    inside = Size(min(size.height, picture.height - top), min(size.width, picture.width - left))
    if top < 0 or left < 0 or min(inside) < 1:
        raise MediaError(
            f"a part of {size} at row {top}, column {left} does not lie in an image of {picture.size}", code="M109"
        )
    made = picture.trace.step("crop", picture, inside, top=top, left=left)
    array = None if picture.is_outline else _part(picture, top, left, inside)
    return Picture(inside, picture.trace, made, array=array)


def pad(picture: Picture, size: Size, top: int, left: int, colour: Colour = BLACK) -> Picture:
    """A canvas of this size in one colour, with the picture on it at a row and a column.

    Raises `MediaError` M105 where the canvas has more pixels than the limit, and M109 where the picture does not lie
    on it.
    """
    if top < 0 or left < 0 or top + picture.height > size.height or left + picture.width > size.width:
        raise MediaError(
            f"an image of {picture.size} at row {top}, column {left} does not lie on a canvas of {size}", code="M109"
        )
    made = picture.trace.step("pad", picture, size, top=top, left=left, detail=",".join(map(str, colour)))
    if size == picture.size:
        return _same(picture, made)
    image = None if picture.is_outline else _pasted(picture, size, top, left, colour)
    return Picture(size, picture.trace, made, image=image)


def tiles(picture: Picture, size: Size) -> list[Picture]:
    """The picture cut into tiles of this size, row by row; those at its right and lower edge end where it does."""
    found = []
    for top in range(0, picture.height, size.height):
        for left in range(0, picture.width, size.width):
            inside = Size(min(size.height, picture.height - top), min(size.width, picture.width - left))
            made = picture.trace.step("tile", picture, inside, top=top, left=left)
            array = None if picture.is_outline else _part(picture, top, left, inside)
            found.append(Picture(inside, picture.trace, made, array=array))
    return found


def _resized(image: Image, size: Size, filter: Filter) -> Image:
    """The passes over columns and rows, each of which rounds to 8 bits, so that their order changes the result.

    Pillow 13 begins with the height where that shrinks by more than twice as many pixels as the width, and otherwise
    with the width, as all earlier versions did in any case. Each pass is asked for alone, so that the version that is
    installed does not matter.
    """
    shrinks = image.height - size.height
    if filter is not Filter.NEAREST and shrinks > 0 and shrinks > 2 * (image.width - size.width):
        image = image.resize((image.width, size.height), filter.value)
    elif filter is not Filter.NEAREST:
        image = image.resize((size.width, image.height), filter.value)
    return image if image.size == (size.width, size.height) else image.resize((size.width, size.height), filter.value)


def _same(picture: Picture, number: int) -> Picture:
    if picture.is_outline:
        return Picture(picture.size, picture.trace, number)
    if picture.is_array:
        return Picture(picture.size, picture.trace, number, array=picture.pixels)
    return Picture(picture.size, picture.trace, number, image=picture.image)


def _part(picture: Picture, top: int, left: int, size: Size) -> NDArray[np.uint8]:
    """A view of the array: `PIL.Image.crop` would copy, and look for decompression bombs by a limit of its own."""
    return picture.pixels[top : top + size.height, left : left + size.width]


def _pasted(picture: Picture, size: Size, top: int, left: int, colour: Colour) -> Image:
    from PIL import Image  # Pillow is an extra

    canvas = Image.new("RGB", (size.width, size.height), colour)
    canvas.paste(picture.image, (left, top))
    return canvas
