"""Matches a pattern in time linear in the text, whatever the text: two deterministic automata, one run each way.

An engine that goes through the text from left to right must try a choice before it knows whether it leads to a match.
So the first automaton goes from right to left. Its state at a place is the set of `Take` steps of the pattern that can
take the character there and lead on to a match in what follows; look-aheads of any length are answered by it, too. The
second automaton then goes from left to right and never turns back: where the pattern has a choice, it goes the first
way that the state of the first automaton says will succeed, which is what a backtracking engine would find after trying
(Frisch and Cardelli, "Greedy regular expression matching", 2004, with the look-aheads added). Where one match ends, the
next begins, so that one run in each direction finds all matches of a text.

States are made when a text first needs them. Each is a dictionary from what comes next to the next state, so that both
runs are loops inside the interpreter (`accumulate`), without a Python call for a step that was met before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate, islice
from operator import attrgetter, getitem

from katapi.runtime.patterns.program import Ahead, Back, Done, Fork, Program, Step, Take, goes_on_to

MOST_STATES = 1 << 14
"""States of either automaton that are kept from one text to the next."""

_BLOCK = 1 << 16  # characters whose states are in memory at once
_NO_CLASS = -1

# What begins at a character: nothing (it goes on), a match, a gap between matches, or a gap behind an empty match.
_ON, _MATCH, _GAP, _EMPTY = range(4)
_PIECE = re.compile(rb"[\x01-\x03]\x00*")


class Suffix(dict[int, "Suffix"]):
    """A state of the first automaton: class of the character before → state there.

    `takes` has the bits of the steps that succeed at this place, `first` is the class of the character here.
    """

    __slots__ = ("_automaton", "first", "takes")
    __hash__ = object.__hash__  # type: ignore[assignment]  # a state is itself; dictionaries have no hash

    def __init__(self, automaton: Automaton, takes: int, first: int) -> None:
        self._automaton = automaton
        self.takes = takes
        self.first = first

    def __missing__(self, before: int) -> Suffix:
        state = self[before] = self._automaton.suffix_before(self, before)
        return state


class Place(dict[Suffix, "Place"]):
    """A state of the second automaton: what the character was taken for; state of the first behind it → next state.

    `step` is the step that took it, 0 in a gap; `begins` tells what begins at it, `before` is its class.
    """

    __slots__ = ("_automaton", "before", "begins", "step")
    __hash__ = object.__hash__  # type: ignore[assignment]  # as in `Suffix`

    def __init__(self, automaton: Automaton, step: int, begins: int, before: int) -> None:
        self._automaton = automaton
        self.step = step
        self.begins = begins
        self.before = before

    def __missing__(self, suffix: Suffix) -> Place:
        place = self[suffix] = self._automaton.place_after(self, suffix)
        return place

    @property
    def cuts(self) -> bool:
        """Whether a match or a gap begins at the character."""
        return self.begins != _ON


class Automaton:
    """The two automata of one pattern. It may match the empty text."""

    def __init__(self, program: Program) -> None:
        self._steps = program.steps
        self._start = program.start
        self._order = _inner_first(program.steps)
        self._takes = [step for step in program.steps if isinstance(step, Take)]
        self._looks_back = any(isinstance(step, Back) for step in program.steps)
        self._forget()

    def spans(self, classes: bytes) -> Iterator[tuple[int, int]]:
        """The matches in order, of which none overlap. An empty match is never right behind another match."""
        begins, last = self._begins(classes)
        for piece in _PIECE.finditer(begins):
            start, end = piece.span()
            what = begins[start]
            if what == _MATCH:
                yield start, end
            elif what == _EMPTY:
                yield start, start
        if last == _EMPTY:
            yield len(classes), len(classes)

    @property
    def before_all(self) -> Place:
        """The state of the second automaton before the first character."""
        return self._before_all

    @property
    def behind_all(self) -> Suffix:
        """The state of the first automaton behind the last character."""
        return self._end

    def _begins(self, classes: bytes) -> tuple[bytes, int]:
        """What begins at each character, and at the end of the text."""
        if max(len(self._suffixes), len(self._places), len(self._successes)) > MOST_STATES:
            self._forget()
        blocks = [classes[start : start + _BLOCK] for start in range(0, len(classes), _BLOCK)]
        # The states of the first automaton at the ends of the blocks, from the last block on.
        ends = list(accumulate(reversed(blocks), _run_backwards, initial=self._end))
        begins: list[bytes] = []
        place = self._before_all
        for block, end in zip(blocks, reversed(ends[:-1]), strict=True):
            suffixes = list(accumulate(reversed(block), getitem, initial=end))
            suffixes.reverse()
            places = list(accumulate(islice(suffixes, len(block)), getitem, initial=place))
            begins.append(bytes(map(_what_begins, islice(places, 1, None))))
            place = places[-1]
        return b"".join(begins), place[self._end].begins

    def _forget(self) -> None:
        self._suffixes: dict[tuple[int, int], Suffix] = {}
        self._places: dict[tuple[int, int, int], Place] = {}
        self._successes: dict[tuple[int, int], bytearray] = {}
        self._end = self._suffix(0, _NO_CLASS)
        self._before_all = self._place(0, _GAP, _NO_CLASS)

    def _suffix(self, takes: int, first: int) -> Suffix:
        key = takes, first if self._looks_back or first == _NO_CLASS else 0
        state = self._suffixes.get(key)
        if state is None:
            state = self._suffixes[key] = Suffix(self, *key)
        return state

    def _place(self, step: int, begins: int, before: int) -> Place:
        key = step, begins, before
        state = self._places.get(key)
        if state is None:
            state = self._places[key] = Place(self, *key)
        return state

    def suffix_before(self, suffix: Suffix, before: int) -> Suffix:
        """The state of the first automaton one character of the class `before` to the left of `suffix`."""
        succeeds = self._succeeding(suffix, before)
        takes = 0
        for take in self._takes:
            if take.members >> before & 1 and succeeds[take.then]:
                takes |= take.bit
        return self._suffix(takes, before)

    def place_after(self, place: Place, suffix: Suffix) -> Place:
        """The state of the second automaton behind `place`, with `suffix` to the right."""
        succeeds = self._succeeding(suffix, place.before)
        if place.step:
            taken = self._steps[place.step]
            assert isinstance(taken, Take)
            step = self._follow(taken.then, succeeds)
            if step:
                return self._place(step, _ON, suffix.first)
        if not succeeds[self._start]:
            goes_on = not place.step and place is not self._before_all
            return self._place(0, _ON if goes_on else _GAP, suffix.first)
        step = self._follow(self._start, succeeds)
        if step:
            return self._place(step, _MATCH, suffix.first)
        # An empty match, which does not count right behind another match.
        return self._place(0, _GAP if place.step else _EMPTY, suffix.first)

    def _follow(self, step: int, succeeds: bytearray) -> int:
        """The `Take` step on the preferred way from `step`, which succeeds here; 0 where the match ends."""
        while True:
            match self._steps[step]:
                case Done() | Take():
                    return step
                case Fork(choices):
                    step = next(choice for choice in choices if succeeds[choice])
                case Ahead() | Back() as look:
                    step = look.then

    def _succeeding(self, suffix: Suffix, before: int) -> bytearray:
        """For each step, whether a way leads from it to the end; `before` is the class of the character to the left."""
        key = suffix.takes, before if self._looks_back else 0
        succeeds = self._successes.get(key)
        if succeeds is None:
            succeeds = self._successes[key] = bytearray(len(self._steps))
            for step in self._order:
                succeeds[step] = self._succeeds(self._steps[step], succeeds, suffix.takes, before)
        return succeeds

    def _succeeds(self, step: Step, succeeds: bytearray, takes: int, before: int) -> bool:
        match step:
            case Done():
                return True
            case Take(bit=bit):
                return bool(takes & bit)
            case Fork(choices):
                return any(succeeds[choice] for choice in choices)
            case Ahead(body, negative, then):
                return bool(succeeds[body]) is not negative and bool(succeeds[then])
            case Back(members, negative, then):
                found = before != _NO_CLASS and bool(members >> before & 1)
                return found is not negative and bool(succeeds[then])


_what_begins = attrgetter("begins")


def _run_backwards(end: Suffix, block: bytes) -> Suffix:
    return reduce(getitem, reversed(block), end)


def _inner_first(steps: Sequence[Step]) -> list[int]:
    """All steps, each behind those that it goes on to without taking a character."""
    order: list[int] = []
    seen = bytearray(len(steps))
    for root in range(len(steps)):
        pending = [root]
        while pending:
            step = pending[-1]
            if not seen[step]:
                seen[step] = 1
                pending += [other for other in goes_on_to(steps[step]) if not seen[other]]
                continue
            pending.pop()
            if seen[step] == 1:
                seen[step] = 2
                order.append(step)
    return order
