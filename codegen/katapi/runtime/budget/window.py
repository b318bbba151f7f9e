"""Which of the messages that are kept must be seen to know what one item more changes.

The item stands at one place. What is printed for a message can change only where the template looks from there to the
item (`reach.py`): right beside the place, and up to the next message that answers the same question. These are the
changed ones, and in the window each of them must get the same answers as in the whole. So the window holds them, what
stands on either side up to a place where the text is cut, the beginning and the end of the conversation, and for each
question the nearest messages that answer it. Everything else in the window is printed alike with and without the item,
and so does not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import Generic, TypeVar

from katapi.runtime.budget.reach import Among, Finds, Question, Reach
from katapi.runtime.dataclass import dataclass
from katapi.runtime.messages import USER, messages_of, role_of
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)

_MARGIN = 3  # atoms on either side of what changes, among which one should print a control token


@dataclass(frozen=True, slots=True)
class Window:
    """Places among the kept atoms, in order, with an item between two of them."""

    places: tuple[int, ...]
    """Places in the list of the kept atoms, ascending."""
    open_sides: tuple[tuple[int, ...], ...]
    """The places on each side where no control token is certain: one of them must have a text that is always cut."""


class Atoms(Generic[R]):
    """What is known of each atom of a conversation, and of those that are kept together."""

    def __init__(self, request: R, atoms: Sequence[tuple[int, ...]], reach: Reach[R]) -> None:
        self._request = request
        self._atoms = atoms
        self.reach = reach
        """How far the template looks."""
        messages = messages_of(request)
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
            if any(self._roles[at] in self.reach.everywhere for at in self._atoms[number]):
                insort(self.in_front, number)
            for question, answering in zip(self.reach.questions, self.answering, strict=True):
                if self.answers(question, (number,)):
                    insort(answering, number)

    def answers(self, question: Question[R], numbers: Sequence[int]) -> bool:
        """Whether a question asks for a message of some atoms."""
        return any(question.holds(self._request, at) for number in numbers for at in self._atoms[number])

    def is_in_front(self, number: int) -> bool:
        """Whether all messages of an atom are printed in front of the conversation."""
        return all(self._roles[at] in self.reach.everywhere for at in self._atoms[number])

    def parts(self, number: int) -> bool:
        """Whether a control token is always printed for an atom, at its place."""
        parting = self.reach.parting - self.reach.everywhere
        return any(self._roles[at] in parting for at in self._atoms[number])

    def goes_on(self, number: int) -> bool:
        """Whether an atom begins with a message that can be printed together with those before it."""
        return self._roles[self._atoms[number][0]] in self.reach.runs

    def asks(self, number: int) -> bool:
        """Whether an atom begins with a message of the user."""
        return self._roles[self._atoms[number][0]] == USER

    def beginning(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """The messages that are taken off the beginning of a conversation of some atoms, and the first one behind."""
        walked = (
            at for number in numbers for at in self._atoms[number] if self._roles[at] not in self.reach.everywhere
        )
        found: list[int] = []
        at = next(walked, None)
        for roles in self.reach.taken:
            if at is not None and self._roles[at] in roles:
                found.append(at)
                at = next(walked, None)
        if self.reach.first:
            found += [-1, numbers[0] if numbers else -1, -1 if at is None else at]
        return tuple(found)

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
    if not atoms.whole or any(atoms.counted[number] for number in item):
        return None
    edge = atoms.edge(kept)
    moved = place < edge and atoms.beginning(kept[:edge]) != atoms.beginning([*kept[:place], *item, *kept[place:edge]])
    if moved and (reach.late_first or reach.questions):
        return None
    if any(atoms.is_in_front(number) for number in item) or (place == len(kept) and reach.late_last):
        return None
    changed = _changed(atoms, kept, place, item)
    if changed is not None and moved:
        changed = 0, max(edge, changed[1])
    if changed is None or any(atoms.counted[kept[at]] for at in range(*changed)):
        return None
    start, stop = changed
    first, last, sides = _margins(atoms, kept, start, stop)
    seen = {*range(edge), *range(first, last), len(kept) - 1}
    seen |= {bisect_left(kept, number) for number in atoms.in_front}
    for question, answering in zip(reach.questions, atoms.answering, strict=True):
        seen |= {bisect_left(kept, number) for number in _answers(question, answering, kept, start, stop)}
    return Window(tuple(sorted(seen)), sides)


def _changed(atoms: Atoms[R], kept: Sequence[int], place: int, item: Sequence[int]) -> tuple[int, int] | None:
    """The kept atoms, half-open, for which something else may be printed; None where those have no bounds."""
    start = stop = place
    if atoms.reach.neighbours or atoms.reach.runs:
        start, stop = _beside(atoms, kept, place)
    for question, answering in zip(atoms.reach.questions, atoms.answering, strict=True):
        if atoms.answers(question, item):
            asked = _asking(question, [bisect_left(kept, number) for number in _near(answering, item)], place)
            if asked is None:
                return None
            start, stop = min(start, asked[0]), max(stop, asked[1])
    return start, stop


def _beside(atoms: Atoms[R], kept: Sequence[int], place: int) -> tuple[int, int]:
    """The atoms beside a place, with those that can be printed together with them."""
    start, stop = place - 1, place + 1
    while start >= 0 and atoms.is_in_front(kept[start]):
        start -= 1
    while start > 0 and atoms.goes_on(kept[start]):
        start -= 1
    while stop <= len(kept) and atoms.is_in_front(kept[stop - 1]):
        stop += 1
    while stop < len(kept) and atoms.goes_on(kept[stop]):
        stop += 1
    return max(start, 0), min(stop, len(kept))


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
    atoms: Atoms[R], kept: Sequence[int], start: int, stop: int
) -> tuple[int, int, tuple[tuple[int, ...], ...]]:
    """What is seen on either side of what changes, half-open, and the sides on which no control token is certain."""
    sides: list[tuple[int, ...]] = []
    first, last = start, stop
    while first > 0 and start - first < _MARGIN:
        first -= 1
        if atoms.parts(kept[first]):
            break
    else:
        if first > 0:
            sides.append(tuple(range(first, start)))
    while last < len(kept) and last - stop < _MARGIN:
        last += 1
        if atoms.parts(kept[last - 1]):
            break
    else:
        if last < len(kept):
            sides.append(tuple(range(stop, last)))
    return first, last, tuple(sides)


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
