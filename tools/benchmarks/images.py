"""Images to arrays, beside Pillow and numpy written out in the shortest way that gives the same numbers.

Each side decodes a file, resizes, normalises and lays out, and the arrays must be equal. The side of Pillow and numpy
knows the sizes beforehand; Katapi's works them out, and counts tokens and spells the placeholder besides.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import katapi
from katapi.runtime.images.picture import Size
from katapi.runtime.images.pipeline import ImagePipeline, ProcessedImage
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import ratio, short
from tools.benchmarks.tables import paragraph, table
from tools.benchmarks.timing import Side, Times, interleaved

Reals = NDArray[np.float32]

SIZES = (Size(480, 640), Size(1024, 1024), Size(3000, 4000))
FORMATS: Mapping[str, Mapping[str, object]] = {"JPEG": {"quality": 90}, "PNG": {}}

INTRODUCTION = paragraph(
    "A picture from its file to the array that a model receives, beside Pillow and numpy written out in the "
    "shortest way that gives the same numbers. That side knows the sizes beforehand; Katapi works them out, "
    "counts the tokens and spells the placeholder besides."
)


class ImagesDiffer(Exception):
    """The comparison would not be fair."""


@dataclass(frozen=True)
class Known:
    """What the side of Pillow and numpy need not work out."""

    sizes: tuple[Size, ...]
    """After each step."""
    mean: Reals
    std: Reals


def decoded(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    return image if image.mode == "RGB" else image.convert("RGB")


def resized(image: Image.Image, size: Size, filter: Image.Resampling = Image.Resampling.BICUBIC) -> Image.Image:
    return image.resize((size.width, size.height), filter)


def normalised(pixels: NDArray[np.uint8] | Image.Image, known: Known) -> Reals:
    """Pixels with their channels last as numbers with their channels before height and width."""
    numbers = np.asarray(pixels).astype(np.float32)
    numbers /= np.float32(255)
    numbers -= known.mean
    numbers /= known.std
    return np.ascontiguousarray(np.moveaxis(numbers, -1, -3))


def one_resize(data: bytes, known: Known) -> Reals:
    return normalised(resized(decoded(data), known.sizes[0]), known)[None]


def centre_crop(data: bytes, known: Known) -> Reals:
    whole, part = known.sizes
    top, left = (whole.height - part.height) // 2, (whole.width - part.width) // 2
    image = resized(decoded(data), whole).crop((left, top, left + part.width, top + part.height))
    return normalised(image, known)[None]


def merged(data: bytes, known: Known) -> Reals:
    rows, columns = (side // 32 for side in known.sizes[0])
    numbers = normalised(resized(decoded(data), known.sizes[0]), known)
    cut = numbers.reshape(3, rows, 2, 16, columns, 2, 16).transpose(1, 4, 2, 5, 0, 3, 6)
    return np.repeat(cut[:, :, :, :, :, None], 2, axis=5).reshape(rows * columns * 4, -1)


def tiled(data: bytes, known: Known) -> Reals:
    fitted, canvas = known.sizes[:2]
    image = decoded(data)
    pixels = np.zeros((*canvas, 3), np.uint8)
    top, left = (canvas.height - fitted.height) // 2, (canvas.width - fitted.width) // 2
    pixels[top : top + fitted.height, left : left + fitted.width] = np.asarray(resized(image, fitted))
    side = known.sizes[-1]
    views = [np.asarray(resized(image, side))]
    for row in range(0, canvas.height, side.height):
        for column in range(0, canvas.width, side.width):
            views.append(pixels[row : row + side.height, column : column + side.width])  # noqa: PERF401  # as it is written
    return normalised(np.stack(views), known)[None]


PLAIN: Mapping[str, Callable[[bytes, Known], Reals]] = {
    "clip_336": centre_crop,
    "siglip_384": one_resize,
    "pixtral_12b": one_resize,
    "qwen3_vl": merged,
    "llava_next": tiled,
}


def photograph(size: Size) -> Image.Image:
    """A picture with surfaces, edges and some noise, so that it is compressed as a photograph is."""
    random = np.random.default_rng(size.height)
    rough = random.integers(0, 256, (size.height // 40 + 2, size.width // 40 + 2, 3), dtype=np.uint8)
    surfaces = np.asarray(Image.fromarray(rough).resize((size.width, size.height), Image.Resampling.BILINEAR))
    noise = random.normal(0, 4, surfaces.shape)
    return Image.fromarray(np.clip(surfaces + noise, 0, 255).astype(np.uint8))


def known_of(pipeline: ImagePipeline, found: ProcessedImage) -> Known:
    numbers = pipeline.numbers
    sizes = tuple(step.after for step in found.steps if step.operation != "tile")
    return Known(sizes, np.array(numbers.mean, np.float32), np.array(numbers.std, np.float32))


class Row(NamedTuple):
    """A pipeline on one picture."""

    pipeline: str
    picture: str
    katapi: Times
    other: Times


def measure(settings: Settings) -> list[Row]:
    """Measures every pipeline. Raises ImagesDiffer."""
    rows: list[Row] = []
    for size in SIZES[:1] if settings.quick else SIZES:
        for format, options in FORMATS.items():
            buffer = BytesIO()
            photograph(size).save(buffer, format, **options)
            rows += [_row(name, f"{format} {size}", buffer.getvalue(), settings.rounds) for name in PLAIN]
            print(f"bench: images, {format} {size}", file=sys.stderr, flush=True)
    return rows


def _row(name: str, picture: str, data: bytes, rounds: int) -> Row:
    pipeline, plain = katapi.image_pipeline(name), PLAIN[name]
    found = pipeline.process_one(data)
    known = known_of(pipeline, found)
    if not np.array_equal(found.arrays["pixel_values"], plain(data, known)):
        raise ImagesDiffer(f"{name}, {picture}: the arrays differ")
    sides: dict[str, Side[bytes]] = {
        "katapi": lambda data: lambda: pipeline.process_one(data),
        "other": lambda data: lambda: plain(data, known),
    }
    times = interleaved(sides, [data] * rounds, 2)
    return Row(name, picture, times["katapi"], times["other"])


def report(rows: list[Row]) -> str:
    """The section of the page."""
    cells = (
        [
            row.pipeline,
            row.picture,
            str(ratio(row.katapi.later, row.other.later)),
            short(statistics.median(row.katapi.later) / 1e6),
            short(statistics.median(row.other.later) / 1e6),
        ]
        for row in rows
    )
    return "\n".join(
        [
            INTRODUCTION,
            table(["pipeline", "picture", "beside Pillow and numpy", "Katapi ms", "Pillow and numpy ms"], cells),
        ]
    )
