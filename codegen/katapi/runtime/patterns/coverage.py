"""Proves of a pattern that it matches at every character of every text, so that no gap can lie between its matches.

Sets of characters are sets of classes here, as integers whose bit n says whether class n is a member.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from katapi.runtime.patterns.tree import Alternation, Behind, CharacterSet, Class, Look, Mode, Node, Repeat, Sequence

Members: TypeAlias = Callable[[CharacterSet], int]
"""Gives the classes of a set of characters."""


def covers_every_character(root: Alternation, members: Members, every: int) -> bool:
    """Whether the proof succeeds. It can fail for a pattern that does match everywhere, never the other way round.

    `members` gives the classes of a set, `every` is the set of all classes.
    """
    return _sure(root, members) == every


def matches_nothing(node: Node | Sequence) -> bool:
    """Whether `node` can match the empty text."""
    match node:
        case Class():
            return False
        case Repeat():
            return node.minimum == 0 or matches_nothing(node.item)
        case Look() | Behind():
            return True
        case Alternation():
            return any(map(matches_nothing, node.choices))
        case Sequence():
            return all(map(matches_nothing, node.items))


def _sure(node: Node | Sequence, members: Members) -> int:
    """The characters at which `node` matches whatever stands before and after them."""
    match node:
        case Class():
            return members(node.members)
        case Repeat():
            return _sure(node.item, members) if node.minimum == 1 else 0
        case Look() | Behind():
            return 0
        case Alternation():
            sure = 0
            for choice in node.choices:
                sure |= _sure(choice, members)
            return sure
        case Sequence():
            return _sure_sequence(node, members)


def _sure_sequence(node: Sequence, members: Members) -> int:
    """A sequence is sure where its one obligatory item is, and what is optional before it keeps nothing from it."""
    sure: int | None = None
    taken = 0
    for item in node.items:
        if isinstance(item, Repeat) and item.minimum == 0:
            if sure is None and item.mode is Mode.POSSESSIVE:
                taken |= _first(item, members)
        elif sure is None:
            sure = _sure(item, members) & ~taken
        else:
            return 0
    return sure or 0


def _first(item: Repeat, members: Members) -> int:
    """What a possessive repetition takes: it repeats a class."""
    return members(item.item.members) if isinstance(item.item, Class) else -1
