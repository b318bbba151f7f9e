"""What of an image is other than it was, in a sentence: the file, the pipeline, the decoder, or what was computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from katapi.runtime.json_types import Json

_WHAT = {
    "file": "the bytes of the file",
    "pipeline": "the declaration of its pipeline",
    "pixels": "what is decoded of the same file",
    "arrays": "what is computed of the same pixels",
    "placeholder": "what stands for it among the tokens",
}


class OfImages(NamedTuple):
    """What is other of the images of two runs."""

    said: str
    """What it is; empty where it is no image, nor their number."""
    explained: bool
    """Whether what was recorded of the image says why: another pipeline, or other versions of libraries."""


def why_images(old: Json, new: Json) -> OfImages:
    """What is other of the first image that is."""
    then, now = _images(old), _images(new)
    for number, (one, other) in enumerate(zip(then, now, strict=False)):
        before, after = _seen(one), _seen(other)
        first = next((name for name in before if before[name] != after[name]), None)
        if first is not None:
            cause = _pipelines(one, other) if first == "pipeline" else _libraries(one, other)
            with_ = f" ({cause})" if cause else ""
            return OfImages(f"other: images[{number}], {_WHAT[first]}{with_}", bool(cause) and first != "file")
    count = "" if len(then) == len(now) else f"other: images, {len(then)} then and {len(now)} now"
    return OfImages(count, explained=False)


def _images(value: Json) -> list[Mapping[str, Json]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def _seen(image: Mapping[str, Json]) -> dict[str, Json]:
    """What tells where two runs of an image part, the first in front."""
    return {
        "file": image.get("sha256"),
        "pipeline": _of(image.get("record"), "pipeline"),
        "pixels": _of(_of(image.get("record"), "source"), "pixels") or _of(image.get("record"), "frames"),
        "arrays": _of(image.get("record"), "arrays"),
        "placeholder": image.get("placeholder"),
    }


def _libraries(one: Mapping[str, Json], other: Mapping[str, Json]) -> str:
    """The libraries of which other versions ran."""
    old, new = _of(one.get("record"), "libraries"), _of(other.get("record"), "libraries")
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return ""
    return ", ".join(f"{name} {old[name]} then, {new.get(name)} now" for name in old if old[name] != new.get(name))


def _pipelines(one: Mapping[str, Json], other: Mapping[str, Json]) -> str:
    """The pipelines of both."""
    old, new = (_of(image.get("record"), "pipeline") for image in (one, other))
    return f"{_of(old, 'id')} then, {_of(new, 'id')} now"


def _of(value: Json, key: str) -> Json:
    return value.get(key) if isinstance(value, Mapping) else None
