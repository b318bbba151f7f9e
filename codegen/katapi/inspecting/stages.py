"""The stages of an execution with their digests; also those that were not reached, and those that are not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from katapi.divergence.plain import items, numbers, objects
from katapi.inspecting import view
from katapi.inspecting.values import counted, short, written
from katapi.inspecting.view import Fact
from katapi.packs.pack import Pack
from katapi.packs.redaction import HIDDEN
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.record import ARRAYS
from katapi.runtime.stages import Stage

_LISTS = ("messages", "tools", "documents")


def stages_of(pack: Pack, sampled: int, *, every: bool) -> Iterator[view.Stage]:
    """The stages in the order in which they work; with `every` also those in which nothing happened.

    `sampled` is how many tokens the model itself generates. Without `every` the stage `runs`, a budget that was not
    named, and images of which nothing was made do not show.
    """
    order = [*Stage]
    ended = len(order) if pack.fault is None else order.index(Stage(str(pack.fault["at"])))
    for index, stage in enumerate(order):
        if index >= ended:
            yield _not_reached(stage, pack.fault or {}, here=index == ended)
        elif stage not in pack.stages:
            yield view.Stage(stage.value, "unknown", None, (Fact("why", f"{pack.source or 'it'} does not tell it"),))
        elif every or _tells(stage, pack.stages[stage]):
            name, digest, facts = _shown(stage, pack.stages[stage], pack, sampled)
            yield view.Stage(stage.value, name, digest, facts)


def _tells(stage: Stage, content: JsonObject) -> bool:
    match stage:
        case Stage.RUNS:
            return False
        case Stage.BUDGET:
            return content["decision"] is not None
        case Stage.IMAGES:
            return bool(content["images"])
        case _:
            return True


def _not_reached(stage: Stage, fault: JsonObject, *, here: bool) -> view.Stage:
    """The stage that an error kept from being reached, with the error; or one behind it."""
    code = written(fault["code"])
    if not here:
        return view.Stage(stage.value, "not reached", None, (Fact("why", f"{code} ended the execution before it"),))
    said = tuple(Fact(key, written(fault[key])) for key in ("message", "where", "help") if fault.get(key))
    return view.Stage(stage.value, f"error {code}", None, (Fact("error", code), *said))


def _shown(stage: Stage, content: JsonObject, pack: Pack, sampled: int) -> tuple[str, str | None, tuple[Fact, ...]]:
    """What a stage is called, its digest, and what is told of it."""
    digest = pack.digests.get(stage)
    match stage:
        case Stage.BYTES:
            return _bytes(content, redacted=pack.redaction is not None)
        case Stage.REQUEST:
            count = len(items(content["messages"]))
            parameters = content["parameters"]
            assert isinstance(parameters, Mapping)
            return counted(count, "message"), digest, _parameters({"messages": content["messages"], **parameters})
        case Stage.BUDGET:
            return _budget(content["decision"], digest)
        case Stage.IMAGES:
            return counted(len(items(content["images"])), "image"), digest, ()
        case Stage.TEMPLATE | Stage.TOKENIZER:
            return written(content["id"]), written(content["digest"]), ()
        case Stage.RENDERED:
            segments, regions = objects(content["segments"]), items(content["sampled"])
            characters = Fact("characters", str(sum(len(str(segment["text"])) for segment in segments)))
            facts = (characters, Fact("sampled regions", str(len(regions))), *_contents(pack))
            return counted(len(segments), "segment"), digest, facts
        case Stage.RUNS:
            return counted(len(items(content["runs"])), "run"), digest, ()
        case Stage.IDS:
            return _ids(numbers(content["input_ids"]), digest, pack, sampled)
        case Stage.TENSORS:
            return _tensors(content, digest, pack)


def _bytes(content: JsonObject, *, redacted: bool) -> tuple[str, str | None, tuple[Fact, ...]]:
    replaced = tuple(Fact(written(s["where"]), written(s["what"])) for s in objects(content["substitutions"]))
    facts = (Fact("replaced", str(len(replaced))), *replaced)
    if content["sha256"] is not None and not content["params"]:
        return "as received", f"sha256:{written(content['sha256'])}", facts
    if redacted and content["size"] is not None:
        return "redacted", None, (Fact("bytes", str(content["size"])), *facts)
    why = Fact("why", "parameters were set beside the bytes, or the request was typed")
    return "not digested", None, facts if replaced else (why,)


def _parameters(request: JsonObject) -> tuple[Fact, ...]:
    """How long its lists are, and each parameter with its value."""
    lists = [Fact(name, str(len(items(request[name])))) for name in _LISTS if name in request]
    return (*lists, *(Fact(name, short(value)) for name, value in request.items() if name not in _LISTS))


def _budget(decision: Json, digest: str | None) -> tuple[str, str | None, tuple[Fact, ...]]:
    if not isinstance(decision, Mapping):
        return "no policy was named", digest, ()
    left = sum(not choice.get("kept") for choice in objects(decision.get("choices")))
    cut = decision.get("cut")
    tokens = cut.get("tokens") if isinstance(cut, Mapping) else None
    facts = (
        Fact("window", written(decision.get("window"))),
        Fact("reserve", written(decision.get("reserve"))),
        Fact("left out", str(left)),
        *([Fact("cut off", counted(tokens, "token"))] if isinstance(tokens, int) else []),
    )
    return written(decision.get("id")), digest, facts


def _contents(pack: Pack) -> tuple[Fact, ...]:
    """That contents are not there."""
    if pack.redaction is None:
        return ()
    return (Fact("contents", f"redacted: {pack.redaction} stand in their place"),)


def _ids(ids: list[int], digest: str | None, pack: Pack, sampled: int) -> tuple[str, str | None, tuple[Fact, ...]]:
    request = pack.stages.get(Stage.REQUEST, {})
    facts = []
    if "extensions" in request:
        facts += [Fact("sampled", str(sampled)), Fact("extensions", str(len(items(request["extensions"]))))]
    if pack.redaction is not None:
        hidden = counted(ids.count(HIDDEN), "id")
        facts.append(Fact("redacted", f"{hidden} of contents: {HIDDEN} stands in their place"))
    return counted(len(ids), "token"), digest, tuple(facts)


def _tensors(content: JsonObject, digest: str | None, pack: Pack) -> tuple[str, str | None, tuple[Fact, ...]]:
    arrays = {**pack.stages.get(Stage.IDS, {}), **content}
    facts = []
    for name in ARRAYS:
        if name not in arrays:
            facts.append(Fact(name, "unknown"))
            continue
        cells = numbers(arrays[name])
        span = f", {cells[0]} to {cells[-1]}" if name == "position_ids" and cells else ""
        facts.append(Fact(name, f"int64, [{len(cells)}]{span}"))
    return counted(sum(name in arrays for name in ARRAYS), "array"), digest, tuple(facts)
