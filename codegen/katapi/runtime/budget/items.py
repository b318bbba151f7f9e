"""A request taken apart: what a budget keeps or leaves out as one.

A call of a tool and its results are one atom, with whatever stands between them; any other message is an atom by
itself. What must be there is known of atoms: instructions, and what the reply answers. The rest is the history, whose
items are atoms or turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from katapi.runtime.budget.policy import Allotment, Grouping, Order, Section
from katapi.runtime.dataclass import dataclass
from katapi.runtime.documents import score_of
from katapi.runtime.messages import ANSWERING, INSTRUCTING, USER, items_of, roles_of
from katapi.runtime.request_model import RequestModel


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a request as atoms, each the indices of its messages, in the order of the conversation."""

    atoms: tuple[tuple[int, ...], ...]
    """For each atom the indices of its messages in the request."""
    instructions: tuple[int, ...]
    """The numbers of the atoms that are instructions."""
    current: tuple[int, ...]
    """The numbers of the atoms of the last message of the user, and of the last one that is no instruction."""
    turns: tuple[int, ...]
    """For each atom that of the user's message which its turn begins with; its own number where it is in no turn."""

    @property
    def required(self) -> tuple[int, ...]:
        """The numbers of the atoms that are always kept, in order."""
        return tuple(sorted({*self.instructions, *self.current}))

    def history(self, grouping: Grouping, required: Sequence[int]) -> list[tuple[int, ...]]:
        """The items of the history as numbers of atoms, in the order of the conversation.

        What stands in one turn with a message of the user that is required anyway is by itself.
        """
        kept = {*required}
        free = [number for number in range(len(self.atoms)) if number not in kept]
        if grouping is Grouping.BY_MESSAGE:
            return [(number,) for number in free]
        turns: dict[int, list[int]] = {}
        for number in free:
            turn = self.turns[number]
            turns.setdefault(number if turn in kept else turn, []).append(number)
        return [tuple(numbers) for numbers in turns.values()]


def conversation_of(messages: Sequence[RequestModel], together: Sequence[range] = ()) -> Conversation:
    """The atoms of a conversation; the messages of each range of indices in `together` are of one atom."""
    roles = roles_of(messages)
    first = _first_of_atom(messages, roles, together)
    members: dict[int, list[int]] = {}
    for at, start in enumerate(first):
        members.setdefault(start if roles[at] not in INSTRUCTING else at, []).append(at)
    starts = sorted(members)
    atoms = tuple(tuple(members[start]) for start in starts)
    instructions = [number for number, atom in enumerate(atoms) if roles[atom[0]] in INSTRUCTING]
    others = [number for number, atom in enumerate(atoms) if roles[atom[0]] not in INSTRUCTING]
    asking = [number for number in others if any(roles[at] == USER for at in atoms[number])]
    turns = list(range(len(atoms)))
    for turn, following in pairwise([*asking, len(atoms)]):
        turns[turn:following] = [turn] * (following - turn)
    for number in instructions:
        turns[number] = number
    current = sorted({*asking[-1:], *others[-1:]})
    return Conversation(atoms, tuple(instructions), tuple(current), tuple(turns))


def _first_of_atom(messages: Sequence[RequestModel], roles: Sequence[str], together: Sequence[range]) -> list[int]:
    """For each message the index of the first one that is kept or left out with it."""
    first = list(range(len(messages)))
    for group in together:
        first[group.start : group.stop] = [group.start] * len(group)
    by_id: dict[str, int] = {}
    last_call: int | None = None
    for at, message in enumerate(messages):
        calls = items_of(message, "tool_calls")
        if calls:
            last_call = at
            by_id |= {one: at for call in calls if (one := _text(call, "id")) is not None}
        if roles[at] in ANSWERING:
            name = _text(message, "tool_call_id")
            call = last_call if name is None else by_id.get(name, last_call)
            if call is not None:
                start = first[call]
                first[start : at + 1] = [start] * (at + 1 - start)
    for at, before in enumerate(first):
        first[at] = first[before]
    return first


def _text(value: object, name: str) -> str | None:
    found: object = getattr(value, name, None)
    return found if isinstance(found, str) else None


def in_order(allotment: Allotment, items: Sequence[tuple[int, ...]], request: RequestModel) -> list[tuple[int, ...]]:
    """The items of a section in the order in which they are tried."""
    match allotment.order:
        case Order.NEWEST_FIRST:
            return [*reversed(items)]
        case Order.OLDEST_FIRST | Order.AS_GIVEN:
            return [*items]
        case Order.BY_SCORE:
            scores = [score_of(one) for one in items_of(request, allotment.section.value)]
            return sorted(items, key=lambda item: (scores[item[0]] is None, -(scores[item[0]] or 0.0)))


def section_list(section: Section) -> str:
    """The key of a request whose list holds what a section is made of."""
    match section:
        case Section.TOOLS:
            return "tools"
        case Section.DOCUMENTS:
            return "documents"
        case _:
            return "messages"
