"""Images for tests: files of any format and mode, made with Pillow, and a small pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from katapi.runtime.images.arrays import integers
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.decoding import Limits, Reading
from katapi.runtime.images.geometry import Filter, resize
from katapi.runtime.images.picture import WHITE, Picture, Size, Trace
from katapi.runtime.images.pieces import Piece, control, text
from katapi.runtime.images.pipeline import ImagePipeline
from katapi.runtime.images.pixels import Normalization, planes
from katapi.runtime.images.plan import Outputs, Plan

Bytes = NDArray[np.uint8]

ORIENTATION = 0x0112


def noise(height: int, width: int, channels: int = 3) -> Bytes:
    """Pixels, the same every time: uint8 [height, width, channels]."""
    return np.random.default_rng(height * 1000 + width).integers(0, 256, (height, width, channels), dtype=np.uint8)


def smooth(height: int, width: int) -> Bytes:
    """Pixels that a lossy format hardly changes, no two corners alike: uint8 [height, width, 3]."""
    rows, columns = np.mgrid[0:height, 0:width]
    red, green = rows * 200 // max(height - 1, 1), columns * 200 // max(width - 1, 1)
    return np.stack([red, green, np.full_like(red, 90)], axis=2).astype(np.uint8)


def file_of(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    """An image as the bytes of a file."""
    buffer = BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def png(pixels: Bytes) -> bytes:
    """Pixels as a PNG: grey, RGB or RGBA."""
    return file_of(Image.fromarray(pixels))


def oriented(image: Image.Image, orientation: int, format: str) -> bytes:
    """A file with an orientation in its Exif data."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return file_of(image, format, exif=exif)


def picture(pixels: Bytes, most_pixels: int = 10**9) -> Picture:
    """A picture at the beginning of a run."""
    return Picture(Size(*pixels.shape[:2]), Trace(most_pixels), image=Image.fromarray(pixels))


NUMBERS = Normalization(1 / 255, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
"""From -1 to 1."""
PLAIN = Normalization(1.0)
"""Pixels as they are."""


class Halved:
    """A picture of half the size, with a token for each pixel that is left."""

    def __init__(self, source: Picture) -> None:
        self.small = resize(source, Size(source.height // 2, source.width // 2), Filter.BICUBIC)

    def arrays(self, numbers: Normalization) -> Outputs:
        small = self.small
        return {"pixel_values": planes([small], numbers), "sizes": integers([[small.height, small.width]])}

    def tokens(self) -> int:
        return self.small.height * self.small.width

    def placeholder(self) -> Iterator[Piece]:
        for row in range(self.small.height):
            if row:
                yield text("\n")
            yield control("<pixel>", self.small.width, row=row)
        yield control("<never>", 0)


def pipeline(
    *, reading: Reading | None = None, arrival: Arrival | None = None, other: Arrival | None = None
) -> ImagePipeline:
    """A pipeline that halves an image, with a token for each pixel that is left."""
    first = arrival or Arrival(orientation="ignore", alpha=WHITE)
    return ImagePipeline(
        name="halved",
        version="1",
        digest="sha256:" + "0" * 64,
        reading=reading or Reading(limits=Limits(pixels=10**6)),
        ways={"open": first, "turned": other or Arrival(orientation="apply", alpha="drop")},
        numbers=PLAIN,
        plan=Halved,
        joins={},
    )


def arrived(data: bytes, way: Arrival) -> Bytes:
    """The pixels of a file as they arrive: uint8 [height, width, 3]."""
    _, source = pipeline(arrival=way).source(data, media_type=None, orientation=False)
    return source.pixels


@dataclass(frozen=True)
class _Altered:
    plan: Plan
    source: Picture
    said: Callable[[Plan, Normalization], Outputs] | None
    counted: Callable[[Plan], int] | None
    shown: Callable[[Plan, Picture], Iterable[Piece]] | None

    def arrays(self, numbers: Normalization) -> Outputs:
        return self.plan.arrays(numbers) if self.said is None else self.said(self.plan, numbers)

    def tokens(self) -> int:
        return self.plan.tokens() if self.counted is None else self.counted(self.plan)

    def placeholder(self) -> Iterable[Piece]:
        return self.plan.placeholder() if self.shown is None else self.shown(self.plan, self.source)


def altered(
    pipeline: ImagePipeline,
    *,
    arrays: Callable[[Plan, Normalization], Outputs] | None = None,
    tokens: Callable[[Plan], int] | None = None,
    placeholder: Callable[[Plan, Picture], Iterable[Piece]] | None = None,
) -> ImagePipeline:
    """A pipeline of the same plans, which say something else of what is given."""
    return replace(pipeline, plan=lambda source: _Altered(pipeline.plan(source), source, arrays, tokens, placeholder))
