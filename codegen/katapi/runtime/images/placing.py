"""Puts the images and videos of a request into it: the parts whose bytes are at hand get their placeholders.

The template prints a placeholder where it stands, so that all that looks at what is printed (budgets, extensions, the
origins of tokens) has images in it without knowing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar, get_args

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.given import Bytes, GivenImage, GivenVideo, Images
from katapi.runtime.images.part import Carries, CarriesImage
from katapi.runtime.images.placeholder import Placeholder, pieces_of
from katapi.runtime.images.video_part import CarriesVideo
from katapi.runtime.places import json_path
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlToken, Path

if TYPE_CHECKING:
    from katapi.runtime.images.pipeline import ImagePipeline
    from katapi.runtime.images.videos import VideoPipeline

R = TypeVar("R", bound=RequestModel)
V = TypeVar("V")


@dataclass(frozen=True, eq=False)
class Shown:
    """How the images and videos of a model's requests are shown."""

    controls: type[ControlToken]
    """The control tokens of its vocabulary."""
    pipeline: Callable[[], ImagePipeline] | None
    """The pipeline that its template names for images, loaded when the first image comes; None where it names none."""
    videos: Callable[[], VideoPipeline] | None = None
    """That for videos."""

    def shows(self, part: Carries) -> bool:
        """Whether the template names a pipeline for what a part carries."""
        return (self.videos if isinstance(part, CarriesVideo) else self.pipeline) is not None


def placed(request: R, shown: Shown | None, images: Images, past: int = 0) -> R:
    """A request, the bytes of its images and videos found and measured; those of its first messages, `past`, stay.

    Where no part of it has a source and nothing is attached, the request itself; so for a model without a pipeline.
    Raises `MediaError` M100 to M109 for an image that cannot be measured and M114 to M116 for a film, M120 where not as
    many are attached as parts have no source, M121 where some parts have bytes and others have none, M122 to M124 where
    bytes may not be had, M126 for a placeholder of another vocabulary, and M127 where what is attached is shown by no
    pipeline.
    """
    _check_shown(shown, images)
    if shown is None:
        return request
    every = [(path, part) for path, part in parts_of(request) if shown.shows(part)]
    parts = [(path, part) for path, part in every if part.placeholder is None and not _before(path, past)]
    bare = [path for path, part in every if part.placeholder is None and _before(path, past)]
    if not images.attached and not images.films and not any(part.says_where for _, part in parts):
        bare += [path for path, _ in parts]
        if bare and len(bare) < len(every):
            raise _without_bytes(bare[0])
        return request
    if bare:
        raise _without_bytes(bare[0])
    for kind, attached in ((CarriesImage, len(images.attached)), (CarriesVideo, len(images.films))):
        without = [path for path, part in parts if isinstance(part, kind) and not part.says_where]
        if without and not attached:
            raise _without_bytes(without[0])
        if len(without) != attached:
            raise _miscounted(without, attached, "image" if kind is CarriesImage else "film")
    placeholders = _placeholders(parts, shown, images)

    def changed(path: Path, part: Carries) -> Carries:
        return part.with_placeholder(placeholders[path]) if path in placeholders else part

    return with_parts(request, (), changed)


def _placeholders(parts: Sequence[tuple[Path, Carries]], shown: Shown, images: Images) -> dict[Path, Placeholder]:
    """What stands for each part, in the order in which their bytes are asked for."""
    pipeline = shown.pipeline and shown.pipeline()
    videos = shown.videos and shown.videos()
    most = max(one.reading.limits.bytes for one in (pipeline, videos) if one is not None)
    found = Bytes(images, most)
    placeholders: dict[Path, Placeholder] = {}
    for path, part in parts:
        where = json_path(path)
        given: GivenImage | GivenVideo
        if isinstance(part, CarriesVideo):
            assert videos is not None, "the caller asks for what is shown"
            given = found.film_of(part.comes_from, _loading(videos, images.load), where)
        else:
            assert isinstance(part, CarriesImage)
            assert pipeline is not None, "the caller asks for what is shown"
            given = GivenImage(*found.of(part.comes_from, where), pipeline.loading(images.load), where)
        placeholders[path] = Placeholder(given, pieces_of(given.measured, shown.controls, where))
    return placeholders


