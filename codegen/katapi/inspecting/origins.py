"""Where segments and tokens came from, of the plain JSON in which a record has its segments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from katapi.divergence.plain import items
from katapi.inspecting.kinds import Shown
from katapi.inspecting.values import written
from katapi.inspecting.view import Part, Place
from katapi.runtime.json_types import JsonObject
from katapi.runtime.places import json_path
from katapi.runtime.segments import NOWHERE, Path

_KINDS: dict[str, Shown] = {"control": "control", "literal": "literal", "content": "content"}


def parts_of(segments: Sequence[JsonObject], sampled: set[int], spec: str) -> Iterator[Part]:
    """The segments; `sampled` are the indices of those that the model itself generates."""
    for index, segment in enumerate(segments):
        yield Part(_kind(segment), written(segment["text"]), index in sampled, _place_of(segment, spec))


def places_of(
    segments: Sequence[JsonObject], ranges: Sequence[tuple[int, int]], spec: str
) -> tuple[tuple[Place, ...], list[int]]:
    """Each place once, in the order in which tokens come from them; and for each token the index of its own.

    `ranges` are, for each token, the half-open range of segments that it covers.
    """
    known: dict[tuple[int, int], int] = {}
    indices = [known.setdefault(each, len(known)) for each in ranges]
    return tuple(_place(segments, parts, spec) for parts in known), indices


def paths_of(segments: Sequence[JsonObject], parts: tuple[int, int]) -> tuple[Path, ...] | None:
    """The places in the request; None where some of it is of an origin that is not known."""
    covered = _covered(segments, parts)
    if not covered or any(_kind(segment) == "unknown" for segment in covered):
        return None
    return tuple(_path(segment) for segment in covered if segment["kind"] == "content")


def _place(segments: Sequence[JsonObject], parts: tuple[int, int], spec: str) -> Place:
    covered = _covered(segments, parts)
    kinds = {_kind(segment) for segment in covered} or {"unknown"}
    paths = [_path(segment) for segment in covered if segment["kind"] == "content"]
    lines = [line for segment in covered if "site" in segment and (line := _line(segment, spec))]
    return Place(
        kinds.pop() if len(kinds) == 1 else "mixed",
        _message(paths),
        _field(paths),
        tuple(map(json_path, paths)),
        tuple(lines),
        parts,
    )


def _covered(segments: Sequence[JsonObject], parts: tuple[int, int]) -> list[JsonObject]:
    """The segments of a range; empty ones between others are no part of it."""
    start, end = parts
    return [segment for segment in segments[start:end] if segment["text"] or end - start == 1]


def _kind(segment: JsonObject) -> Shown:
    return _KINDS.get(str(segment["kind"]), "unknown")


def _path(segment: JsonObject) -> Path:
    return tuple(step for step in items(segment["path"]) if isinstance(step, str | int))


def _message(paths: Sequence[Path]) -> int | None:
    """The index of the message; None where there is none or several."""
    found = {path[1] for path in paths if path[:1] == ("messages",)}
    index = found.pop() if len(found) == 1 else None
    return index if isinstance(index, int) else None


def _field(paths: Sequence[Path]) -> str | None:
    """The field of that message, or the parameter of the request."""
    for path in paths:
        name = next(iter(path[2:] if path[:1] == ("messages",) else path), None)
        if isinstance(name, str):
            return name
    return None


def _place_of(segment: JsonObject, spec: str) -> str:
    """Where a segment came from, in the request or in the spec."""
    match segment["kind"]:
        case "content":
            path = json_path(_path(segment))
            return f"{path} from character {segment['start']}" if segment["start"] else path
        case "control" | "literal":
            return _line(segment, spec)
        case _:
            return ""


def _line(segment: JsonObject, spec: str) -> str:
    """The place in the spec; empty for what no line of it prints."""
    line, column, file = items(segment["site"])
    return "" if (line, column) == NOWHERE[:2] else f"{file or spec}:{line}:{column}"
