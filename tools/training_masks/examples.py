"""The smallest request on which a kind of fault is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from katapi.runtime.json_types import Json
from tools.official_templates.shrink import smallest
from tools.training_masks.kinds import Kind, Spelling, faults
from tools.training_masks.models import Result, Seen, Side
from tools.training_masks.peer import Conversation

TRIES = 400
Members = dict[str, Json]


@dataclass(frozen=True)
class Example:
    """A request, and what both sides make of it."""

    model: str
    request: Members
    sides: Mapping[str, Side | str]
    spelling: Spelling


def example(kind: Kind, results: list[Result]) -> Example:
    """The smallest request that is found for a kind of fault, with the model that has the shortest conversation."""
    result = min((r for r in results if kind in r.wrong), key=lambda r: _shortest(r.wrong[kind]).length)
    wanted = set(result.wrong[kind])
    comparison = result.comparison

    def shows(request: Members) -> bool:
        """Whether both sides take a request, and the same of them have the fault."""
        given = _conversation(request)
        if given is None:
            return False
        sides = {name: side for name, side in comparison.sides(given).items() if isinstance(side, Side)}
        having = {
            name
            for name, side in sides.items()
            if kind in faults(side.mask, side.judged, side.ids, comparison.spelling)
        }
        return len(sides) == 2 and having == wanted

    request = _request(_shortest(result.wrong[kind]).shortest)
    found = smallest(request, shows, tries=TRIES)
    given = _conversation(found)
    assert given is not None, "both sides take it"
    return Example(result.model, found, comparison.sides(given), comparison.spelling)


def _shortest(found: Mapping[str, Seen]) -> Seen:
    return min(found.values(), key=lambda seen: seen.length)


def _request(given: Conversation) -> Members:
    tools: Members = {} if given.tools is None else {"tools": given.tools}
    return {"messages": [*given.messages], **tools, **given.params}


def _conversation(request: Members) -> Conversation | None:
    """A request as both sides are given it; None where it has not the form of one."""
    rest = dict(request)
    messages, tools = rest.pop("messages", None), rest.pop("tools", None)
    if not isinstance(messages, list) or not (tools is None or isinstance(tools, list)):
        return None
    own: list[Members] = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return None
        own.append(dict(message))
    return Conversation(own, tools, rest)
