"""Makes one pattern of several that cut a text in turn, each the pieces that those before it gave.

All but the last must repeat a single class, such as `\\p{N}{1,3}`: then the class of a character tells in which of
their pieces it stands. A piece of theirs ends where characters of other classes begin, and there the text ends for the
patterns behind them. So every set of these is limited to the characters of one kind of piece: what a match would take,
or a look-ahead look for, beyond the piece is in none of the sets, as nothing is at the end of a text.
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from itertools import chain

from katapi.runtime.dataclass import dataclass
from katapi.runtime.patterns.coverage import matches_nothing, sure
from katapi.runtime.patterns.gaps import gap
from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.tree import (
    ANY,
    Alternation,
    Behind,
    Characters,
    CharacterSet,
    Class,
    Complement,
    Intersection,
    Look,
    Mode,
    Node,
    Repeat,
    Sequence,
    sets_of,
    with_sets,
)

_LIMIT = 0x110000  # above all code points


def in_turn(trees: Items[Alternation], unicode: str) -> Alternation | None:
    """A pattern whose matches are the pieces of every text; None where there is none of this kind.

    `unicode` is the version of the properties in all the patterns.
    """
    if any(map(matches_nothing, trees)):
        return None
    partition = Partition([item for tree in trees for item in sets_of(tree)], unicode)
    *outer, last = trees
    counted: list[Sequence] = []  # the choices for pieces that are cut no more
    regions = [_Region(ANY, partition.every)]
    for index, tree in enumerate(outer):
        found = repeated(tree)
        if found is None:
            return None
        members, most = found
        classes = partition.members(members)
        inside = [region.limited(members, classes) for region in regions]
        regions = [region.limited(Complement(members), ~classes) for region in regions]
        if most is None:
            regions += inside
            continue
        for region in inside:
            if most > 1 and any(_can_match(later, partition, region.classes) for later in trees[index + 1 :]):
                return None  # a pattern cuts the matches of one before it that has an upper bound
            counted += region.choices_of(tree, partition)
    pieces = [region.pieces(last, partition) for region in regions if region.classes]
    return Alternation((*chain.from_iterable(pieces), *counted))


@dataclass(frozen=True)
class _Region:
    """Characters that stand in pieces of one kind: as a set, and as a set of classes."""

    members: CharacterSet
    classes: int

    def limited(self, members: CharacterSet, classes: int) -> _Region:
        """Those of them that are in a set."""
        return _Region(Intersection((self.members, members)), self.classes & classes)

    def choices_of(self, tree: Alternation, partition: Partition) -> tuple[Sequence, ...]:
        """A pattern as it matches in such a piece; what can match nothing there is left out."""
        kept = Alternation(tuple(one for one in tree.choices if _can_match(one, partition, self.classes)))
        return with_sets(kept, lambda item: Intersection((item, self.members))).choices

    def pieces(self, tree: Alternation, partition: Partition) -> tuple[Sequence, ...]:
        """Its matches, and what lies between them: only characters at which no match is sure to begin."""
        choices = self.choices_of(tree, partition)
        left = self.classes & ~sure(tree, lambda item: partition.members(item) & self.classes)
        members = Characters(partition.ranges(left, _LIMIT))
        if not choices:
            return (Sequence((Repeat(Class(members), 1, None, Mode.GREEDY),), 0, 0),)
        return (*choices, gap(Alternation(choices), members)) if left else choices


def repeated(tree: Alternation) -> tuple[CharacterSet, int | None] | None:
    """The class that a pattern repeats, and how often at most; None where it does more."""
    match tree:
        case Alternation((Sequence((Class(members),)),)):
            return members, 1
        case Alternation((Sequence((Repeat(Class(members), 1, most, Mode.GREEDY),)),)):
            return members, most
        case _:
            return None


def _can_match(node: Node | Sequence, partition: Partition, classes: int) -> bool:
    """Whether a text of some classes can match, as far as can be seen without looking around."""
    match node:
        case Class(members):
            return bool(partition.members(members) & classes)
        case Repeat(item, minimum):
            return minimum == 0 or _can_match(item, partition, classes)
        case Look() | Behind():
            return True
        case Alternation(choices):
            return any(_can_match(choice, partition, classes) for choice in choices)
        case Sequence(items):
            return all(_can_match(item, partition, classes) for item in items)
