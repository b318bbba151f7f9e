"""The deterministic automaton by which the end of a piece is found, derived from the patterns that cut.

It goes from left to right and looks at one class of characters after the other. A state is what the pattern can still
do, in the order in which it prefers it (Pike's threads; Cox, "Regular expression matching: the virtual machine
approach", 2009): where the match can end, what is preferred less is given up, so the last end that was passed is that
of a backtracking engine. A look-ahead of one character is answered by the character that the state looks at anyway.

Patterns that cut in turn make one automaton. All but the last must repeat a single class, such as `\\p{N}{1,3}`: then
the class of a character tells in which of their pieces it stands, and for the patterns behind them a piece of theirs
ends where characters of other classes begin.
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass, replace

from katapi.runtime.native.cuts import Cut, NotScannable, partition_of, trees_of
from katapi.runtime.patterns.coverage import matches_nothing
from katapi.runtime.patterns.in_turn import repeated
from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.program import Ahead, Back, Done, Fork, Program, Step, Take
from katapi.runtime.patterns.tree import Alternation

MOST_STATES = 200
"""More would make tables too large."""
_MOST_CLASSES = 60  # sets of them are integers of 64 bits


@dataclass(frozen=True)
class Way:
    """What a state does at a class of characters: `ends` says that a piece can end before it, `to` where it goes on."""

    ends: bool
    to: int | None


@dataclass(frozen=True)
class State:
    """`ways` by class; the last is that of the end of the text. `path` is a shortest way there, in classes."""

    ways: tuple[Way, ...]
    path: tuple[int, ...]


@dataclass(frozen=True)
class Region:
    """Where pieces are found in the same way: in a stretch of characters of the set of classes `members`.

    `start` is the state before the first character. With `gaps` there may be no match there.
    """

    members: int
    start: int
    gaps: bool


@dataclass(frozen=True)
class Scanning:
    """The automaton of some cuts; every class is in one region. A set of classes has a bit for each."""

    cuts: tuple[Cut, ...]
    """The patterns."""
    partition: Partition
    """The classes of characters that they tell apart."""
    states: tuple[State, ...]
    """As few as can be."""
    regions: tuple[Region, ...]
    """One where no patterns cut in turn."""

    @property
    def end(self) -> int:
        """What stands for the end of the text beside the classes."""
        return self.partition.count


def scanning_of(cuts: tuple[Cut, ...]) -> Scanning:
    """The automaton of a pre-tokenizer. Raises `NotScannable` where there is none of this kind."""
    partition = partition_of(cuts)
    if partition.count > _MOST_CLASSES:
        raise NotScannable(f"the patterns tell {partition.count} classes of characters apart")
    trees = trees_of(cuts)
    if any(map(matches_nothing, trees)):
        raise NotScannable("a pattern matches the empty text")
    machine = _Machine(partition)
    regions: list[Region] = []
    for members, tree in _regions(trees, machine):
        start = machine.start(tree, members)
        regions.append(Region(members, start, machine.can_fail(start)))
    return _smallest(Scanning(cuts, partition, tuple(machine.states), tuple(regions)))


def _regions(trees: Items[Alternation], machine: _Machine) -> list[tuple[int, Alternation]]:
    """The sets of classes of regions, and the pattern by which text is cut there."""
    *outer, last = trees
    counted: list[tuple[int, Alternation]] = []
    inside = [machine.partition.every]  # stretches without a match of the patterns so far, or of an endless one
    for index, tree in enumerate(outer):
        found = repeated(tree)
        if found is None:
            raise NotScannable("a pattern before the last one is more than a repeated class")
        members, most = found
        matching = machine.partition.members(members)
        rest = [region & ~matching for region in inside]
        matches = [region & matching for region in inside]
        if most is None:
            rest += matches
        else:
            for region in filter(None, matches):
                if most > 1 and any(machine.can_match(machine.start(tree, region)) for tree in trees[index + 1 :]):
                    raise NotScannable("a pattern cuts the matches of one before it that has an upper bound")
                counted.append((region, tree))
        inside = [region for region in rest if region]
    return [*counted, *((region, last) for region in inside)]


class _Machine:
    """Makes the states that can be reached, each from the threads that are left and the classes that the text has."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.states: list[State] = []
        self._programs: dict[Alternation, Program] = {}
        self._indices: dict[tuple[Alternation, int, tuple[int, ...]], int] = {}
        self._keys: list[tuple[Alternation, int, tuple[int, ...]]] = []

    def start(self, tree: Alternation, allowed: int) -> int:
        """The state before the first character of a text whose characters are of the classes `allowed`."""
        try:
            program = self._programs.setdefault(tree, Program(tree, self.partition.members))
        except ValueError as error:  # it is too large
            raise NotScannable(str(error)) from None
        paths: dict[int, tuple[int, ...]] = {}
        start = self._index(tree, allowed, (program.start,))
        paths[start] = ()
        while len(self.states) < len(self._keys):
            if len(self.states) > MOST_STATES:
                raise NotScannable(f"it takes more than {MOST_STATES} states")
            index = len(self.states)
            ways: list[Way] = []
            for number in range(self.partition.count + 1):
                ends, threads = self._step(self._keys[index], number)
                to = self._index(tree, allowed, threads) if threads else None
                ways.append(Way(ends, to))
                if to is not None:
                    paths.setdefault(to, (*paths[index], number))
            self.states.append(State(tuple(ways), paths[index]))
        return start

    def can_match(self, start: int) -> bool:
        """Whether there is a text that matches."""
        return any(way.ends for index in self._reached(start) for way in self.states[index].ways)

    def can_fail(self, start: int) -> bool:
        """Whether there is a text, not an empty one, that does not match: a way to the end that passes no end."""
        pending, seen = [way.to for way in self.states[start].ways[:-1]], {start}
        if self._allowed(start) != self._allowed_that_go_on(start):
            return True
        while pending:
            index = pending.pop()
            if index is None or index in seen:
                continue
            seen.add(index)
            for way in self.states[index].ways:
                if not way.ends:
                    if way.to is None:
                        return True
                    pending.append(way.to)
        return False

    def _allowed(self, index: int) -> int:
        return self._keys[index][1]

    def _allowed_that_go_on(self, index: int) -> int:
        return sum(1 << number for number, way in enumerate(self.states[index].ways) if way.to is not None)

    def _reached(self, start: int) -> set[int]:
        seen, pending = {start}, [start]
        while pending:
            for way in self.states[pending.pop()].ways:
                if way.to is not None and way.to not in seen:
                    seen.add(way.to)
                    pending.append(way.to)
        return seen

    def _index(self, tree: Alternation, allowed: int, threads: tuple[int, ...]) -> int:
        key = tree, allowed, threads
        if key not in self._indices:
            self._indices[key] = len(self._keys)
            self._keys.append(key)
        return self._indices[key]

    def _step(self, key: tuple[Alternation, int, tuple[int, ...]], number: int) -> tuple[bool, tuple[int, ...]]:
        """Whether a match can end before a character of a class, and the threads that take it."""
        tree, allowed, threads = key
        steps = self._programs[tree].steps
        here = 1 << number & allowed
        following: dict[int, None] = {}
        seen: set[int] = set()
        pending = [*reversed(threads)]
        while pending:
            index = pending.pop()
            if index in seen:
                continue
            seen.add(index)
            match steps[index]:
                case Done():
                    return True, tuple(following)
                case Take(members, then):
                    if members & here:
                        following[then] = None
                case Fork(choices):
                    pending += reversed(choices)
                case Ahead(body, negative, then):
                    if _sees(steps, body, here) is not negative:
                        pending.append(then)
                case Back():
                    raise NotScannable("a pattern looks back")
        return False, tuple(following)


