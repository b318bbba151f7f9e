"""Measure image pipelines beside Pillow and numpy, written out in the shortest way that gives the same numbers.

usage: python tools/image_bench.py [PIPELINE]... [--rounds N]

Each side decodes a file, resizes, normalises and lays out, and the arrays must be equal. The side of Pillow and numpy
knows the sizes beforehand; Katapi's works them out, and counts tokens and spells the placeholder besides.

Calls are interleaved in one process and one thread, and who goes first alternates. A ratio is the median of the ratios
of the rounds, in processor time. The table is printed.

Exit status: 1 where the arrays differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import katapi
from katapi.runtime.images.picture import Size
from katapi.runtime.images.pipeline import ImagePipeline, ProcessedImage

Reals = NDArray[np.float32]

SIZES = (Size(480, 640), Size(1024, 1024), Size(3000, 4000))
FORMATS: Mapping[str, Mapping[str, object]] = {"JPEG": {"quality": 90}, "PNG": {}}


class BenchError(Exception):
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


def milliseconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def row_of(name: str, size: Size, format: str, data: bytes, rounds: int) -> str:
    """One row of the table."""
    pipeline, plain = katapi.image_pipeline(name), PLAIN[name]
    found = pipeline.process_one(data)
    known = known_of(pipeline, found)
    if not np.array_equal(found.arrays["pixel_values"], plain(data, known)):
        raise BenchError(f"{name}, {format} of {size}: the arrays differ")
    sides = (lambda: pipeline.process_one(data)), (lambda: plain(data, known))
    ours, theirs = [], []
    for number in range(rounds):
        took = {index: milliseconds(sides[index]) for index in ((0, 1) if number % 2 else (1, 0))}
        ours.append(took[0])
        theirs.append(took[1])
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    times = f"{statistics.median(ours):.1f} | {statistics.median(theirs):.1f}"
    return f"| {name} | {format} {size} | {times} | {ratio:.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipelines", nargs="*", metavar="PIPELINE", help=f"any of {', '.join(PLAIN)}")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    print("| pipeline | image | Katapi, ms | Pillow and numpy, ms | ratio |\n| --- | --- | --- | --- | --- |")
    for size in SIZES:
        for format, options in FORMATS.items():
            buffer = BytesIO()
            photograph(size).save(buffer, format, **options)
            for name in given.pipelines or PLAIN:
                print(row_of(name, size, format, buffer.getvalue(), given.rounds), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        print(f"image_bench: {error}", file=sys.stderr)
        sys.exit(1)
