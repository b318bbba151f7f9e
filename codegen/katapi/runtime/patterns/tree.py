"""The tree of a pattern.

A literal character is a class of one member, and one whose case does not count a class of all its forms. Anchors and
word boundaries are looks at the neighbouring characters. So there are five kinds of node only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from enum import Enum, auto
from typing import TypeAlias

from katapi.runtime.dataclass import dataclass


@dataclass(frozen=True)
class Characters:
    """The characters in any of `ranges`, first and last code point of each, both included."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Property:
    """The characters with a Unicode property; `name` as in `katapi.runtime.patterns.properties`."""

    name: str


@dataclass(frozen=True)
class Union:
    """The characters in any of the sets `items`."""

    items: tuple[CharacterSet, ...]


@dataclass(frozen=True)
class Intersection:
    """The characters in all of the sets `items`."""

    items: tuple[CharacterSet, ...]


@dataclass(frozen=True)
class Complement:
    """The characters outside the set `item`."""

    item: CharacterSet


CharacterSet: TypeAlias = "Characters | Property | Union | Intersection | Complement"
"""A set of characters."""

ANY = Complement(Characters(()))
"""All characters."""


class Mode(Enum):
    """How a repetition takes: `GREEDY`, as much as it can; `LAZY`, as little; `POSSESSIVE`, and gives nothing back."""

    GREEDY = auto()
    LAZY = auto()
    POSSESSIVE = auto()


@dataclass(frozen=True)
class Class:
    """One character of the set `members`."""

    members: CharacterSet


@dataclass(frozen=True)
class Repeat:
    """`item` from `minimum` to `maximum` times (None: without bound), as `mode` says.

    A possessive one repeats a class.
    """

    item: Class | Alternation
    minimum: int
    maximum: int | None
    mode: Mode


@dataclass(frozen=True)
class Look:
    """Looks ahead: what follows must match `body`, or, `negative`, must not."""

    body: Alternation
    negative: bool


@dataclass(frozen=True)
class Behind:
    """Looks back: the character before must be in `members`, or, `negative`, must not (then there may be none)."""

    members: CharacterSet
    negative: bool


@dataclass(frozen=True)
class Sequence:
    """One of `items` after the other. `start` and `end` say where it stands in the pattern, in code points from 0."""

    items: tuple[Node, ...]
    start: int = field(compare=False)
    end: int = field(compare=False)


@dataclass(frozen=True)
class Alternation:
    """The first of `choices` that leads to a match."""

    choices: tuple[Sequence, ...]


Node: TypeAlias = "Class | Repeat | Look | Behind | Alternation"
"""A part of a pattern."""


def sets_of(node: Node | Sequence) -> Iterator[CharacterSet]:
    """The sets of characters that a pattern asks about, in order."""
    match node:
        case Class(members) | Behind(members):
            yield members
        case Repeat():
            yield from sets_of(node.item)
        case Look():
            yield from sets_of(node.body)
        case Sequence():
            for item in node.items:
                yield from sets_of(item)
        case Alternation():
            for choice in node.choices:
                yield from sets_of(choice)


def with_sets(root: Alternation, change: Callable[[CharacterSet], CharacterSet]) -> Alternation:
    """The same pattern over other sets: what `change` gives for each."""
    return Alternation(tuple(_sequence_with(choice, change) for choice in root.choices))


def _sequence_with(node: Sequence, change: Callable[[CharacterSet], CharacterSet]) -> Sequence:
    return Sequence(tuple(_with(item, change) for item in node.items), node.start, node.end)


def _with(node: Node, change: Callable[[CharacterSet], CharacterSet]) -> Node:
    match node:
        case Class(members):
            return Class(change(members))
        case Behind(members, negative):
            return Behind(change(members), negative)
        case Look(body, negative):
            return Look(with_sets(body, change), negative)
        case Alternation():
            return with_sets(node, change)
        case Repeat(item, minimum, maximum, mode):
            changed = Class(change(item.members)) if isinstance(item, Class) else with_sets(item, change)
            return Repeat(changed, minimum, maximum, mode)
