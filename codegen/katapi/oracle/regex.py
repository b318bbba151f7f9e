"""A backtracking matcher for the patterns of tokenizers, in which each kind of node gives the ends it can match up to.

The dialects are those of tiktoken (fancy-regex) and tokenizer.json (Oniguruma): alternation, groups, `(?i:…)`,
look-ahead, look-behind, anchors, bracket expressions with `&&` and inside one another, `\\p{…}`, `\\s`, `\\d`, `\\w`,
quantifiers greedy, lazy and possessive. Character classes are those of one pinned Unicode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import TypeAlias

from katapi.oracle.characters import members, property_name
from katapi.runtime.patterns.syntax import Dialect

_NAMED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_SHORT = {"s": "WS", "d": "Nd", "w": "WORD"}

# ---- sets of characters


@dataclass(frozen=True, slots=True)
class Range:
    """The characters from one to another; `folded` compares without regard to case."""

    first: str
    last: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Property:
    """The characters of a Unicode property, by the name of its table."""

    name: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """What is in one of the sets; of none, nothing."""

    sets: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """What is in all of the sets."""

    sets: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """What is not in the set."""

    set: Set


Set: TypeAlias = Range | Property | AnyOf | AllOf | Not

_LINE_FEED = Range("\n", "\n")
_JOINERS = Range("\u200c", "\u200d")
_RAISED_AND_PARTS = AnyOf((Range("\u00b2", "\u00b3"), Range("\u00b9", "\u00b9"), Range("\u00bc", "\u00be")))

# ---- patterns


@dataclass(frozen=True, slots=True)
class One:
    """One character out of a set."""

    set: Set


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
class Look:
    """What follows, or what stands `behind`, must match, or must not; nothing is taken."""

    body: Choice
    behind: bool
    negated: bool


class Place(Enum):
    """A place between two characters."""

    TEXT_START = "\\A"
    TEXT_END = "\\z"
    LINE_START = "^"
    LINE_END = "$"
    WORD_EDGE = "\\b"
    NO_WORD_EDGE = "\\B"


@dataclass(frozen=True, slots=True)
class At:
    """A place, at which nothing is taken; `word` says what a word is made of."""

    place: Place
    word: Set


Node: TypeAlias = One | Sequence | Choice | Repeat | Look | At


class PatternError(ValueError):
    """A pattern outside the dialects."""


def split(pattern: str, unicode: str, text: str, dialect: Dialect = Dialect.TIKTOKEN) -> list[str]:
    """The matches of a pattern and what lies between them; nothing is empty."""
    cuts = [0, *(cut for span in spans(pattern, unicode, text, dialect) for cut in span), len(text)]
    return [text[start:end] for start, end in pairwise(cuts) if start < end]


def spans(pattern: str, unicode: str, text: str, dialect: Dialect = Dialect.TIKTOKEN) -> list[tuple[int, int]]:
    """Where the matches of a pattern begin and end, leftmost and one after the other.

    An empty match counts unless it stands right behind another match.
    """
    root = parsed(pattern, dialect)
    found: list[tuple[int, int]] = []
    start = 0
    while start <= len(text):
        end = next(_ends(root, unicode, text, start), None)
        if end is None or (end == start and found and found[-1][1] == start):
            start += 1
            continue
        found.append((start, end))
        start = end
    return found


@lru_cache(maxsize=512)
def parsed(pattern: str, dialect: Dialect) -> Choice:
    """The tree of a pattern. Raises `PatternError`."""
    return _Reader(pattern, dialect).whole()


# ---- matching


def _ends(node: Node, unicode: str, text: str, at: int) -> Iterator[int]:
    """Where a match of the node that begins at `at` can end, best first."""
    match node:
        case One(set=wanted):
            if at < len(text) and _fits(wanted, unicode, text[at]):
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
        case Look(body=body, behind=False, negated=negated):
            if (next(_ends(body, unicode, text, at), None) is not None) is not negated:
                yield at
        case Look(body=body, negated=negated):
            if any(at in _ends(body, unicode, text, start) for start in range(at + 1)) is not negated:
                yield at
        case At(place=place, word=word):
            if _stands_at(place, word, unicode, text, at):
                yield at


def _repeated(node: Repeat, unicode: str, text: str, at: int) -> Iterator[int]:
    """The ends of a repetition; that of a single character is counted, so that long runs do not nest."""
    if isinstance(node.item, One):
        ends = [at]
        while (node.most is None or len(ends) <= node.most) and ends[-1] < len(text):
            if not _fits(node.item.set, unicode, text[ends[-1]]):
                break
            ends.append(ends[-1] + 1)
        fitting = ends[node.least :]
        yield from fitting if node.manner == "?" else reversed(fitting)
        return
    if node.manner == "?" and node.least == 0:
        yield at
    if node.most is None or node.most > 0:
        rest = replace(node, least=max(node.least - 1, 0), most=None if node.most is None else node.most - 1)
        for end in _ends(node.item, unicode, text, at):
            if end > at:
                yield from _repeated(rest, unicode, text, end)
            else:
                yield at  # once without a character is as good as any number of times
    if node.manner != "?" and node.least == 0:
        yield at


def _stands_at(place: Place, word: Set, unicode: str, text: str, at: int) -> bool:
    match place:
        case Place.TEXT_START:
            return at == 0
        case Place.TEXT_END:
            return at == len(text)
        case Place.LINE_START:  # what follows the last line feed of a text is no line
            return at == 0 or (text[at - 1] == "\n" and at < len(text))
        case Place.LINE_END:
            return at == len(text) or text[at] == "\n"
        case Place.WORD_EDGE | Place.NO_WORD_EDGE:
            before = at > 0 and _fits(word, unicode, text[at - 1])
            behind = at < len(text) and _fits(word, unicode, text[at])
            return (before is not behind) is (place is Place.WORD_EDGE)


@cache
def _fits(wanted: Set, unicode: str, character: str) -> bool:
    match wanted:
        case Range(folded=True):
            folded = character.casefold()
            return any(chr(code).casefold() == folded for code in range(ord(wanted.first), ord(wanted.last) + 1))
        case Range():
            return wanted.first <= character <= wanted.last
        case Property():
            return character in members(wanted.name, unicode)
        case AnyOf():
            return any(_fits(one, unicode, character) for one in wanted.sets)
        case AllOf():
            return all(_fits(one, unicode, character) for one in wanted.sets)
        case Not():
            return not _fits(wanted.set, unicode, character)


# ---- reading


class _Reader:
    """Recursive descent over a pattern."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self._pattern = pattern
        self._lines = dialect is Dialect.TOKENIZERS
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
        counted = self._pattern.startswith("{", self._at)
        bounds = self._bounds()
        if bounds is None:
            return item
        self._require(isinstance(item, One | Choice))
        assert isinstance(item, One | Choice)
        least, most = bounds
        lazy = self._take("?")
        possessive = not lazy and self._take("+")
        self._require(self._pattern[self._at : self._at + 1] not in ("?", "*", "+", "{"))
        if counted and self._lines:  # Oniguruma: `{2}?` may be left out, and `{2}+` is repeated
            if lazy and least == most:
                return Repeat(_grouped(Repeat(item, least, most, "")), 0, 1, "")
            if possessive:
                return Repeat(_grouped(Repeat(item, least, most, "")), 1, None, "")
        return Repeat(item, least, most, "?" if lazy else "+" if possessive else "")

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
        self._require((least or most).isdecimal() and (not least or least.isdecimal()))
        self._require(not most or most.isdecimal())
        return int(least or 0), int(most) if most else None if comma else int(least)

    def _item(self, *, folded: bool) -> One | Choice | Look | At:
        for opening, behind, negated in (("(?=", 0, 0), ("(?!", 0, 1), ("(?<=", 1, 0), ("(?<!", 1, 1)):
            if self._take(opening):
                return Look(self._closed(folded=folded), behind=bool(behind), negated=bool(negated))
        if self._take("(?i:"):
            return self._closed(folded=True)
        if self._take("(?:"):
            return self._closed(folded=folded)
        self._require(not self._pattern.startswith("(?", self._at))
        if self._take("("):
            return self._closed(folded=folded)
        place = self._place()
        if place is not None:
            return At(place, self._word(in_brackets=False))
        if self._take("["):
            return One(self._bracket(folded=folded))
        if self._take("."):
            return One(Not(_LINE_FEED))
        self._require(self._pattern[self._at] not in "()[*+?{")
        member = self._member(folded=folded, in_brackets=False)
        return One(Range(member, member, folded) if isinstance(member, str) else member)

    def _place(self) -> Place | None:
        for place in Place:
            if self._take(place.value):
                if place is Place.LINE_START and not self._lines:
                    return Place.TEXT_START
                return Place.TEXT_END if place is Place.LINE_END and not self._lines else place
        return None

    def _closed(self, *, folded: bool) -> Choice:
        body = self._choice(folded=folded)
        self._require(self._take(")"))
        return body

    def _bracket(self, *, folded: bool) -> Set:
        """What stands in brackets: `^` binds least, then `&&`, then what stands side by side."""
        negated = self._take("^")
        parts = [self._union(folded=folded)]
        while self._take("&&"):
            parts.append(self._union(folded=folded))
        self._require(self._take("]"))
        whole = AllOf(tuple(parts))
        return Not(whole) if negated else whole

    def _union(self, *, folded: bool) -> Set:
        found: list[Set] = []
        while not self._pattern.startswith(("]", "&&"), self._at):
            if self._take("["):
                found.append(self._bracket(folded=folded))
                continue
            first = self._member(folded=folded, in_brackets=True)
            if not isinstance(first, str):
                found.append(first)
                continue
            last: str | Set = first
            if self._at_range() and self._take("-"):
                last = self._member(folded=folded, in_brackets=True)
            self._require(isinstance(last, str) and first <= last and (not folded or last.isascii()))
            assert isinstance(last, str)
            found.append(Range(first, last, folded))
        self._require(bool(found))
        return AnyOf(tuple(found))

    def _at_range(self) -> bool:
        """Whether a `-` comes that does not stand at the end of the brackets."""
        return self._pattern[self._at : self._at + 1] == "-" and self._pattern[self._at + 1 : self._at + 2] != "]"

    def _member(self, *, folded: bool, in_brackets: bool) -> str | Set:
        """A character, or a property."""
        character = self._next()
        if character != "\\":
            self._require(not folded or character.isascii())
            return character
        escaped = self._next()
        if escaped in "pP":
            self._require(not folded and self._take("{"))
            spelled = self._up_to("}")
            name = property_name(spelled.removeprefix("^"))
            self._require(name is not None)
            assert name is not None
            inverse = spelled.startswith("^") is not (escaped == "P")
            return Not(Property(name)) if inverse else Property(name)
        if escaped.lower() in _SHORT:
            wanted: Set = Property(_SHORT[escaped.lower()])
            if escaped in "wW":
                self._require(not folded)
                wanted = self._word(in_brackets=in_brackets)
            return Not(wanted) if escaped.isupper() else wanted
        if escaped in "xu":
            digits = self._up_to("}") if self._take("{") else self._some(2 if escaped == "x" else 4)
            return chr(int(digits, 16))
        self._require(escaped in _NAMED or not (escaped.isascii() and escaped.isalnum()))
        return _NAMED.get(escaped, escaped)

    def _word(self, *, in_brackets: bool) -> Set:
        r"""What `\w` means: to Oniguruma no joiners, and, outside of brackets, six numbers of Latin-1."""
        if not self._lines:
            return Property("WORD")
        plain = AllOf((Property("WORD"), Not(_JOINERS)))
        return plain if in_brackets else AnyOf((plain, _RAISED_AND_PARTS))

    def _take(self, token: str) -> bool:
        if self._pattern.startswith(token, self._at):
            self._at += len(token)
            return True
        return False

    def _next(self) -> str:
        return self._some(1)

    def _some(self, count: int) -> str:
        self._require(self._at + count <= len(self._pattern))
        self._at += count
        return self._pattern[self._at - count : self._at]

    def _up_to(self, mark: str) -> str:
        end = self._pattern.find(mark, self._at)
        self._require(end >= 0)
        text, self._at = self._pattern[self._at : end], end + len(mark)
        return text

    def _require(self, holds: bool) -> None:
        if not holds:
            raise PatternError(f"this is outside the dialect, at character {self._at} of {self._pattern!r}")


def _grouped(item: Node) -> Choice:
    return Choice((Sequence((item,)),))
