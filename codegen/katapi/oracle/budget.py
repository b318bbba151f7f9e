"""The chapter's budget algorithm (section 1.7), word for word: the whole candidate is counted for each item.

It works on a request as plain JSON and on any function that gives the length of the input of one, or raises
`KatapiError` where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from katapi.runtime.budget.policy import Allotment, Budget, Grouping, Misfit, Order, Percent, Section, Share, Tokens
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json, JsonObject

Count: TypeAlias = Callable[[JsonObject], int]
Item: TypeAlias = tuple[Section, frozenset[int]]
"""Indices of messages, tools or documents that are kept or left out together."""

_INSTRUCTING = ("system", "developer")
_ANSWERING = ("tool", "tool_results", "ipython", "observation", "function")


def fitted(request: JsonObject, budget: Budget, count: Count, needed: Collection[str] = ()) -> JsonObject:
    """What is left of a request; where what is required is too long, that alone.

    A list of which nothing is left is no key of the request, unless it is `needed`; one that came empty stays.
    """
    room = budget.window - budget.reserve
    optional = {one.section: one for one in budget.optional}
    required = _required(request, optional)
    kept: set[Item] = set()

    def candidate(with_also: set[Item]) -> JsonObject:
        return _part(request, required, optional, with_also, needed)

    length = count(candidate(kept))
    if length > room:
        return candidate(kept)
    used = dict.fromkeys(optional, 0)
    rounds = [(one, _tokens(one.at_least, room)) for one in budget.optional if one.at_least is not None]
    rounds += [(one, room if one.at_most is None else _tokens(one.at_most, room)) for one in budget.optional]
    for allotment, share in rounds:
        section = allotment.section
        for item in _priority_order(request, allotment, required):
            if item in kept:
                continue
            try:
                with_it = count(candidate(kept | {item}))
            except KatapiError:
                with_it = room + 1
            if with_it <= room and used[section] + with_it - length <= share:
                kept = kept | {item}
                used[section] += with_it - length
                length = with_it
            elif allotment.misfit is Misfit.STOP:
                break
    return candidate(kept)


def _tokens(share: Share, room: int) -> int:
    """How many tokens a share of the room is, rounded down."""
    match share:
        case Tokens(count):
            return count
        case Percent(count):
            return room * count // 100


def _required(request: JsonObject, optional: Mapping[Section, Allotment]) -> set[int]:
    messages = _list(request, "messages")
    if Section.HISTORY not in optional:
        return set(range(len(messages)))
    spans = _spans(messages)
    instructions = {at for at in range(len(messages)) if _role(messages[at]) in _INSTRUCTING}
    others = [at for at in range(len(messages)) if at not in instructions]
    asked = [at for at in others if any(_role(messages[one]) == "user" for one in _together(spans, at))]
    current = {at for last in (asked[-1:], others[-1:]) for one in last for at in _together(spans, one)}
    return instructions | current


def _spans(messages: list[Json]) -> list[frozenset[int]]:
    """For each result the messages from its call to it, without instructions."""
    calls = [(answer, _call_of(messages, answer)) for answer in range(len(messages))]
    return [
        frozenset(one for one in range(call, answer + 1) if _role(messages[one]) not in _INSTRUCTING)
        for answer, call in calls
        if call is not None
    ]


def _together(spans: list[frozenset[int]], at: int) -> frozenset[int]:
    """The messages that are kept with one: a call, its results, and what stands between them."""
    found = frozenset({at})
    while grown := [span for span in spans if span & found and not span <= found]:
        found = found.union(*grown)
    return found


def _call_of(messages: list[Json], answer: int) -> int | None:
    """The message with the call that a result belongs to."""
    message = messages[answer]
    if _role(message) not in _ANSWERING:
        return None
    calls = [at for at in range(answer) if _list(messages[at], "tool_calls")]
    name = message.get("tool_call_id") if isinstance(message, Mapping) else None
    named = [
        at
        for at in calls
        if isinstance(name, str)
        and any(isinstance(call, Mapping) and call.get("id") == name for call in _list(messages[at], "tool_calls"))
    ]
    return named[-1] if named else calls[-1] if calls else None


def _priority_order(request: JsonObject, allotment: Allotment, required: set[int]) -> list[Item]:
    section = allotment.section
    if section is Section.HISTORY:
        groups = _groups(_list(request, "messages"), allotment.grouping, required)
        groups.sort(key=min, reverse=allotment.order is Order.NEWEST_FIRST)
        return [(section, group) for group in groups]
    items = list(enumerate(_list(request, section.value)))
    if allotment.order is Order.BY_SCORE:
        scored = [(at, score) for at, item in items if (score := _score(item)) is not None]
        order = [at for at, _ in sorted(scored, key=lambda pair: pair[1], reverse=True)]
        order += [at for at, item in items if _score(item) is None]
    else:
        order = [at for at, _ in items]
    return [(section, frozenset({at})) for at in order]


def _groups(messages: list[Json], grouping: Grouping, required: set[int]) -> list[frozenset[int]]:
    spans = _spans(messages)
    atoms = {_together(spans, at) for at in range(len(messages)) if at not in required}
    if grouping is Grouping.BY_MESSAGE:
        return list(atoms)
    asking = [at for at in range(len(messages)) if _asks(messages, _together(spans, at), at)]
    turns: dict[int, frozenset[int]] = {}
    for atom in atoms:
        asked = [at for at in asking if at <= min(atom)]
        turn = asked[-1] if asked and asked[-1] not in required else min(atom)
        turns[turn] = turns.get(turn, frozenset()) | atom
    return list(turns.values())


def _asks(messages: list[Json], together: frozenset[int], at: int) -> bool:
    """Whether a turn begins at a message, with those that are kept with it."""
    return at == min(together) and any(_role(messages[one]) == "user" for one in together)


def _part(
    request: JsonObject,
    required: set[int],
    optional: Mapping[Section, Allotment],
    kept: set[Item],
    needed: Collection[str],
) -> JsonObject:
    part = dict(request)
    messages = required | {at for section, group in kept if section is Section.HISTORY for at in group}
    part["messages"] = [message for at, message in enumerate(_list(request, "messages")) if at in messages]
    for section in (Section.TOOLS, Section.DOCUMENTS):
        items = _list(request, section.value)
        if section in optional and items:
            chosen = {at for of, group in kept if of is section for at in group}
            part[section.value] = [item for at, item in enumerate(items) if at in chosen]
            if not chosen and section.value not in needed:
                del part[section.value]
    return part


def _list(value: Json, key: str) -> list[Json]:
    items = value.get(key) if isinstance(value, Mapping) else None
    return list(items) if isinstance(items, list | tuple) else []


def _role(message: Json) -> str:
    role = message.get("role") if isinstance(message, Mapping) else None
    return role if isinstance(role, str) else ""


def _score(document: Json) -> int | float | None:
    score = document.get("score") if isinstance(document, Mapping) else None
    return score if isinstance(score, int | float) and not isinstance(score, bool) else None
