"""What official image processors gave for files, and what a pipeline must give for the same: see `tests/vectors`."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import numpy as np
from PIL import Image

from katapi import MediaError
from katapi.runtime.images.arrays import Array
from katapi.runtime.images.pieces import Pieces, spelled
from katapi.runtime.images.pipeline import ImagePipeline, Processed


class Output(TypedDict):
    """An array that the processor gave."""

    name: str
    shape: list[int]
    dtype: str
    sha256_f32: str


class Placeholder(TypedDict):
    """What stood for an image in the text."""

    image_tokens: int
    string_sha256: NotRequired[str]


class Case(TypedDict):
    """One call of a processor."""

    id: str
    processor: str
    backend: Literal["pil", "torchvision", "opencv"]
    inputs: list[str]
    load: str
    accepted: bool
    error: NotRequired[str]
    message: NotRequired[str]
    outputs: NotRequired[list[Output]]
    placeholders: NotRequired[list[Placeholder]]


def _folder() -> Path:
    root = Path(__file__).parents[2]
    shared = root.parent / "shared" / "vectors" / "images"
    return shared if shared.exists() else root / "tests" / "vectors" / "images"


FOLDER = _folder()
"""The vectors of `../shared` where it exists, otherwise the share of them in this repository."""

CONFIGURATIONS = sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz"))
"""The configurations of processors, by name, but for the positions of M-RoPE."""
if "mrope" in CONFIGURATIONS:
    CONFIGURATIONS.remove("mrope")


def cases(configuration: str) -> Iterator[Case]:
    """The cases of a configuration."""
    with gzip.open(FOLDER / f"{configuration}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


@cache
def file(name: str) -> bytes:
    """An input file."""
    return (FOLDER / "inputs" / name).read_bytes()


@cache
def _inputs() -> Mapping[str, Mapping[str, object]]:
    described: Mapping[str, Mapping[str, object]] = json.loads((FOLDER / "inputs.json").read_text("utf-8"))
    return described


@cache
def decodes_as_then(name: str) -> bool:
    """Whether this Pillow decodes a file to the pixels to which it was decoded when the vectors were made."""
    with Image.open(BytesIO(file(name))) as image:
        return hashlib.sha256(np.asarray(image).tobytes()).hexdigest() == _inputs()[name]["decoded_sha256"]


def differences(case: Case, pipeline: ImagePipeline) -> Iterator[str]:
    """Each difference between what the processor gave and what the pipeline gives, which comes in the same way."""
    files = [file(name) for name in case["inputs"]]
    try:
        found = pipeline.process(*files)
    except MediaError as error:
        if case["accepted"]:
            yield f"refused: {error}"
        return
    if not case["accepted"]:
        if not _takes_rgb_alone(case):
            yield f"accepted, and the processor refused it: {case['message']}"
        return
    yield from _of_arrays(case, found)
    yield from _of_placeholders(case, found)
    for image, data in zip(found.images, files, strict=True):
        seen = pipeline.measure(data)
        shapes = {name: array.shape for name, array in image.arrays.items()}
        measured = (seen.size, seen.tokens, seen.placeholder, seen.shapes)
        if measured != (image.size, image.tokens, image.placeholder, shapes):
            yield f"measured from the header: {measured}"


def _takes_rgb_alone(case: Case) -> bool:
    """Whether SigLIP 2 refused an image for its mode: Katapi brings it to RGB, as `load_image` does."""
    message = case.get("message", "")
    wants = message.startswith("mean must have") or "converted to a PIL image contains values outside" in message
    return case["processor"] == "siglip2_naflex" and wants


def _of_arrays(case: Case, found: Processed) -> Iterator[str]:
    outputs = case.get("outputs", [])
    if sorted(found.arrays) != sorted(output["name"] for output in outputs):
        yield f"arrays: {sorted(found.arrays)}"
        return
    pixels_are_known = all(map(decodes_as_then, case["inputs"]))
    for output in outputs:
        array = found.arrays[output["name"]]
        dtype = output["dtype"].removeprefix("torch.").replace("bfloat16", "float32")
        if (array.dtype.name, list(array.shape)) != (dtype, output["shape"]):
            yield f"{output['name']}: {array.dtype} {array.shape}, not {dtype} {output['shape']}"
        elif _digest(array) != output["sha256_f32"] and (pixels_are_known or dtype != "float32"):
            yield f"{output['name']}: other numbers"


def _digest(array: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, "<f4").tobytes()).hexdigest()


_IDS = {"[IMG]": 10, "[IMG_BREAK]": 12, "[IMG_END]": 13}
"""The ids of mistral-common, which gives these for an image, and no text."""


def _standing(case: Case, pieces: Pieces) -> str:
    """What stands for an image, as the processor gives it."""
    if case["backend"] != "opencv":
        return spelled(pieces)
    return ",".join(str(_IDS[piece.spelling]) for piece in pieces for _ in range(piece.count))


def _of_placeholders(case: Case, found: Processed) -> Iterator[str]:
    expected = case.get("placeholders", [])
    for index, (placeholder, image) in enumerate(zip(expected, found.images, strict=True) if expected else ()):
        if image.tokens != placeholder["image_tokens"]:
            yield f"image {index}: {image.tokens} tokens, not {placeholder['image_tokens']}"
        text = placeholder.get("string_sha256")
        if text is not None and hashlib.sha256(_standing(case, image.placeholder).encode()).hexdigest() != text:
            yield f"image {index}: another placeholder"
