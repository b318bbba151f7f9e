"""A backtracking matcher for pre-tokenizer patterns, in which each kind of node gives the ends it can match up to.

The dialect is that of tokenizer.json and tiktoken: alternation, `(?:…)`, `(?i:…)`, look-ahead, bracket expressions,
`\\p{…}`, `\\s`, `\\d`, quantifiers greedy, lazy and possessive. Character classes are those of one pinned Unicode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TypeAlias

from katapi.runtime.unicode.tables import WHITE_SPACE, general_category

_NAMED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_SHORT = {"s": "WS", "d": "Nd"}


@dataclass(frozen=True, slots=True)
class Property:
    """A Unicode property, by the name of its table (`L`, `N`, `WS`), or its complement."""

    name: str
    negated: bool


@dataclass(frozen=True, slots=True)
class One:
    """One character out of a set; `folded` compares without regard to case."""

    ranges: tuple[tuple[str, str], ...]
    properties: tuple[Property, ...]
    negated: bool
    folded: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """One node after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first alternative that leads to a match."""

    alternatives: tuple[Sequence, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A node from `least` to `most` times; `manner` is `""`, `"?"` (lazy) or `"+"` (possessive)."""

    item: One | Choice
    least: int
    most: int | None
    manner: str


@dataclass(frozen=True, slots=True)
class Ahead:
    """What follows must match, or must not; nothing is taken."""

    body: Choice
    negated: bool


Node: TypeAlias = One | Sequence | Choice | Repeat | Ahead


class PatternError(ValueError):
    """A pattern outside the dialect."""


def split(pattern: str, unicode: str, text: str) -> list[str]:
    """The matches of a pattern, leftmost and one after the other, and what lies between them; nothing is empty."""
    root = _Reader(pattern).whole()
    pieces: list[str] = []
    position = start = 0
    while start < len(text):
        end = next(_ends(root, unicode, text, start), start)
        if end == start:
            start += 1
            continue
        if start > position:
            pieces.append(text[position:start])
        pieces.append(text[start:end])
        position = start = end
    if position < len(text):
        pieces.append(text[position:])
    return pieces


# ---- matching


def _ends(node: Node, unicode: str, text: str, at: int) -> Iterator[int]:
    """Where a match of the node that begins at `at` can end, best first."""
    match node:
        case One():
            if at < len(text) and _fits(node, unicode, text[at]):
                yield at + 1
        case Sequence(items=items):
            if not items:
                yield at
                return
            for end in _ends(items[0], unicode, text, at):
                yield from _ends(Sequence(items[1:]), unicode, text, end)
        case Choice(alternatives=alternatives):
            for alternative in alternatives:
                yield from _ends(alternative, unicode, text, at)
        case Repeat(manner="+"):
            yield from islice(_repeated(node, unicode, text, at), 1)
        case Repeat():
            yield from _repeated(node, unicode, text, at)
        case Ahead(body=body, negated=negated):
            found = next(_ends(body, unicode, text, at), None) is not None
            if found is not negated:
                yield at


def _repeated(node: Repeat, unicode: str, text: str, at: int) -> Iterator[int]:
    """The ends of a repetition; that of a single character is counted, so that long runs do not nest."""
    if isinstance(node.item, One):
        ends = [at]
        while (node.most is None or len(ends) <= node.most) and ends[-1] < len(text):
            if not _fits(node.item, unicode, text[ends[-1]]):
                break
            ends.append(ends[-1] + 1)
        fitting = ends[node.least :]
        yield from fitting if node.manner == "?" else reversed(fitting)
        return
    if node.manner == "?" and node.least == 0:
        yield at
    if node.most is None or node.most > 0:
        rest = Repeat(node.item, max(node.least - 1, 0), None if node.most is None else node.most - 1, node.manner)
        for end in _ends(node.item, unicode, text, at):
            if end > at:
                yield from _repeated(rest, unicode, text, end)
    if node.manner != "?" and node.least == 0:
        yield at


def _fits(one: One, unicode: str, character: str) -> bool:
    if one.folded:
        inside = any(character.casefold() == member.casefold() for member in _members(one))
    else:
        inside = any(first <= character <= last for first, last in one.ranges)
    for wanted in one.properties:
        inside = inside or (ord(character) in _table(unicode, wanted.name)) is not wanted.negated
    return inside is not one.negated


def _members(one: One) -> list[str]:
    return [chr(code) for first, last in one.ranges for code in range(ord(first), ord(last) + 1)]