def _loading(pipeline: VideoPipeline, way: str | None) -> VideoPipeline:
    """The pipeline for frames that come in as the images of a request do, where it declares that way."""
    return pipeline.loading(way) if way in pipeline.ways else pipeline


def _check_shown(shown: Shown | None, images: Images) -> None:
    for attached, what, pipeline in (
        (images.attached, "images", shown and shown.pipeline),
        (images.films, "films", shown and shown.videos),
    ):
        if attached and pipeline is None:
            message = f"{what} are attached, and the template of this model names no pipeline for them"
            raise MediaError(message, code="M127", where="attached[0]", help="send none to this model")


def holds_parts(value: object) -> bool:
    """Whether a part that carries an image or video is in a value: every request is looked through, few have one."""
    if isinstance(value, tuple):
        return any(holds_parts(item) for item in value if not isinstance(item, str))
    fields = _fields_of(type(value))
    if fields is None:
        return True
    for name in fields:
        inner: object = getattr(value, name)
        if inner is not None and not isinstance(inner, str) and holds_parts(inner):
            return True
    return False


def parts_of(request: RequestModel) -> list[tuple[Path, Carries]]:
    """The parts of a request that carry images or videos, each with its place, in order."""
    found: list[tuple[Path, Carries]] = []
    _find_parts(request, (), found)
    return found


def _find_parts(value: object, path: Path, found: list[tuple[Path, Carries]]) -> None:
    """Adds the parts in a value at a place of a request."""
    if isinstance(value, tuple):
        for at, item in enumerate(value):
            if not isinstance(item, str):
                _find_parts(item, (*path, at), found)
        return
    fields = _fields_of(type(value))
    if fields is None:
        assert isinstance(value, Carries)
        found.append((path, value))
        return
    for name in fields:
        inner: object = getattr(value, name)
        if inner is not None and not isinstance(inner, str):
            _find_parts(inner, (*path, name), found)


def _fields_of(kind: type[object]) -> tuple[str, ...] | None:
    """The fields to look into of a value of any type; None for a part that carries an image itself.

    Remembered, since to ask pydantic's classes whether one is a subclass takes longer than all else here.
    """
    if kind not in _FIELDS:
        if issubclass(kind, Carries):
            _FIELDS[kind] = None
        else:
            _FIELDS[kind] = _lead_to_images(kind) if issubclass(kind, RequestModel) else ()
    return _FIELDS[kind]


_FIELDS: dict[type[object], tuple[str, ...] | None] = {}


def _before(path: Path, messages: int) -> bool:
    """Whether a part is one of the first messages."""
    match path:
        case ("messages", int(index), *_):
            return index < messages
        case _:
            return messages > 0


def _miscounted(parts: Sequence[Path], attached: int, what: str) -> MediaError:
    """What to raise where other than `attached` parts say of no source."""
    are = f"1 {what} is" if attached == 1 else f"{attached} {what}s are"
    say = "1 part says" if len(parts) == 1 else f"{len(parts)} parts say"
    return MediaError(
        f"{are} attached, and {say} of no source",
        code="M120",
        where=json_path(parts[attached]) if attached < len(parts) else f"attached[{len(parts)}]",
        help=f'attach one for each part that says of no source, {{"type": "{_TYPES[what]}"}}, in their order',
    )


_TYPES = {"image": "image", "film": "video"}


def _without_bytes(path: Path) -> MediaError:
    return MediaError(
        "the bytes of this image or video are not at hand, and those of others are",
        code="M121",
        where=json_path(path),
        help="attach it, or send its bytes in the part",
    )


def with_parts(value: V, path: Path, change: Callable[[Path, Carries], Carries]) -> V:
    """A value at a place of a request, each part changed that carries an image or video; the same where none is."""
    after: object = value
    match value:
        case Carries():
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
    """The fields of a model in whose values parts may stand that carry images or videos."""
    return tuple(name for name, field in model.model_fields.items() if _may_hold(field.annotation))


def _may_hold(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, RequestModel):
        return issubclass(annotation, Carries) or bool(_lead_to_images(annotation))
    return any(_may_hold(inner) for inner in get_args(annotation))
