"""Compiles the tree of a pattern into the steps of a nondeterministic automaton over classes of characters.

A way through the steps from `start` to `Done` is a match; where a `Fork` gives a choice, the first one is preferred
(Thompson, "Regular expression search algorithm", 1968, with the order of Perl). Sets of classes are integers whose bit
n says whether class n is a member.
"""

from __future__ import annotations

from typing import TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.patterns.coverage import Members
from katapi.runtime.patterns.tree import Alternation, Behind, Class, Look, Mode, Node, Repeat, Sequence

MOST_STEPS = 4096
"""More steps would make too large an automaton."""


@dataclass(frozen=True)
class Done:
    """The end of a match, or of what a look-ahead looks for."""


@dataclass(frozen=True)
class Take:
    """Takes one character of a class in `members` and goes on at `then`. `bit` is a power of two of its own."""

    members: int
    then: int
    bit: int


@dataclass(frozen=True)
class Fork:
    """Goes on at the first of the steps `choices` that leads to the end."""

    choices: tuple[int, ...]


@dataclass(frozen=True)
class Ahead:
    """Goes on at `then` where the steps from `body` lead to the end from here, or, `negative`, where they do not."""

    body: int
    negative: bool
    then: int


@dataclass(frozen=True)
class Back:
    """Goes on at `then` where the character before is of `members`, or, `negative`, where it is not or none is."""

    members: int
    negative: bool
    then: int


Step: TypeAlias = "Done | Take | Fork | Ahead | Back"
"""Steps are known by their index; 0 is the end of a match."""


class Program:
    """The `steps` of a pattern, which begins at `start`. Raises `ValueError` where there are more than 4,096."""

    def __init__(self, root: Alternation, members: Members) -> None:
        self._members = members
        self._takes = 0
        self.steps: list[Step] = [Done()]
        self.start = self._compile(root, 0)

    def _add(self, step: Step) -> int:
        if len(self.steps) >= MOST_STEPS:
            raise ValueError(f"the pattern is too large: it has more than {MOST_STEPS} steps")
        self.steps.append(step)
        return len(self.steps) - 1

    def _compile(self, node: Node | Sequence, then: int) -> int:
        """The step at which `node` begins; after it, it goes on at `then`."""
        match node:
            case Class():
                self._takes += 1
                return self._add(Take(self._members(node.members), then, 1 << self._takes - 1))
            case Alternation():
                choices = tuple(self._compile(choice, then) for choice in node.choices)
                return choices[0] if len(choices) == 1 else self._add(Fork(choices))
            case Sequence():
                for item in reversed(node.items):
                    then = self._compile(item, then)
                return then
            case Look():
                return self._add(Ahead(self._compile(node.body, 0), node.negative, then))
            case Behind():
                return self._add(Back(self._members(node.members), node.negative, then))
            case Repeat():
                return self._repeat(node, then)

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.maximum is None:
            then = self._loop(node, then)
        else:
            leave = then
            for _ in range(node.maximum - node.minimum):
                then = self._add(self._fork(node, self._compile(node.item, then), leave))
        for _ in range(node.minimum):
            then = self._compile(node.item, then)
        return then

    def _loop(self, node: Repeat, leave: int) -> int:
        loop = self._add(Done())  # until its two ways are known
        self.steps[loop] = self._fork(node, self._compile(node.item, loop), leave)
        return loop

    def _fork(self, node: Repeat, again: int, leave: int) -> Fork:
        """Once more, or on. A possessive repetition goes on only where it cannot be once more."""
        if node.mode is Mode.LAZY:
            return Fork((leave, again))
        if node.mode is Mode.POSSESSIVE:
            leave = self._add(Ahead(self._compile(node.item, 0), True, leave))
        return Fork((again, leave))


def goes_on_to(step: Step) -> tuple[int, ...]:
    """The steps that `step` may go on to, or look at, without taking a character."""
    match step:
        case Done() | Take():
            return ()
        case Fork(choices):
            return choices
        case Ahead(body, _, then):
            return body, then
        case Back(_, _, then):
            return (then,)
