"""Puts the images of a request into it: the parts whose bytes are at hand get their placeholders.

The template prints a placeholder where it stands, so that all that looks at what is printed (budgets, extensions, the
origins of tokens) has images in it without knowing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar, get_args

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.given import Bytes, GivenImage, Images
from katapi.runtime.images.part import CarriesImage
from katapi.runtime.images.placeholder import Placeholder, pieces_of
from katapi.runtime.places import json_path
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlToken, Path

if TYPE_CHECKING:
    from katapi.runtime.images.pipeline import ImagePipeline

R = TypeVar("R", bound=RequestModel)
V = TypeVar("V")


@dataclass(frozen=True, eq=False)
class Shown:
    """How the images of a model's requests are shown."""

    controls: type[ControlToken]
    """The control tokens of its vocabulary."""
    pipeline: Callable[[], ImagePipeline]
    """The pipeline that its template names, loaded when the first image comes."""


def placed(request: R, shown: Shown | None, images: Images, past: int = 0) -> R:
    """A request, the bytes of its images found and measured; those of its first messages, `past`, stay as they are.

    Where no part of it has a source and nothing is attached, the request itself; so for a model without a pipeline.
    Raises `MediaError` M100 to M109 for an image that cannot be measured, M120 where not as many are attached as parts
    have no source, M121 where some parts have bytes and others have none, M122 to M124 where bytes may not be had,
    M126 for a placeholder of another vocabulary, and M127 where images are attached and the model shows none.
    """
    every = parts_of(request)
    parts = [(path, part) for path, part in every if part.placeholder is None and not _before(path, past)]
    if shown is None:
        if images.attached:
            message = "images are attached, and the template of this model names no pipeline for them"
            raise MediaError(message, code="M127", where="attached[0]", help="send none to this model")
        return request
    bare = [path for path, part in every if part.placeholder is None and _before(path, past)]
    if not images.attached and all(part.comes_from is None for _, part in parts):
        bare += [path for path, _ in parts]
        if bare and len(bare) < len(every):
            raise _without_bytes(bare[0])
        return request
    if bare:
        raise _without_bytes(bare[0])
    without = [path for path, part in parts if part.comes_from is None]
    if without and not images.attached:
        raise _without_bytes(without[0])
    if len(without) != len(images.attached):
        raise _miscounted(without, len(images.attached))
    pipeline = shown.pipeline().loading(images.load)
    found = Bytes(images, pipeline.reading.limits.bytes)
    placeholders: dict[Path, Placeholder] = {}
    for path, part in parts:
        where = json_path(path)
        image = GivenImage(*found.of(part.comes_from, where), pipeline, where)
        standing = pipeline.measure(image.data, media_type=image.media_type, where=where)
        placeholders[path] = Placeholder(image, pieces_of(standing.placeholder, shown.controls, where))

    def changed(path: Path, part: CarriesImage) -> CarriesImage:
        return part.with_placeholder(placeholders[path]) if path in placeholders else part

    return with_parts(request, (), changed)


def parts_of(request: RequestModel) -> list[tuple[Path, CarriesImage]]:
    """The parts of a request that carry images, each with its place, in order."""
    found: list[tuple[Path, CarriesImage]] = []

    def note(path: Path, part: CarriesImage) -> CarriesImage:
        found.append((path, part))
        return part

    if _lead_to_images(type(request)):
        with_parts(request, (), note)
    return found


def _before(path: Path, messages: int) -> bool:
    """Whether a part is one of the first messages."""
    match path:
        case ("messages", int(index), *_):
            return index < messages
        case _:
            return messages > 0


def _miscounted(parts: Sequence[Path], attached: int) -> MediaError:
    """What to raise where other than `attached` parts say of no source."""
    are = "1 image is" if attached == 1 else f"{attached} images are"
    say = "1 part says" if len(parts) == 1 else f"{len(parts)} parts say"
    return MediaError(
        f"{are} attached, and {say} of no source",
        code="M120",
        where=json_path(parts[attached]) if attached < len(parts) else f"attached[{len(parts)}]",
        help='attach one for each part that says of no source, {"type": "image"}, in their order',
    )


def _without_bytes(path: Path) -> MediaError:
    return MediaError(
        "the bytes of this image are not at hand, and those of others are",
        code="M121",
        where=json_path(path),
        help="attach it, or send its bytes in the part",
    )


def with_parts(value: V, path: Path, change: Callable[[Path, CarriesImage], CarriesImage]) -> V:
    """A value at a place of a request with each part in it changed that carries an image; the same where none is."""
    after: object = value
    match value:
        case CarriesImage():
            after = change(path, value)
        case RequestModel():
            changes: dict[str, object] = {}
            for name in _lead_to_images(type(value)):
                before: object = getattr(value, name)
                new = with_parts(before, (*path, name), change)
                if new is not before:
                    changes[name] = new
            after = value.model_copy(update=changes) if changes else value
        case tuple():
            items = [with_parts(item, (*path, at), change) for at, item in enumerate(value)]
            same = all(item is before for item, before in zip(items, value, strict=True))
            after = value if same else tuple(items)
        case _:
            pass
    return after  # type: ignore[return-value]  # each value is changed into one of its own type


@cache
def _lead_to_images(model: type[RequestModel]) -> tuple[str, ...]:
    """The fields of a model in whose values parts may stand that carry images."""
    return tuple(name for name, field in model.model_fields.items() if _may_hold(field.annotation))


def _may_hold(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, RequestModel):
        return issubclass(annotation, CarriesImage) or bool(_lead_to_images(annotation))
    return any(_may_hold(inner) for inner in get_args(annotation))
