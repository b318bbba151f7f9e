"""Which of the messages that are kept must be seen to know what one item more changes.

The item stands at one place. What is printed for a message can change only where the template looks from there to the
item (`reach.py`): right beside the place, and up to the next message that answers the same question. These are the
changed ones, and in the window each of them must get the same answers as in the whole. So the window holds them, what
stands on either side up to a place where the text is cut, the beginning and the end of the conversation, and for each
question the nearest messages that answer it. From one such place to the other, everything is printed as in the whole,
since its text meets that of the item. What else the window holds is printed alike with and without the item, and so
does not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Generic, TypeAlias, TypeVar

from katapi.runtime.budget.reach import Among, Finds, Question, Reach
from katapi.runtime.dataclass import dataclass
from katapi.runtime.messages import USER, items_of, messages_of, role_of
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)

_MARGIN = 3  # atoms on either side of what changes, among which one should print a control token


Advance: TypeAlias = tuple[tuple[str, str, int], ...]
"""The items that advance counters: the role of their messages, the field they stand in, and how many they are."""


@dataclass(frozen=True, slots=True)
class Window:
    """Places among the kept atoms, in order, with an item between two of them."""

    places: tuple[int, ...]
    """Places in the list of the kept atoms, ascending."""
    open_sides: tuple[tuple[int, ...], ...]
    """The places on each side where no control token is certain: one of them must have a text that is always cut."""
    advance: Advance | None = None
    """How far the item advances counters of the whole conversation; None where it has nothing to do with them.

    With it, messages outside of the window are printed otherwise than without, and alike with all items that advance
    the counters as far.
    """


class Atoms(Generic[R]):
    """What is known of each atom of a conversation, and of those that are kept together."""

    def __init__(self, request: R, atoms: Sequence[tuple[int, ...]], reach: Reach[R]) -> None:
        self._request = request
        self._atoms = atoms
        self.reach = reach
        """How far the template looks."""
        self._messages = messages = messages_of(request)
        self._roles = [role_of(message) for message in messages]
        self.counted = [
            bool(reach.counted) and any(one.counts(messages[at]) for at in atom for one in reach.counted)
            for atom in atoms
        ]
        """For each atom whether a counter of the whole conversation goes on over a message of it."""
        self.whole = all(atom[-1] - atom[0] == len(atom) - 1 for atom in atoms)
        """Whether no message stands between those of one atom."""
        self.answering: list[list[int]] = [[] for _ in reach.questions]
        """For each question, the kept atoms with a message that it asks for."""
        self.in_front: list[int] = []
        """The kept atoms with a message that is printed in front of the conversation."""

    def keep(self, numbers: Sequence[int]) -> None:
        """Notes that atoms are kept."""
        for number in numbers:
            if self.has_front(number):
                insort(self.in_front, number)
            for question, answering in zip(self.reach.questions, self.answering, strict=True):
                if self.answers(question, (number,)):
                    insort(answering, number)

    def answers(self, question: Question[R], numbers: Sequence[int], taken: Collection[int] = ()) -> bool:
        """Whether a question asks for a message of some atoms, which is none of those that are taken."""
        return any(
            at not in taken and question.holds(self._request, at) for number in numbers for at in self._walked(number)
        )

    def answering_but(self, taken: Collection[int]) -> list[list[int]]:
        """For each question, the kept atoms with a message that it asks for beside those that are taken."""
        if not taken:
            return self.answering
        found: list[list[int]] = []
        for question, answering in zip(self.reach.questions, self.answering, strict=True):
            edge = bisect_right(answering, max(taken))  # no atom has a number above the indices of its messages
            left = [number for number in answering[:edge] if self.answers(question, (number,), taken)]
            found.append([*left, *answering[edge:]] if len(left) < edge else answering)
        return found

    def has_front(self, number: int) -> bool:
        """Whether a message of an atom is printed in front of the conversation."""
        return any(self._roles[at] in self.reach.everywhere for at in self._atoms[number])

    def is_in_front(self, number: int) -> bool:
        """Whether all messages of an atom are printed in front of the conversation."""
        return not self._walked(number)

    def parts(self, number: int) -> bool:
        """Whether a control token is always printed for an atom where it stands; one that is taken aside."""
        return any(self._roles[at] in self.reach.parting for at in self._walked(number))

    def goes_on(self, number: int) -> bool:
        """Whether an atom begins with a message that can be printed together with those before it."""
        return any(self._roles[at] in self.reach.runs for at in self._walked(number)[:1])

    def opens(self, number: int) -> bool:
        """Whether what is printed for an atom begins with a control token, so that no text before it goes on."""
        return any(self._roles[at] in self.reach.opening for at in self._walked(number)[:1])

    def advance(self, numbers: Sequence[int]) -> Advance:
        """How far atoms advance counters of the whole conversation."""
        totals: dict[tuple[str, str], int] = {}
        for one in self.reach.advancing or ():
            if one.items is not None:
                for at in (at for number in numbers for at in self._atoms[number] if self._roles[at] == one.role):
                    key = one.role, one.items
                    totals[key] = totals.get(key, 0) + len(items_of(self._messages[at], one.items))
        return tuple(sorted((role, items, total) for (role, items), total in totals.items()))

    def _walked(self, number: int) -> Sequence[int]:
        """The messages of an atom that are not printed in front of the conversation."""
        atom, everywhere = self._atoms[number], self.reach.everywhere
        return [at for at in atom if self._roles[at] not in everywhere] if everywhere else atom

    def asks(self, number: int) -> bool:
        """Whether an atom begins with a message of the user."""
        return self._roles[self._atoms[number][0]] == USER

    def taken(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """The messages that are taken off the beginning of a conversation of some atoms."""
        walked = (at for number in numbers for at in self._walked(number))
        found: list[int] = []
        at = next(walked, None)
        for roles in self.reach.taken:
            if at is not None and self._roles[at] in roles:
                found.append(at)
                at = next(walked, None)
        return tuple(found)

    def first_ones(self, numbers: Sequence[int], taken: Collection[int]) -> tuple[int, ...]:
        """The first message of a conversation of some atoms, and the first that is walked, where they are looked at."""
        if not self.reach.first:
            return ()
        walked = (at for number in numbers for at in self._walked(number) if at not in taken)
        return self._atoms[numbers[0]][0] if numbers else -1, next(walked, -1)

    def edge(self, kept: Sequence[int]) -> int:
        """How many atoms at the beginning decide what is taken off it, one for what follows included."""
        left, at = len(self.reach.taken) + 2, 0
        while at < len(kept) and left:
            left -= not self.is_in_front(kept[at])
            at += 1
        return at

    def aligned(self, kept: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
        """Places, with more around gaps, so that behind each gap a message of the user follows."""
        seen = {*places}
        for before, after in pairwise(places):
            end, start = before + 1, after
            while end < start and not self.asks(kept[end]):
                seen.add(end)
                end += 1
            while end < start and not self.asks(kept[start]):
                start -= 1
                seen.add(start)
        return tuple(sorted(seen))


def window_of(atoms: Atoms[R], kept: Sequence[int], place: int, item: Sequence[int]) -> Window | None:
    """What must be seen of the kept atoms for an item at a place; None where that is all of them."""
    reach = atoms.reach
    if not atoms.whole or any(atoms.has_front(number) for number in item):
        return None
    counted = any(atoms.counted[number] for number in item)
    if counted and reach.advancing is None:
        return None
    end = _last_walked(atoms, kept)
    if place > end and reach.late_last:
        return None
    edge = atoms.edge(kept)
    taken = atoms.taken(kept[:edge])
    moved = place < edge and _moves(atoms, kept[:edge], taken, [*kept[:place], *item, *kept[place:edge]])
    if moved and (reach.late_first or reach.questions):
        return None
    answering = atoms.answering_but(taken)
    changed = _changed(atoms, answering, kept, place, item)
    if changed is None:
        return None
    start, stop = _with_runs(atoms, kept, 0 if moved else changed[0], max(edge, changed[1]) if moved else changed[1])
    first, last, sides = _margins(atoms, kept, start, stop, edge)
    open_end = last == len(kept) and (last == stop or not atoms.parts(kept[-1]))
    if (sides and reach.elsewhere) or (open_end and reach.counted):
        return None
    first, last = _with_runs(atoms, kept, first, last)
    met = stop if stop < len(kept) and atoms.opens(kept[stop]) else last
    if any(atoms.counted[kept[at]] for at in range(first, met)):
        return None
    seen = {*range(edge), *range(*_with_neighbours(atoms, kept, first, last)), end, len(kept) - 1}
    seen |= {bisect_left(kept, number) for number in atoms.in_front}
    for question, numbers in zip(reach.questions, answering, strict=True):
        seen |= {bisect_left(kept, number) for number in _answers(question, numbers, kept, first, last)}
    if not counted:
        return Window(tuple(sorted(seen)), sides)
    if sides or any(atoms.counted[kept[at]] and at not in seen for at in range(place)):
        return None  # its own numbers would be others
    return Window(tuple(sorted(seen)), sides, atoms.advance(item))


def _last_walked(atoms: Atoms[R], kept: Sequence[int]) -> int:
    """The place of the last atom of which not all is printed in front; 0 where there is none."""
    return next((at for at in range(len(kept) - 1, 0, -1) if not atoms.is_in_front(kept[at])), 0)


def _moves(atoms: Atoms[R], before: Sequence[int], taken: tuple[int, ...], after: Sequence[int]) -> bool:
    """Whether other messages stand at the beginning of a conversation afterwards: those taken, or the first ones."""
    return taken != atoms.taken(after) or atoms.first_ones(before, taken) != atoms.first_ones(after, taken)


def _changed(
    atoms: Atoms[R], answering: Sequence[Sequence[int]], kept: Sequence[int], place: int, item: Sequence[int]
) -> tuple[int, int] | None:
    """The kept atoms, half-open, for which something else may be printed; None where those have no bounds."""
    start = stop = place
    if atoms.reach.neighbours or atoms.reach.runs:
        start, stop = _with_neighbours(atoms, kept, place, place)
    for question, numbers in zip(atoms.reach.questions, answering, strict=True):
        if atoms.answers(question, item):
            asked = _asking(question, [bisect_left(kept, number) for number in _near(numbers, item)], place)
            if asked is None:
                return None
            start, stop = min(start, asked[0]), max(stop, asked[1])
    return start, stop


def _with_neighbours(atoms: Atoms[R], kept: Sequence[int], start: int, stop: int) -> tuple[int, int]:
    """Some atoms with the one before them and the one behind, where those matter; what is in front stands nowhere."""
    if not (atoms.reach.neighbours or atoms.reach.runs):
        return start, stop
    start, stop = start - 1, stop + 1
    while start > 0 and atoms.is_in_front(kept[start]):
        start -= 1
    while stop < len(kept) and atoms.is_in_front(kept[stop - 1]):
        stop += 1
    return max(start, 0), min(stop, len(kept))


def _with_runs(atoms: Atoms[R], kept: Sequence[int], start: int, stop: int) -> tuple[int, int]:
    """Some atoms with those that can be printed together with them."""
    if not atoms.reach.runs:
        return start, stop
    while 0 < start < len(kept) and (atoms.goes_on(kept[start]) or atoms.is_in_front(kept[start])):
        start -= 1
    while stop < len(kept) and (atoms.goes_on(kept[stop]) or atoms.is_in_front(kept[stop])):
        stop += 1
    return start, stop


def _near(answering: Sequence[int], item: Sequence[int]) -> list[int]:
    """Of the atoms that answer a question, the last one before an item and the first one behind it."""
    at = bisect_left(answering, item[0])
    return [*answering[max(0, at - 1) : at], *answering[at : at + 1]]


def _asking(question: Question[R], near: Sequence[int], place: int) -> tuple[int, int] | None:
    """Where a question gets another answer when one more message at a place answers it; None where that has no bounds.

    `near` are the places of the last answer before it and of the first behind it, as far as there are such.
    """
    before = next((at for at in near if at < place), None)
    behind = next((at for at in near if at >= place), None)
    nowhere = place, place
    match question.among, question.finds:
        case Among.BEFORE, Finds.LAST:
            return None if behind is None else (place, behind + 1)
        case Among.BEFORE, Finds.ANY:
            return nowhere if before is not None else None if behind is None else (place, behind + 1)
        case Among.AFTER, Finds.FIRST:
            return None if before is None else (before, place)
        case Among.AFTER, Finds.ANY:
            return nowhere if behind is not None else None if before is None else (before, place)
        case Among.ALL, Finds.ANY:
            return nowhere if near else None
        case ((Among.BEFORE | Among.ALL), Finds.FIRST):
            return nowhere if before is not None else None
        case _:  # the last of all, or of all behind
            return nowhere if behind is not None else None


def _margins(
    atoms: Atoms[R], kept: Sequence[int], start: int, stop: int, edge: int
) -> tuple[int, int, tuple[tuple[int, ...], ...]]:
    """What is seen on either side of what changes, half-open, and the sides on which no control token is certain."""
    sides: list[tuple[int, ...]] = []
    first, left = start, list[int]()
    while first > 0 and len(left) < _MARGIN:
        first -= 1
        if not atoms.is_in_front(kept[first]):
            left.append(first)
        if atoms.parts(kept[first]):
            break
    else:
        if first >= edge:
            sides.append(tuple(reversed(left)))
    last, right = stop, list[int]()
    while last < len(kept) and len(right) < _MARGIN:
        last += 1
        if not atoms.is_in_front(kept[last - 1]):
            right.append(last - 1)
        if atoms.parts(kept[last - 1]):
            break
    else:
        if last < len(kept):
            sides.append(tuple(right))
    return first if first >= edge else 0, last, tuple(sides)


def _answers(question: Question[R], answering: Sequence[int], kept: Sequence[int], start: int, stop: int) -> list[int]:
    """The atoms outside of what changes that give it its answers to a question."""
    left = answering[: bisect_left(answering, kept[start])] if start < len(kept) else answering
    right = answering[bisect_right(answering, kept[stop - 1]) :] if stop else answering
    match question.among, question.finds:
        case Among.BEFORE, Finds.FIRST:
            return [*left[:1]]
        case Among.BEFORE, _:
            return [*left[-1:]]
        case Among.AFTER, Finds.LAST:
            return [*right[-1:]]
        case Among.AFTER, _:
            return [*right[:1]]
        case Among.ALL, Finds.LAST:
            return [*answering[-1:]]
        case _:
            return [*answering[:1]]
