"""A `ModelInput` as a view: what the page shows of an execution that has just been made."""

from __future__ import annotations

from collections.abc import Iterator

from katapi.inspecting.budgets import budget_view, reasons_left_out
from katapi.inspecting.images import images_of
from katapi.inspecting.values import written
from katapi.inspecting.view import Execution, Fact, Message, Part, Place, Stage, Token, View
from katapi.runtime import stages as records
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.origins import Origins, kind_of
from katapi.runtime.places import json_path
from katapi.runtime.record import ExecutionRecord
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import NOWHERE, ContentSegment, Segment, Site

_LISTS = {"messages": "messages", "tools": "tools", "documents": "documents"}
_SHORT = 80  # characters of a parameter among the facts of a stage


def view_of(model: Model[RequestModel], result: ModelInput) -> View:
    """What a page shows of an input that `model` assembled."""
    record = result.record
    versions = tuple(Fact(name, str(version)) for name, version in record.environment.to_json().items())
    return View(versions, execution_of(model, result))


def execution_of(model: Model[RequestModel], result: ModelInput, label: str = "") -> Execution:
    """The execution that gave an input; `label` is what it is called beside another."""
    record = result.record
    decision = record.decision
    offered = record.request if decision is None or decision.offered is None else _dumped(decision.offered)
    messages = tuple(_messages(offered, reasons_left_out(decision)))
    places, indices = _places(result.origins, model.source)
    tokens = _tokens(model, result, indices)
    return Execution(
        model=record.model,
        label=label,
        stages=tuple(_stages(record, result)),
        messages=messages,
        parts=tuple(_parts(result, model.source)),
        places=places,
        tokens=tokens,
        budget=budget_view(result),
        images=images_of(record),
    )


def _dumped(request: RequestModel) -> JsonObject:
    dumped: JsonObject = request.model_dump(mode="json", exclude_unset=True)
    return dumped


# ---- stages


def _stages(record: ExecutionRecord, result: ModelInput) -> Iterator[Stage]:
    """The stages in the order in which they work."""
    digests = record.digests()
    raw = record.request_sha256
    replaced = tuple(Fact(s.where, s.what) for s in record.substitutions)
    yield Stage(
        "bytes",
        "not digested" if raw is None else "as received",
        None if raw is None else f"sha256:{raw}",
        (Fact("replaced", str(len(replaced))), *replaced)
        if raw is not None or replaced
        else (Fact("why", "parameters were set beside the bytes, or the request was typed"),),
    )
    messages = _counted(_length(record.request, "messages"), "message")
    yield Stage("request", messages, digests[records.Stage.REQUEST], _request_facts(record))
    decision = record.decision
    if decision is not None:
        facts = (
            Fact("window", str(decision.window)),
            Fact("reserve", str(decision.reserve)),
            Fact("left out", str(sum(not choice.kept for choice in decision.choices))),
            *([] if decision.cut is None else [Fact("cut off", _counted(decision.cut.tokens, "token"))]),
        )
        yield Stage("budget", decision.policy, digests[records.Stage.BUDGET], facts)
    yield Stage("template", record.template.id, record.template.digest)
    text = result.text
    yield Stage(
        "rendered",
        _counted(len(record.segments), "segment"),
        digests[records.Stage.RENDERED],
        (Fact("characters", str(len(text))), Fact("sampled regions", str(len(record.sampled_segments)))),
    )
    yield Stage("tokenizer", record.tokenizer.id, record.tokenizer.digest)
    yield Stage(
        "ids",
        _counted(len(record.input_ids), "token"),
        digests[records.Stage.IDS],
        (Fact("sampled", str(int(result.sampled.sum()))), Fact("extensions", str(len(record.extensions)))),
    )
    shape = (("input_ids", result.input_ids), ("attention_mask", result.attention_mask))
    facts = tuple(Fact(name, f"{array.dtype}, {list(array.shape)}") for name, array in shape)
    positions = record.position_ids
    span = f", {positions[0]} to {positions[-1]}" if positions else ""
    placed = Fact("position_ids", f"{result.position_ids.dtype}, {list(result.position_ids.shape)}{span}")
    yield Stage("tensors", "3 arrays", digests[records.Stage.TENSORS], (*facts, placed))


def _request_facts(record: ExecutionRecord) -> tuple[Fact, ...]:
    """How long its lists are, and each parameter with its value."""
    request = record.request
    lists = [Fact(word, str(_length(request, name))) for name, word in _LISTS.items() if name in request]
    others = [Fact(name, _short(value)) for name, value in request.items() if name not in _LISTS]
    return (*lists, *others)


def _short(value: Json) -> str:
    text = written(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _length(request: JsonObject, name: str) -> int:
    found = request.get(name)
    return len(found) if isinstance(found, list | tuple) else 0


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


# ---- messages


def _messages(offered: JsonObject, left_out: dict[int, str]) -> Iterator[Message]:
    """The messages that came in; those that were kept are numbered as the rendered request has them."""
    found = offered.get("messages")
    kept = 0
    for at, message in enumerate(found if isinstance(found, list | tuple) else ()):
        role, fields = "", tuple[Fact, ...]()
        if isinstance(message, dict):
            role = str(message.get("role", ""))
            fields = tuple(Fact(name, written(value)) for name, value in message.items() if name != "role")
        if at in left_out:
            yield Message(role, fields, None, left_out[at])
        else:
            yield Message(role, fields, kept)
            kept += 1


# ---- segments and tokens


def _parts(result: ModelInput, spec: str) -> Iterator[Part]:
    sampled = {index for start, end in result.rendered.sampled for index in range(start, end)}
    for index, segment in enumerate(result.rendered.payload):
        yield Part(kind_of(segment), segment.text, index in sampled, _place_of(segment, spec))


def _place_of(segment: Segment, spec: str) -> str:
    """Where a segment came from, in the request or in the spec."""
    if isinstance(segment, ContentSegment):
        path = json_path(segment.path)
        return f"{path} from character {segment.start}" if segment.start else path
    return "" if segment.site == NOWHERE else _line(segment.site, spec)


def _line(site: Site, spec: str) -> str:
    return f"{site.file or spec}:{site.line}:{site.column}"


def _places(origins: Origins, spec: str) -> tuple[tuple[Place, ...], list[int]]:
    """Each place once, in the order in which tokens come from them; and for each token the index of its own."""
    known: dict[tuple[int, int], int] = {}
    indices: list[int] = []
    firsts: list[int] = []
    for token, (start, end) in enumerate(origins.ranges.tolist()):
        index = known.setdefault((start, end), len(known))
        if index == len(firsts):
            firsts.append(token)
        indices.append(index)
    places = []
    for (start, end), first in zip(known, firsts, strict=True):
        origin = origins[first]
        paths = tuple(json_path(path) for path in origin.paths)
        lines = tuple(_line(site, spec) for site in origin.sites)
        places.append(Place(origin.kind, origin.message, origin.field, paths, lines, (start, end)))
    return tuple(places), indices


def _tokens(model: Model[RequestModel], result: ModelInput, places: list[int]) -> tuple[Token, ...]:
    """The tokens with their bytes, which together are what the decoder gives for all ids."""
    decoder = model.decoder()
    found = [decoder.push(id) for id in result.input_ids.tolist()]
    if found:
        found[-1] += decoder.finish()
    rows = zip(result.input_ids.tolist(), found, places, result.sampled.tolist(), strict=True)
    return tuple(Token(id, bytes, place, sampled) for id, bytes, place, sampled in rows)
