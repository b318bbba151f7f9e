"""The smallest difference of what two templates printed: a character of a segment, or the segments themselves."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from katapi.divergence.characters import named
from katapi.divergence.difference import Difference, Excerpt, Kind
from katapi.divergence.json_values import json_difference, missing_items, read_json
from katapi.divergence.plain import items, objects
from katapi.divergence.texts import text_difference
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.places import SHOWN, json_path, quoted
from katapi.runtime.record import canonical_json

UNKNOWN = "unknown"
"""The kind of a segment of a foreign execution: a text of which nothing says what in it is control or content."""


class Printed(NamedTuple):
    """What was printed: the `segments`, their texts as one `text`, and in `starts` where each begins in it."""

    segments: list[JsonObject]
    text: str
    starts: list[int]

    def at(self, place: int) -> tuple[int, JsonObject] | None:
        """The segment in which a character stands, or the one that ends there; None where nothing was printed."""
        index = min(bisect_right(self.starts, place), len(self.segments)) - 1
        return (index, self.segments[index]) if index >= 0 else None


def printed(stage: JsonObject) -> Printed:
    """What was printed, of the content of the stage."""
    segments = objects(stage["segments"])
    texts = [str(segment["text"]) for segment in segments]
    return Printed(segments, "".join(texts), [0, *accumulate(map(len, texts))][: len(texts)])


def is_foreign(stage: JsonObject) -> bool:
    """Whether nothing says of what was printed which segments it has."""
    return any(segment["kind"] == UNKNOWN for segment in objects(stage["segments"]))


def rendered_difference(one: JsonObject, other: JsonObject, *, of_digests: bool = False) -> Difference | None:
    """The smallest difference of what was printed; segments count where both executions tell them.

    With `of_digests` contents are digests, and no place in them means anything.
    """
    a, b = printed(one), printed(other)
    if a.text != b.text and not of_digests:
        return _texts(a, b)
    if is_foreign(one) or is_foreign(other):
        return None
    return _segments(a.segments, b.segments) or json_difference(one, other)


def _texts(a: Printed, b: Printed) -> Difference:
    found = text_difference(a.text, b.text)
    assert found is not None
    kind, start, ends = found
    inserted = _inserted(a, b, start) if kind is Kind.TEXT else None
    if inserted is not None:
        start, ends = inserted
    where = f"{_segment(a, b, start)}character {start}, byte {len(a.text[:start].encode('utf-8', 'surrogatepass'))}"
    excerpts = Excerpt(a.text, start, ends[0]), Excerpt(b.text, start, ends[1])
    name = named if inserted is None else _stretch
    first, second = name(a.text[start : ends[0]]), name(b.text[start : ends[1]])
    reordered = _reordered(a, b, start)
    if reordered is not None:
        return Difference(reordered.kind, f"{where}{reordered.where}", reordered.first, reordered.second, excerpts)
    return Difference(kind, where, first, second, excerpts)


def _inserted(a: Printed, b: Printed, start: int) -> tuple[int, tuple[int, int]] | None:
    """Where one text stands as a whole in the other but for a stretch: that stretch, its start and its ends in both.

    A stretch that can begin earlier as well, as one that ends with the control token in front of it, begins there with
    the control token.
    """
    shorter, longer = sorted((a.text, b.text), key=len)
    length = len(longer) - len(shorter)
    if not length or longer[start + length :] != shorter[start:]:
        return None
    controls = (
        at for side in (a, b) for at, one in zip(side.starts, side.segments, strict=True) if one["kind"] == "control"
    )
    nearest = max((at for at in controls if at <= start), default=start)
    if longer[nearest:start] == longer[nearest + length : start + length]:
        start = nearest
    return start, (start + length, start) if longer is a.text else (start, start + length)


def _stretch(text: str) -> str:
    """A text in quotes, its beginning and its length where it is long; empty for none."""
    if not text:
        return ""
    return quoted(text) if len(text) <= SHOWN else f"{quoted(text)}, {len(text)} characters"


def _segment(a: Printed, b: Printed, place: int) -> str:
    """The segment of a place, of those that tell segments: one name where they have one in common, else both."""
    names = [names for side in (a, b) if (names := _names(side, place))]
    if not names:
        return ""
    common = [name for name in names[0] if name in names[-1]]
    return f"{common[0] if common else ' or '.join(sorted(side[0] for side in names))}, "


def _names(side: Printed, place: int) -> list[str]:
    """The segment in which a place is, and the one that ends there."""
    found = [side.at(place), side.at(place - 1) if place else None]
    names = [f"segment {at[0]} ({describe(at[1])})" for at in found if at is not None and at[1]["kind"] != UNKNOWN]
    return [*dict.fromkeys(names)]


def describe(segment: JsonObject) -> str:
    """What a segment is: a control token, text of a line of the template, or content of a path."""
    match segment["kind"]:
        case "control":
            return f"control {segment['text']}"
        case "literal":
            line, column, file = items(segment["site"])
            return f"literal of {f'{file}:' if file else 'line '}{line}:{column}"
        case "content":
            return f"content of {json_path([step for step in items(segment['path']) if isinstance(step, int | str)])}"
        case _:
            return str(segment["kind"])


def _reordered(a: Printed, b: Printed, place: int) -> Difference | None:
    """The JSON around a place where it is the same in both but for the order of keys; or segments in another order."""
    found_at = [(side, side.at(place)) for side in (a, b)]
    starts = {side.starts[at[0]] for side, at in found_at if at is not None and at[1]["kind"] == "content"}
    for one in sorted(starts):
        values = _json_at(a.text, one), _json_at(b.text, one)
        if None in values or canonical_json(values[0]) == canonical_json(values[1]):
            continue
        found = json_difference(values[0], values[1])
        if found is not None and found.kind is Kind.KEY_ORDER:
            return Difference(found.kind, f", JSON {found.where}".rstrip(), found.first, found.second)
    counts = [Counter((s["kind"], s["text"]) for s in side.segments) for side in (a, b)]
    if counts[0] == counts[1]:
        first, second = (side.at(place) for side in (a, b))
        assert first is not None
        assert second is not None
        return Difference(Kind.ORDER, "", quoted(str(first[1]["text"])), quoted(str(second[1]["text"])))
    return None


def _json_at(text: str, start: int) -> Json:
    """The JSON object or array that begins at a place; None where there is none."""
    if text[start : start + 1] not in ("{", "["):
        return None
    try:
        end = json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None
    return read_json(text[start:end])


def _segments(one: list[JsonObject], other: list[JsonObject]) -> Difference | None:
    """The first segment of another kind, path or place in the template; the text is the same."""
    spelled = [canonical_json(s) for s in one], [canonical_json(s) for s in other]
    if spelled[0] == spelled[1]:
        return None
    start, end = missing_items(*spelled)
    if start < end:
        longer = one if len(one) > len(other) else other
        shown = f"{describe(longer[start])}: {quoted(str(longer[start]['text']))}"
        return Difference(
            Kind.MISSING, f"segment {start}", shown if longer is one else "", shown if longer is other else ""
        )
    index = next(n for n, (a, b) in enumerate(zip(*spelled, strict=False)) if a != b)
    shown_both = [f"{describe(side[index])}: {quoted(str(side[index]['text']))}" for side in (one, other)]
    return Difference(Kind.ORIGIN, f"segment {index}", shown_both[0], shown_both[1])
