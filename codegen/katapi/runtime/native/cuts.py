"""Which patterns a tokenizer's pre-tokenizers cut by, in turn: what an automaton is derived from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.properties import PROPERTIES, property_members
from katapi.runtime.patterns.syntax import Dialect, parse
from katapi.runtime.patterns.tree import (
    Alternation,
    Characters,
    CharacterSet,
    Complement,
    Intersection,
    Property,
    Union,
    sets_of,
    with_sets,
)
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.options import Behaviour

Cut: TypeAlias = "tuple[str, str]"
"""A pattern in Katapi's dialect, whose matches and what lies between are pieces, and the Unicode of its properties."""


class NotScannable(Exception):
    """Pre-tokenizers that no automaton cuts as; the text says why."""


def cuts_of(stages: Sequence[c.PreTokenizer], unicode: c.UnicodeVersions) -> tuple[Cut, ...]:
    """The patterns by which text is cut, each applied to the pieces that those before it give.

    Raises `NotScannable` where a stage does something else than cut.
    """
    cuts: list[Cut] = []
    for index, stage in enumerate(stages):
        match stage:
            case c.Split(c.Regex(source, dialect), behaviour, invert):
                pattern = _in_own_dialect(source, dialect)
                if behaviour is Behaviour.REMOVED and invert:
                    if not _matches_everywhere(pattern, unicode.patterns):
                        raise NotScannable("what no pattern matches is left out")
                elif behaviour is not Behaviour.ISOLATED:
                    raise NotScannable(f"the matches of a pattern are treated as {behaviour.value!r}")
                cuts.append((pattern, unicode.patterns))
            case c.Digits(individual):
                cuts.append((r"\p{N}" if individual else r"\p{N}+", unicode.characters))
            case c.ByteLevel(add_prefix_space=False, use_regex=use_regex) if index == len(stages) - 1:
                if use_regex:
                    from katapi.runtime.tokenization.build_stages import GPT2

                    cuts.append((GPT2, unicode.patterns))
            case _:
                raise NotScannable(f"the pre-tokenizer {type(stage).__name__} is not a cut at a pattern")
    if not cuts:
        raise NotScannable("text is not cut")
    return tuple(cuts)


def trees_of(cuts: Sequence[Cut]) -> tuple[Alternation, ...]:
    """The patterns as trees. Where their versions of Unicode differ, properties are written out as characters."""
    trees = [parse(pattern, PROPERTIES) for pattern, _ in cuts]
    if len({unicode for _, unicode in cuts}) == 1:
        return tuple(trees)
    return tuple(_written_out(tree, unicode) for tree, (_, unicode) in zip(trees, cuts, strict=True))


def partition_of(cuts: Sequence[Cut]) -> Partition:
    """The classes of characters that all the patterns together tell apart."""
    return Partition([item for tree in trees_of(cuts) for item in sets_of(tree)], cuts[0][1])


def _in_own_dialect(source: str, dialect: Dialect) -> str:
    if dialect is Dialect.TIKTOKEN:
        return source
    from katapi.runtime.patterns.printer import restate  # only patterns of files are of another dialect

    return restate(source)


def _matches_everywhere(pattern: str, unicode: str) -> bool:
    from katapi.runtime.patterns.matcher import compile_pattern

    return compile_pattern(pattern, unicode=unicode).total


def _written_out(root: Alternation, unicode: str) -> Alternation:
    """The tree with the members of each property in its place."""

    def members(item: CharacterSet) -> CharacterSet:
        match item:
            case Property(name):
                return Characters(property_members(name, unicode))
            case Characters():
                return item
            case Union(items):
                return Union(tuple(map(members, items)))
            case Intersection(items):
                return Intersection(tuple(map(members, items)))
            case Complement(inner):
                return Complement(members(inner))

    return with_sets(root, members)
