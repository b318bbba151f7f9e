"""Images, videos and sounds of a request, and the placeholder tokens that stand for each.

Of an image whose bytes were at hand it is recorded what stands for it. For others a template prints one or more control
tokens. Those whose names say what they stand for (`<|image_pad|>`,
`<start_of_image>`) are shared out in order, the same tokens for each. Where they cannot be, it is not known which
tokens stand for which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from katapi.divergence.plain import items, numbers, objects
from katapi.inspecting.values import written
from katapi.inspecting.view import Fact, Image
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.places import json_path
from katapi.runtime.record import Stages
from katapi.runtime.segments import Path
from katapi.runtime.stages import Stage

_KINDS = ("image", "video", "audio")


def images_of(stages: Stages, covered: Sequence[tuple[int, int]] = ()) -> tuple[Image, ...]:
    """The images, videos and sounds of the messages that were rendered, in order.

    `covered` are the segments of each token.
    """
    found = [*_parts(stages.get(Stage.REQUEST, {}))]
    spans = _spans(stages, [kind for kind, *_ in found])
    recorded = {_path(image): image for image in _recorded(stages)}
    placed = _placed(stages, covered)
    return tuple(
        Image(
            kind,
            message,
            json_path(path),
            placed.get(path, None if placed else span),
            (*facts, *_done(recorded[path])) if path in recorded else facts,
            path if path in placed else (),
        )
        for (kind, message, path, facts), span in zip(found, spans, strict=True)
    )


def _recorded(stages: Stages) -> list[JsonObject]:
    """The images whose bytes were at hand."""
    return [image for image in objects(stages.get(Stage.IMAGES, {}).get("images")) if "placeholder" in image]


def _path(image: JsonObject) -> Path:
    return tuple(step for step in items(image.get("path")) if isinstance(step, str | int))


def _done(image: JsonObject) -> Iterator[Fact]:
    """What is told of an image whose bytes were at hand."""
    record = image.get("record")
    digest = f"sha256 {str(image['sha256'])[:12]}…, " if image.get("sha256") else ""
    yield Fact("bytes", f"{image.get('size')}, {digest}from: {image.get('from')}")
    if isinstance(record, Mapping):
        yield from (Fact(name, written(record[name])) for name in ("pipeline", "source", "tokens") if name in record)


def _placed(stages: Stages, covered: Sequence[tuple[int, int]]) -> dict[Path, tuple[int, int]]:
    """The tokens of each image whose bytes were at hand, by its path: where its placeholder was printed.

    `covered` are the segments of each token.
    """
    segments = objects(stages.get(Stage.RENDERED, {}).get("segments"))
    spans: dict[Path, tuple[int, int]] = {}
    at = 0
    for image in _recorded(stages):
        wanted = [(str(kind), str(text)) for kind, text in _expanded(image)]
        first = next((start for start in range(at, len(segments)) if _stands(segments, start, wanted)), None)
        if first is None or not wanted:
            continue
        at = first + len(wanted)
        tokens = [index for index, (start, end) in enumerate(covered) if start < at and end > first]
        if tokens:
            spans[_path(image)] = (tokens[0], tokens[-1] + 1)
    return spans


def _expanded(image: JsonObject) -> Iterator[tuple[str, str]]:
    """The segments of a placeholder: the kind and the text of each."""
    for piece in items(image["placeholder"]):
        spelling, control, count, _ = items(piece)
        for _ in range(count if isinstance(count, int) else 0):
            yield "control" if control else "literal", str(spelling)


def _stands(segments: Sequence[JsonObject], start: int, wanted: Sequence[tuple[str, str]]) -> bool:
    """Whether a placeholder begins with a segment, printed at one place of the template."""
    found = segments[start : start + len(wanted)]
    return (
        len(found) == len(wanted)
        and all((one["kind"], one["text"]) == other for one, other in zip(found, wanted, strict=True))
        and all(one.get("site") == found[0].get("site") for one in found)
    )


def _parts(request: JsonObject) -> Iterator[tuple[str, int, Path, tuple[Fact, ...]]]:
    """Each part that is no text: its kind, message, path, and what else it says."""
    for index, message in enumerate(items(request.get("messages"))):
        content = message.get("content") if isinstance(message, Mapping) else None
        for number, part in enumerate(items(content)):
            kind = _kind(part)
            if kind is not None and isinstance(part, Mapping):
                facts = tuple(Fact(name, written(value)) for name, value in part.items() if name != "type")
                yield kind, index, ("messages", index, "content", number), facts


def _kind(part: Json) -> str | None:
    type_ = part.get("type") if isinstance(part, Mapping) else None
    return next((kind for kind in _KINDS if isinstance(type_, str) and kind in type_), None)


def _spans(stages: Stages, kinds: list[str]) -> list[tuple[int, int] | None]:
    """For each part its range of tokens."""
    spans: list[tuple[int, int] | None] = [None] * len(kinds)
    decision = stages.get(Stage.BUDGET, {}).get("decision")
    if isinstance(decision, Mapping) and decision.get("cut") is not None:
        return spans
    ids = numbers(stages.get(Stage.IDS, {}).get("input_ids"))
    controls = [s for s in objects(stages.get(Stage.RENDERED, {}).get("segments")) if s["kind"] == "control"]
    for kind in {*kinds}:
        own = [number for number, one in enumerate(kinds) if one == kind]
        named = {segment["id"] for segment in controls if kind in str(segment["text"]).lower()}
        at = [index for index, id in enumerate(ids) if id in named]
        size, rest = divmod(len(at), len(own))
        groups = [at[start : start + size] for start in range(0, len(at), size or 1)]
        alike = {tuple(ids[index] for index in group) for group in groups}
        if size and not rest and len(alike) == 1:
            for number, group in zip(own, groups, strict=True):
                spans[number] = (group[0], group[-1] + 1)
    return spans
