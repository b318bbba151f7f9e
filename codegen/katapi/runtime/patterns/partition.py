"""Partitions all code points into the classes that a pattern tells apart.

Two characters are of one class where every set of the pattern holds both or neither. What runs over a text sees its
classes only, a byte for each character, so Unicode's size appears in one table and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.patterns.properties import property_members
from katapi.runtime.patterns.sets import Ranges, union
from katapi.runtime.patterns.tree import Characters, CharacterSet, Complement, Intersection, Property, Union

MOST_CLASSES = 256
"""A class is one byte."""
_CODE_POINTS = 0x110000
_BLOCK = 256  # code points in a block of the table; equal blocks are stored once


class Partition:
    """The classes of some sets of characters, numbered from 0; the sets' properties are those of one Unicode version.

    Raises `ValueError` where there are more than 256.
    """

    def __init__(self, sets: Iterable[CharacterSet], unicode: str) -> None:
        wanted = list(dict.fromkeys(sets))
        leaves = list(dict.fromkeys(leaf for item in wanted for leaf in _leaves(item)))
        starts, signatures = _sweep([_ranges(leaf, unicode) for leaf in leaves])
        kinds = list(dict.fromkeys(signatures))
        every = (1 << len(kinds)) - 1
        by_leaf: dict[CharacterSet, int] = {
            leaf: sum(1 << kind for kind, signature in enumerate(kinds) if signature >> bit & 1)
            for bit, leaf in enumerate(leaves)
        }
        by_set = {item: _evaluate(item, by_leaf, every) for item in wanted}
        # Kinds that only leaves tell apart, not the sets that are made of them, fall together.
        held = [tuple(mask >> kind & 1 for mask in by_set.values()) for kind in range(len(kinds))]
        class_of_held = {held_by: number for number, held_by in enumerate(dict.fromkeys(held))}
        self.count = len(class_of_held)
        """How many classes there are."""
        if self.count > MOST_CLASSES:
            raise ValueError(
                f"the pattern tells {self.count} classes of characters apart; {MOST_CLASSES} are supported"
            )
        self.every = (1 << self.count) - 1
        """All classes, as a set: bit n says whether class n is a member."""
        class_of_kind = {signature: class_of_held[held[kind]] for kind, signature in enumerate(kinds)}
        self._starts = starts
        self._classes = [class_of_kind[signature] for signature in signatures]
        self._by_set = {
            item: sum(1 << number for held_by, number in class_of_held.items() if held_by[index])
            for index, item in enumerate(wanted)
        }

    def members(self, item: CharacterSet) -> int:
        """The classes in `item`, one of the sets that were given, as a set."""
        return self._by_set[item]

    def ranges(self, members: int, limit: int) -> Ranges:
        """The characters of a set of classes whose code points lie below `limit`."""
        ends = (*self._starts[1:], _CODE_POINTS)
        segments = zip(self._starts, ends, self._classes, strict=True)
        return union(
            ((start, min(end, limit) - 1),)
            for start, end, number in takewhile(lambda segment: segment[0] < limit, segments)
            if members >> number & 1
        )

    def classes_of(self, text: str) -> bytes:
        """The class of each character of `text`."""
        if text.isascii():
            return text.encode().translate(self._ascii)
        index, blocks = self._table
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        classes: NDArray[np.uint8] = blocks[index[points // _BLOCK] + points % _BLOCK]
        return classes.tobytes()

    def flat(self) -> NDArray[np.uint8]:
        """The class of each code point: uint8 of shape [0x110000]."""
        lengths = np.diff(np.array([*self._starts, _CODE_POINTS]))
        return np.repeat(np.array(self._classes, dtype=np.uint8), lengths)

    @cached_property
    def _ascii(self) -> bytes:
        """The class of each character below 128, and 128 bytes more that mean nothing."""
        classes = bytearray(256)
        for start, number in zip(self._starts, self._classes, strict=True):
            classes[start:] = bytes([number]) * (256 - start) if start < 256 else b""
        return bytes(classes)

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Where in the second array the block of a code point begins, by its number shifted; and the blocks."""
        blocks: dict[bytes, int] = {}
        index = [blocks.setdefault(block.tobytes(), len(blocks)) for block in self.flat().reshape(-1, _BLOCK)]
        return np.array(index, dtype=np.uint32) * _BLOCK, np.frombuffer(b"".join(blocks), dtype=np.uint8)


def _leaves(item: CharacterSet) -> Iterator[Characters | Property]:
    match item:
        case Characters() | Property():
            yield item
        case Union(items) | Intersection(items):
            for part in items:
                yield from _leaves(part)
        case Complement(part):
            yield from _leaves(part)


def _ranges(leaf: Characters | Property, unicode: str) -> Ranges:
    return leaf.ranges if isinstance(leaf, Characters) else property_members(leaf.name, unicode)


def _sweep(sets: list[Ranges]) -> tuple[list[int], list[int]]:
    """Where code points begin that are in other sets than the one before, from 0 on; and in which sets, as bits."""
    changes: dict[int, int] = {0: 0}
    for bit, ranges in enumerate(sets):
        for first, last in ranges:
            changes[first] = changes.get(first, 0) ^ 1 << bit
            changes[last + 1] = changes.get(last + 1, 0) ^ 1 << bit
    changes.pop(_CODE_POINTS, None)
    starts = sorted(changes)
    signatures: list[int] = []
    signature = 0
    for start in starts:
        signature ^= changes[start]
        signatures.append(signature)
    return starts, signatures


def _evaluate(item: CharacterSet, by_leaf: dict[CharacterSet, int], every: int) -> int:
    match item:
        case Characters() | Property():
            return by_leaf[item]
        case Union(items):
            members = 0
            for part in items:
                members |= _evaluate(part, by_leaf, every)
            return members
        case Intersection(items):
            members = every
            for part in items:
                members &= _evaluate(part, by_leaf, every)
            return members
        case Complement(part):
            return every & ~_evaluate(part, by_leaf, every)
