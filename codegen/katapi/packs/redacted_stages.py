"""What of a redacted stage can still be checked: all that is no content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from katapi.packs.pack import Pack
from katapi.packs.redaction import HIDDEN
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.record import canonical_json
from katapi.runtime.stages import Stage


class Checked(NamedTuple):
    """Whether what is left `agrees`, None where nothing is left to say so; and what was looked at, `why`."""

    agrees: bool | None
    why: str


def checked(stage: Stage, pack: Pack, now: JsonObject | None) -> Checked | None:
    """What can be said of a stage of a redacted pack; None for a stage that is compared as any other.

    `now` is the stage of the redacted request, executed now; None where that was not reached.
    """
    old = pack.stages[stage]
    match stage:
        case Stage.BYTES:
            return Checked(None, "the bytes are redacted")
        case Stage.REQUEST if now is not None:
            same = canonical_json(old["messages"]) == canonical_json(now["messages"])
            return None if same else Checked(None, "the redacted request is read in another form")
        case Stage.BUDGET if old["decision"] is not None:
            return Checked(None, "placeholders have other numbers of tokens than what was counted")
        case Stage.IMAGES if now is not None and old["images"]:
            return Checked(None, "the images are redacted")
        case Stage.RENDERED:
            return _rendered(pack, old, now)
        case Stage.RUNS if _whole(pack):
            if now is None or not _same_shape(pack, old, now):
                return Checked(None, "it goes by what was printed")
            return Checked(True, "which segments are a run; the numbers of their ids are not checked")
        case Stage.IDS if _whole(pack):
            return _ids(pack, old)
        case Stage.TENSORS:
            count = old["length"]
            assert isinstance(count, int)
            same = _items(old["attention_mask"]) == [1] * count and _items(old["position_ids"]) == [*range(count)]
            return Checked(same, "mask and positions are those of so many tokens")
        case Stage.RUNS | Stage.IDS:
            return Checked(None, "tokens were cut off")
        case Stage.REQUEST | Stage.BUDGET | Stage.IMAGES | Stage.TEMPLATE | Stage.TOKENIZER:
            return None if now is not None else Checked(None, "the redacted request is refused now")


def _whole(pack: Pack) -> bool:
    """Whether no token was cut off."""
    return bool(pack.stages[Stage.RUNS]["runs"])


def _rendered(pack: Pack, old: JsonObject, now: JsonObject | None) -> Checked:
    """Whether control tokens, texts of the template and the places of contents are the same."""
    lengths = pack.redaction == "placeholders"
    if now is not None and _shapes(old, lengths=lengths) == _shapes(now, lengths=lengths):
        also = ", and the lengths of contents" if lengths else ""
        return Checked(True, f"control tokens, texts of the template, the places of contents{also}")
    return Checked(None, "the template prints redacted contents in another form, or not at all")


def _shapes(stage: JsonObject, *, lengths: bool) -> list[Json]:
    """The segments without the texts of contents; with the lengths of those that are stretches of the request."""
    out: list[Json] = [stage["sampled"]]
    for segment in _items(stage["segments"]):
        assert isinstance(segment, Mapping)
        if segment["kind"] != "content":
            out.append([*segment.values()])
        elif segment["start"] is None or not lengths:
            out.append(["content", segment["path"], segment["start"] is None])
        else:
            out.append(["content", segment["path"], segment["start"], len(str(segment["text"]))])
    return out


def _same_shape(pack: Pack, old: JsonObject, now: JsonObject) -> bool:
    """Whether the runs are of the same segments."""
    return [run[:2] for run in _rows(old["runs"])] == [run[:2] for run in _rows(now["runs"])]


def _ids(pack: Pack, old: JsonObject) -> Checked:
    """Whether each control token that was printed stands where the runs have it."""
    segments, ids = _items(pack.stages[Stage.RENDERED]["segments"]), _items(old["input_ids"])
    for start, end, first, behind in _rows(pack.stages[Stage.RUNS]["runs"]):
        segment = segments[start] if start < len(segments) else None
        if not isinstance(segment, Mapping) or end > len(segments) or behind > len(ids):
            return Checked(False, "the runs are not those of the segments")
        if segment["kind"] == "control" and ids[first:behind] != [segment["id"]]:
            return Checked(False, f"the id {first} is not that of the control token that was printed")
    hidden = ids.count(HIDDEN)
    return Checked(True, f"control tokens stand where they were printed; {hidden} ids of contents are redacted")


def _items(value: Json) -> list[Json]:
    assert isinstance(value, list | tuple)
    return [*value]


def _rows(value: Json) -> list[list[int]]:
    return [[number for number in _items(row) if isinstance(number, int)] for row in _items(value)]
