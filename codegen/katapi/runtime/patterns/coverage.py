"""Proves of a pattern that it matches at every character of every text, so that no gap can lie between its matches.

Sets of characters are sets of classes here, as integers whose bit n says whether class n is a member.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from typing import TypeAlias

from katapi.runtime.patterns.gaps import gap_of
from katapi.runtime.patterns.tree import Alternation, Behind, CharacterSet, Class, Look, Mode, Node, Repeat, Sequence

Members: TypeAlias = Callable[[CharacterSet], int]
"""Gives the classes of a set of characters."""


def covers_every_character(root: Alternation, members: Members, every: int) -> bool:
    """Whether the proof succeeds. It can fail for a pattern that does match everywhere, never the other way round.

    `members` gives the classes of a set, `every` is the set of all classes.
    """
    return sure(root, members) == every


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


def sure(node: Node | Sequence, members: Members) -> int:
    """The characters at which `node` matches whatever stands before and after them."""
    match node:
        case Class():
            return members(node.members)
        case Repeat():
            return sure(node.item, members) if node.minimum == 1 else 0
        case Look() | Behind():
            return 0
        case Alternation():
            found = 0
            for index, choice in enumerate(node.choices):
                found |= sure(choice, members) | _sure_gap(choice, node.choices[:index], members)
            return found
        case Sequence():
            return _sure_sequence(node, members)


def _sure_sequence(node: Sequence, members: Members) -> int:
    """A sequence is sure where its one obligatory item is, and what is optional before it keeps nothing from it."""
    found: int | None = None
    taken = 0
    for item in node.items:
        if isinstance(item, Repeat) and item.minimum == 0:
            if found is None and item.mode is Mode.POSSESSIVE:
                taken |= _first(item, members)
        elif found is None:
            found = sure(item, members) & ~taken
        else:
            return 0
    return found or 0


def _sure_gap(node: Sequence, before: Items[Sequence], members: Members) -> int:
    """What no match begins with is a gap, where the choices before it are all those matches."""
    made_of = gap_of(node)
    if made_of is None:
        return 0
    matches, left = made_of
    return members(left) if all(choice in before for choice in matches.choices) else 0


def _first(item: Repeat, members: Members) -> int:
    """What a possessive repetition takes: it repeats a class."""
    return members(item.item.members) if isinstance(item.item, Class) else -1
