"""Proves of a pattern that it matches at every character of every text, so that no gap can lie between its matches."""

from __future__ import annotations

import importlib
from functools import lru_cache

from katapi.runtime.patterns.syntax import Alternation, Class, Look, Mode, Node, Repeat, Sequence
from katapi.runtime.unicode.codepoints import CodePoints

# A set of code points is an integer whose bit n says whether n is a member.
_SURROGATES = ((1 << 0x800) - 1) << 0xD800
_EVERY = ((1 << 0x110000) - 1) & ~_SURROGATES


def covers_every_character(root: Alternation, unicode: str) -> bool:
    """Whether the proof succeeds. It can fail for a pattern that does match everywhere, never the other way round."""
    return _sure(root, unicode) == _EVERY


def matches_nothing(node: Node | Sequence) -> bool:
    """Whether `node` can match the empty text."""
    match node:
        case Class():
            return False
        case Repeat():
            return node.minimum == 0 or matches_nothing(node.item)
        case Look():
            return True
        case Alternation():
            return any(map(matches_nothing, node.choices))
        case Sequence():
            return all(map(matches_nothing, node.items))


def _sure(node: Node | Sequence, unicode: str) -> int:
    """The characters at which `node` matches whatever stands after them."""
    match node:
        case Class():
            return _members(node, unicode)
        case Repeat():
            return _sure(node.item, unicode) if node.minimum == 1 else 0
        case Look():
            return 0
        case Alternation():
            sure = 0
            for choice in node.choices:
                sure |= _sure(choice, unicode)
            return sure
        case Sequence():
            return _sure_sequence(node, unicode)


def _sure_sequence(node: Sequence, unicode: str) -> int:
    """A sequence is sure where its one obligatory item is, and what is optional before it keeps nothing from it."""
    sure: int | None = None
    taken = 0
    for item in node.items:
        if isinstance(item, Repeat) and item.minimum == 0:
            if sure is None and item.mode is Mode.POSSESSIVE:
                if not isinstance(item.item, Class):
                    return 0
                taken |= _members(item.item, unicode)
        elif sure is None:
            sure = _sure(item, unicode) & ~taken
        else:
            return 0
    return sure or 0


def _members(node: Class, unicode: str) -> int:
    members = _set_of(node.ranges)
    for item in node.properties:
        named = _property(item.name, unicode)
        members |= _EVERY & ~named if item.negated else named
    return _EVERY & ~members if node.negated else _EVERY & members


@lru_cache
def _property(name: str, unicode: str) -> int:
    table: object = getattr(
        importlib.import_module(f"katapi.runtime.unicode.classes_{unicode.replace('.', '_')}"), name
    )
    if not isinstance(table, CodePoints):
        raise TypeError(f"{name} is no set of code points")
    return _set_of(table.ranges)


def _set_of(ranges: tuple[tuple[int, int], ...]) -> int:
    members = 0
    for first, last in ranges:
        members |= ((1 << (last - first + 1)) - 1) << first
    return members