def _sees(steps: list[Step], body: int, here: int) -> bool:
    """Whether what a look-ahead looks for begins with a character of a class, and is no more than that."""
    match steps[body]:
        case Done():
            return True
        case Take(members, then):
            if not isinstance(steps[then], Done):
                raise NotScannable("a pattern looks ahead farther than one character")
            return bool(members & here)
        case Fork(choices):
            seen = [_sees(steps, choice, here) for choice in choices]  # each of them, so that each is looked through
            return any(seen)
        case Ahead(inner, negative, then):
            return _sees(steps, inner, here) is not negative and _sees(steps, then, here)
        case Back():
            raise NotScannable("a pattern looks back")


def _smallest(scanning: Scanning) -> Scanning:
    """The same with as few states as possible (Moore 1956)."""
    states = scanning.states
    block = [0] * len(states)
    while True:
        signatures = [
            (block[index], tuple((way.ends, None if way.to is None else block[way.to]) for way in state.ways))
            for index, state in enumerate(states)
        ]
        numbers = {signature: number for number, signature in enumerate(dict.fromkeys(signatures))}
        refined = [numbers[signature] for signature in signatures]
        if len(numbers) == len(set(block)):
            break
        block = refined
    first = {number: index for index, number in reversed([*enumerate(refined)])}
    kept = tuple(
        State(
            tuple(Way(way.ends, None if way.to is None else refined[way.to]) for way in states[first[number]].ways),
            min(
                (state.path for state, own in zip(states, refined, strict=True) if own == number),
                key=lambda p: (len(p), p),
            ),
        )
        for number in range(len(numbers))
    )
    regions = tuple(replace(region, start=refined[region.start]) for region in scanning.regions)
    return replace(scanning, states=kept, regions=regions)
