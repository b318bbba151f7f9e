"""The smallest difference of one stage of two executions, in the terms of that stage."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.divergence.difference import Difference, Kind, of_both
from katapi.divergence.json_values import json_difference, missing_items
from katapi.divergence.known import Known
from katapi.divergence.plain import items, numbers, objects
from katapi.divergence.printed import describe, rendered_difference
from katapi.divergence.raw_bytes import bytes_difference
from katapi.divergence.texts import parting
from katapi.runtime.json_types import JsonObject
from katapi.runtime.stages import Stage


def stage_difference(stage: Stage, one: Known, other: Known) -> Difference | None:
    """The smallest difference of a stage that is known of both; None where it is the same."""
    a, b = one.stages[stage], other.stages[stage]
    match stage:
        case Stage.BYTES:
            return bytes_difference(a, b, one.raw, other.raw)
        case Stage.REQUEST:
            return _declaration(a, b) or json_difference(_request(a), _request(b)) or json_difference(a, b)
        case Stage.BUDGET:
            return _budget(a, b)
        case Stage.TEMPLATE | Stage.TOKENIZER:
            return _declaration(a, b) or json_difference(a, b)
        case Stage.RENDERED:
            return rendered_difference(a, b, of_digests=one.redaction == "digests")
        case Stage.RUNS:
            return _runs(a, b)
        case Stage.IDS:
            return _ids(one, other)
        case Stage.TENSORS:
            return _tensors(a, b)
        case Stage.IMAGES:
            return _pipeline(a, b) or json_difference(a, b)


def _request(stage: JsonObject) -> JsonObject:
    """What the request says, by the paths that it has in a request."""
    parameters = stage["parameters"]
    assert isinstance(parameters, Mapping)
    return {"messages": stage["messages"], **parameters}


def _declaration(one: JsonObject, other: JsonObject) -> Difference | None:
    """Another name or version of what was declared, or another meaning under the same; and which part of it."""
    if (one["id"], one["digest"]) == (other["id"], other["digest"]):
        return None
    parts = [stage.get("parts") for stage in (one, other)]
    changed = [
        name
        for name, part in (parts[0].items() if isinstance(parts[0], Mapping) else ())
        if not isinstance(parts[1], Mapping) or parts[1].get(name) != part
    ]
    where = "id" if one["id"] != other["id"] else "digest"
    shown = [f"{stage['id']} ({str(stage['digest'])[:19]}…)" for stage in (one, other)]
    return of_both(Kind.DECLARATION, ", ".join((where, *(f"parts.{name}" for name in changed))), shown)


def _pipeline(one: JsonObject, other: JsonObject) -> Difference | None:
    """Another pipeline for the first image that is other, its file being the same."""
    for index, pair in enumerate(zip(objects(one["images"]), objects(other["images"]), strict=False)):
        if pair[0] != pair[1]:
            records = [image.get("record") for image in pair]
            pipelines = [record["pipeline"] for record in records if isinstance(record, Mapping)]
            if pair[0].get("sha256") != pair[1].get("sha256") or len(pipelines) != 2 or pipelines[0] == pipelines[1]:
                return None
            shown = [f"{p['id']} ({str(p['digest'])[:19]}…)" for p in pipelines if isinstance(p, Mapping)]
            return of_both(Kind.DECLARATION, f"images[{index}].record.pipeline", shown)
    return None


# ---- budget


def _budget(one: JsonObject, other: JsonObject) -> Difference | None:
    """Another policy; else the first choice that is another, the cut, or what is left."""
    if one["budget"] is None or other["budget"] is None:
        names = [str(b["id"]) if isinstance(b := stage["budget"], Mapping) else "" for stage in (one, other)]
        return of_both(Kind.MISSING, "budget", names) if names[0] != names[1] else json_difference(one, other)
    decisions = [stage["decision"] if isinstance(stage["decision"], Mapping) else {} for stage in (one, other)]
    asked = ("budget", "required", "together")
    return (
        json_difference({key: one[key] for key in asked}, {key: other[key] for key in asked})
        or _choices(objects(decisions[0].get("choices")), objects(decisions[1].get("choices")))
        or json_difference(decisions[0].get("cut"), decisions[1].get("cut"), ("decision", "cut"))
        or json_difference(one, other)
    )


def _choices(one: list[JsonObject], other: list[JsonObject]) -> Difference | None:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            same = (a.get("section"), a.get("at")) == (b.get("section"), b.get("at"))
            where = f"choice {index} ({_item(a)})" if same else f"choice {index}"
            return of_both(Kind.CHOICE, where, [_chosen(each, with_item=not same) for each in (a, b)])
    if len(one) == len(other):
        return None
    index = min(len(one), len(other))
    shown = [_chosen(side[index], with_item=True) if index < len(side) else "" for side in (one, other)]
    return of_both(Kind.MISSING, f"choice {index}", shown)


def _item(choice: JsonObject) -> str:
    return f"{choice.get('section')} {', '.join(map(str, items(choice.get('at'))))}".rstrip()


def _chosen(choice: JsonObject, *, with_item: bool) -> str:
    before, after = choice.get("before"), choice.get("after")
    counts = "" if after is None else f", {before} to {after} tokens"
    said = f"{'kept' if choice.get('kept') else 'left out'}: {choice.get('why')}{counts}"
    return f"{_item(choice)} {said}" if with_item else said


# ---- runs, ids, tensors


def _runs(one: JsonObject, other: JsonObject) -> Difference | None:
    """The first run of other segments or ids."""
    runs = [[numbers(run) for run in items(stage["runs"])] for stage in (one, other)]
    index = next((n for n, (a, b) in enumerate(zip(*runs, strict=False)) if a != b), min(map(len, runs)))
    shown = [_run(side[index]) if index < len(side) else "" for side in runs]
    if shown == ["", ""]:
        return None
    if not all(shown):
        return of_both(Kind.MISSING, f"run {index}", shown)
    same = runs[0][index][:2] == runs[1][index][:2]
    return of_both(Kind.VALUE if same else Kind.ORIGIN, f"run {index}", shown)


def _run(run: list[int]) -> str:
    return f"segments {run[0]} to {run[1]}, ids {run[2]} to {run[3]}"


def _ids(one: Known, other: Known) -> Difference | None:
    """The first id that is another, or the ids that one of them lacks; with the segments that the run is of."""
    sides = [numbers(each.stages[Stage.IDS]["input_ids"]) for each in (one, other)]
    if sides[0] == sides[1]:
        return None
    seen = [_seen(each, ids) for each, ids in zip((one, other), sides, strict=True)]
    if seen[0] == seen[1]:
        hidden = [len(ids) - len(left) for ids, left in zip(sides, seen, strict=True)]
        counts = [f"{count} that the mask leaves out" if count else "" for count in hidden]
        return of_both(Kind.PADDING, f"token {parting(*sides)}", counts)
    start, end = missing_items(*sides)
    if start == end:
        start = parting(*sides)
    where = f"token {start}{_source(one, other, start)}"
    if start < end or start == min(map(len, sides)):
        first = len(sides[0]) > len(sides[1])
        lacked = max(sides, key=len)[start : end if start < end else None]
        shown = f"{lacked[0]}" + (f" and {len(lacked) - 1} more" if len(lacked) > 1 else "")
        return Difference(Kind.MISSING, where, shown if first else "", "" if first else shown)
    return Difference(Kind.TOKEN, where, str(sides[0][start]), str(sides[1][start]))


def _seen(side: Known, ids: list[int]) -> list[int]:
    """The ids without those that the mask leaves out, where it is known."""
    mask = numbers(side.stages.get(Stage.TENSORS, {}).get("attention_mask"))
    return [id for id, seen in zip(ids, mask, strict=True) if seen] if len(mask) == len(ids) else ids


def _source(one: Known, other: Known, index: int) -> str:
    """What the token is of, where that is known and is the same for all who know it."""
    found = {source for each in (one, other) if (source := _segments_of(each, index))}
    return f" ({found.pop()})" if len(found) == 1 else ""


def _segments_of(side: Known, index: int) -> str:
    """The segments of the run that a token is of."""
    if Stage.RUNS not in side.stages or Stage.RENDERED not in side.stages:
        return ""
    segments = objects(side.stages[Stage.RENDERED]["segments"])
    for start, end, first, behind in (numbers(run) for run in items(side.stages[Stage.RUNS]["runs"])):
        if first <= index < behind and start < end <= len(segments):
            more = f" and {end - start - 1} more" if end - start > 1 else ""
            return f"of segment {start}, {describe(segments[start])}{more}"
    return ""


def _tensors(one: JsonObject, other: JsonObject) -> Difference | None:
    """Another length; else the first cell that is another, of what both tell."""
    if one["length"] != other["length"]:
        return of_both(Kind.VALUE, "length", (str(one["length"]), str(other["length"])))
    for name in ("attention_mask", "position_ids"):
        if name not in one or name not in other:
            continue
        cells = numbers(one[name]), numbers(other[name])
        index = next((n for n, (a, b) in enumerate(zip(*cells, strict=False)) if a != b), min(map(len, cells)))
        shown = [str(side[index]) if index < len(side) else "" for side in cells]
        if shown != ["", ""]:
            where = f"{name}[{index}]{_shift(*cells, index)}"
            return of_both(Kind.CELL if all(shown) else Kind.MISSING, where, shown)
    return json_difference(
        {key: one[key] for key in one if key in other}, {key: other[key] for key in other if key in one}
    )


def _shift(one: list[int], other: list[int], index: int) -> str:
    """Where all cells from one on are apart by the same number: that they are."""
    apart = {abs(b - a) for a, b in zip(one[index:], other[index:], strict=False)}
    count = len(one) - index
    return f", and {count - 1} more by the same {apart.pop()}" if len(apart) == 1 and count > 1 else ""