@cache
def _table(unicode: str, name: str) -> frozenset[int]:
    """The code points of a property in a version of Unicode."""
    points = WHITE_SPACE if name == "WS" else general_category(name, unicode)
    return frozenset(code for first, last in points.ranges for code in range(first, last + 1))


# ---- reading


class _Reader:
    """Recursive descent over a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def whole(self) -> Choice:
        root = self._choice(folded=False)
        self._require(self._at == len(self._pattern))
        return root

    def _choice(self, *, folded: bool) -> Choice:
        alternatives = [self._sequence(folded=folded)]
        while self._take("|"):
            alternatives.append(self._sequence(folded=folded))
        return Choice(tuple(alternatives))

    def _sequence(self, *, folded: bool) -> Sequence:
        items: list[Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            items.append(self._repeat(folded=folded))
        return Sequence(tuple(items))

    def _repeat(self, *, folded: bool) -> Node:
        item = self._item(folded=folded)
        bounds = self._bounds()
        if bounds is None:
            return item
        self._require(isinstance(item, One | Choice))
        assert isinstance(item, One | Choice)
        manner = "?" if self._take("?") else "+" if self._take("+") else ""
        return Repeat(item, bounds[0], bounds[1], manner)

    def _bounds(self) -> tuple[int, int | None] | None:
        if self._take("?"):
            return 0, 1
        if self._take("*"):
            return 0, None
        if self._take("+"):
            return 1, None
        if not self._take("{"):
            return None
        least, comma, most = self._up_to("}").partition(",")
        self._require(least.isdecimal() and (not most or most.isdecimal()))
        return int(least), int(most) if most else None if comma else int(least)

    def _item(self, *, folded: bool) -> One | Choice | Ahead:
        if self._take("(?:"):
            return self._closed(folded=folded)
        if self._take("(?i:"):
            return self._closed(folded=True)
        if self._take("(?="):
            return Ahead(self._closed(folded=folded), negated=False)
        if self._take("(?!"):
            return Ahead(self._closed(folded=folded), negated=True)
        if self._take("["):
            return self._bracket(folded=folded)
        self._require(self._pattern[self._at] not in "()[]{}*+?.^$")
        return self._one([self._member()], negated=False, folded=folded)

    def _closed(self, *, folded: bool) -> Choice:
        body = self._choice(folded=folded)
        self._require(self._take(")"))
        return body

    def _bracket(self, *, folded: bool) -> One:
        negated = self._take("^")
        members: list[Property | tuple[str, str]] = []
        while not self._take("]"):
            self._require(self._at < len(self._pattern))
            first = self._member()
            if isinstance(first, tuple) and self._at_range() and self._take("-"):
                last = self._member()
                self._require(isinstance(last, tuple))
                assert isinstance(last, tuple)
                first = (first[0], last[1])
            members.append(first)
        return self._one(members, negated=negated, folded=folded)

    def _at_range(self) -> bool:
        """Whether a `-` comes that does not stand at the end of the brackets."""
        return self._pattern[self._at : self._at + 1] == "-" and self._pattern[self._at + 1 : self._at + 2] != "]"

    def _one(self, members: list[Property | tuple[str, str]], *, negated: bool, folded: bool) -> One:
        ranges = tuple(m for m in members if isinstance(m, tuple))
        properties = tuple(m for m in members if isinstance(m, Property))
        self._require(not folded or (not properties and all(last.isascii() for _, last in ranges)))
        return One(ranges, properties, negated, folded)

    def _member(self) -> Property | tuple[str, str]:
        """A character, as a range of one, or a property."""
        character = self._next()
        if character != "\\":
            return character, character
        escaped = self._next()
        if escaped in "pP":
            self._require(self._take("{"))
            return Property(self._up_to("}"), negated=escaped == "P")
        if escaped.lower() in _SHORT:
            return Property(_SHORT[escaped.lower()], negated=escaped.isupper())
        self._require(escaped in _NAMED or not escaped.isalnum())
        plain = _NAMED.get(escaped, escaped)
        return plain, plain

    def _take(self, token: str) -> bool:
        if self._pattern.startswith(token, self._at):
            self._at += len(token)
            return True
        return False

    def _next(self) -> str:
        self._require(self._at < len(self._pattern))
        self._at += 1
        return self._pattern[self._at - 1]

    def _up_to(self, mark: str) -> str:
        end = self._pattern.find(mark, self._at)
        self._require(end >= 0)
        text, self._at = self._pattern[self._at : end], end + len(mark)
        return text

    def _require(self, holds: bool) -> None:
        if not holds:
            raise PatternError(f"this is outside the dialect, at character {self._at} of {self._pattern!r}")
