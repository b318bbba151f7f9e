"""What of an image is other than it was, in a sentence: the file, the decoder, or what was done with it."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.runtime.json_types import Json

_WHAT = {
    "file": "the bytes of the file",
    "pixels": "what is decoded of the same file",
    "arrays": "what is computed of the same pixels",
    "placeholder": "what stands for it among the tokens",
}


def why_images(old: Json, new: Json) -> str:
    """What is other of the first image that is; empty where no image is, or their number."""
    then, now = _images(old), _images(new)
    for number, (one, other) in enumerate(zip(then, now, strict=False)):
        before, after = _seen(one), _seen(other)
        first = next((name for name in before if before[name] != after[name]), None)
        if first is not None:
            libraries = _libraries(one, other)
            with_ = f" ({libraries})" if libraries else ""
            return f"other: images[{number}], {_WHAT[first]}{with_}"
    return "" if len(then) == len(now) else f"other: images, {len(then)} then and {len(now)} now"


def _images(value: Json) -> list[Mapping[str, Json]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def _seen(image: Mapping[str, Json]) -> dict[str, Json]:
    """What tells where two runs of an image part, the first in front."""
    return {
        "file": image.get("sha256"),
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


def _of(value: Json, key: str) -> Json:
    return value.get(key) if isinstance(value, Mapping) else None
