"""Which row of table 1.10 of the chapter a difference is."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.divergence.difference import Difference, Kind
from katapi.divergence.known import Known
from katapi.divergence.plain import items, objects
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.stages import Failure, Stage


def failure_of(stage: Stage, difference: Difference, one: Known, other: Known) -> Failure | None:
    """The row of table 1.10 that a first difference is; None for one that is none of them, as another question."""
    match stage:
        case _ if difference.kind is Kind.REPLACED or (stage is Stage.BYTES and _is_policy(difference)):
            return Failure.INVALID_UTF8
        case _ if difference.kind is Kind.PADDING:
            return None
        case Stage.BYTES | Stage.REQUEST if difference.kind is Kind.KEY_ORDER:
            return None if _same_request(one, other) else Failure.SCHEMA_ORDER
        case Stage.BYTES | Stage.REQUEST | Stage.BUDGET if _whole(one) != _whole(other):
            return Failure.CUT_PAIR
        case Stage.IMAGES:
            return Failure.IMAGE if difference.kind is not Kind.DECLARATION and _other_images(one, other) else None
        case Stage.TEMPLATE:
            return Failure.VOCABULARY if _over_another_vocabulary(one, other) else Failure.TEMPLATE_VERSION
        case Stage.RENDERED if difference.kind in (Kind.KEY_ORDER, Kind.ORDER):
            return Failure.SCHEMA_ORDER
        case Stage.TOKENIZER:
            return Failure.VOCABULARY
        case Stage.RUNS if difference.kind is Kind.VALUE:
            return Failure.VOCABULARY
        case Stage.IDS if Stage.RENDERED in one.stages and Stage.RENDERED in other.stages:
            return Failure.VOCABULARY
        case Stage.TENSORS:
            return Failure.MASK_OR_POSITIONS
        case _:
            return None


def _same_request(one: Known, other: Known) -> bool:
    """Whether the order of keys in the bytes is none in the request: records have their fields in one order."""
    digests = [side.digests.get(Stage.REQUEST) for side in (one, other)]
    return None not in digests and digests[0] == digests[1]


def _other_images(one: Known, other: Known) -> bool:
    """Whether an image of one is no more the same in the other; else there are only more of them in one."""
    first, second = (objects(side.stages[Stage.IMAGES]["images"]) for side in (one, other))
    return any(a != b for a, b in zip(first, second, strict=False))


def _is_policy(difference: Difference) -> bool:
    return difference.where.startswith(("invalid_utf8", "substitutions"))


def _over_another_vocabulary(one: Known, other: Known) -> bool:
    """Whether it is the template of one version over two vocabularies: it is digested together with its own.

    Then the vocabulary is declared otherwise, and what was printed is the same but for control tokens.
    """
    stages = (Stage.TEMPLATE, Stage.TOKENIZER, Stage.RENDERED)
    if not all(stage in side.stages for side in (one, other) for stage in stages):
        return False
    names = [side.stages[Stage.TEMPLATE]["id"] for side in (one, other)]
    parts = [side.stages[Stage.TOKENIZER].get("parts") for side in (one, other)]
    vocabularies = [part.get("vocabulary") if isinstance(part, Mapping) else None for part in parts]
    printed = [
        [
            "" if segment["kind"] == "control" else segment["text"]
            for segment in objects(side.stages[Stage.RENDERED]["segments"])
        ]
        for side in (one, other)
    ]
    return names[0] == names[1] and vocabularies[0] != vocabularies[1] and printed[0] == printed[1]


def _whole(side: Known) -> bool:
    """Whether each call of a tool in what the model receives has its result, and each result its call."""
    budget, request = side.stages.get(Stage.BUDGET), side.stages.get(Stage.REQUEST)
    left = None if budget is None else budget.get("left")
    decision = {} if budget is None else budget["decision"]
    cut = decision.get("cut") if isinstance(decision, Mapping) else None
    if isinstance(cut, Mapping) and "calls" in items(cut.get("breaks")):
        return False
    source: JsonObject | None = left if isinstance(left, Mapping) else request
    return source is None or pairs_are_whole(source["messages"])


def pairs_are_whole(messages: Json) -> bool:
    """Whether each call of a tool is followed by its result, and each result follows its call.

    Ids part them where both have one, else their number does. Calls of the last message still wait for their results.
    """
    open_calls: list[Json] = []
    said = objects(messages)
    for index, message in enumerate(said):
        if message.get("role") == "tool":
            id = message.get("tool_call_id")
            match = next((call for call in open_calls if id is None or call in (None, id)), open_calls)
            if match is open_calls:
                return False
            open_calls.remove(match)
            continue
        if open_calls:
            return False
        if index < len(said) - 1:
            open_calls = [call.get("id") for call in objects(message.get("tool_calls"))]
    return not open_calls
