"""Images, videos and sounds of a request, and the placeholder tokens that stand for each.

A template prints one or more control tokens for each. Those whose names say what they stand for (`<|image_pad|>`,
`<start_of_image>`) are shared out in order, the same tokens for each. Where they cannot be, it is not known which
tokens stand for which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from katapi.divergence.plain import items, numbers, objects
from katapi.inspecting.values import written
from katapi.inspecting.view import Fact, Image
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.places import json_path
from katapi.runtime.record import Stages
from katapi.runtime.segments import Path
from katapi.runtime.stages import Stage

_KINDS = ("image", "video", "audio")


def images_of(stages: Stages) -> tuple[Image, ...]:
    """The images, videos and sounds of the messages that were rendered, in order."""
    found = [*_parts(stages.get(Stage.REQUEST, {}))]
    spans = _spans(stages, [kind for kind, *_ in found])
    return tuple(
        Image(kind, message, json_path(path), span, facts)
        for (kind, message, path, facts), span in zip(found, spans, strict=True)
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
