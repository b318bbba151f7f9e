"""Reads a pre-tokenizer pattern into a tree.

Every literal character becomes a class of one member, and case-insensitive ones become classes of all their forms, so
that the tree has four kinds of node only.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

# Simple case folding makes only two ASCII letters equal to characters beyond ASCII: long s and the Kelvin sign.
_BEYOND_ASCII = {"s": 0x17F, "k": 0x212A}

_ESCAPES = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B}
_SHORTHANDS = {"s": ("WS", False), "S": ("WS", True), "d": ("Nd", False), "D": ("Nd", True)}
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)}
_SURROGATES = range(0xD800, 0xE000)


class Mode(Enum):
    """How a repetition gives back what it took."""

    GREEDY = auto()
    LAZY = auto()
    POSSESSIVE = auto()


@dataclass(frozen=True)
class Property:
    """A Unicode property as a member of a class, or its complement."""

    name: str
    negated: bool


@dataclass(frozen=True)
class Class:
    """One character, in one of the ranges (inclusive) or with one of the properties; negated, any other."""

    ranges: tuple[tuple[int, int], ...]
    properties: tuple[Property, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Repeat:
    """`item` from `minimum` to `maximum` times (None: without bound)."""

    item: Class | Alternation
    minimum: int
    maximum: int | None
    mode: Mode


@dataclass(frozen=True)
class Look:
    """Looks ahead: what follows must match, or must not."""

    body: Alternation
    negative: bool


@dataclass(frozen=True)
class Sequence:
    """One item after the other. `start` and `end` say where it stands in the pattern."""

    items: tuple[Node, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Alternation:
    """The first choice that leads to a match."""

    choices: tuple[Sequence, ...]


Node: TypeAlias = "Class | Repeat | Look | Alternation"


class PatternError(ValueError):
    """A pattern that is not well formed or uses what is not supported; `position` counts its characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (position {position})")
        self.message = message
        self.position = position


def parse(pattern: str, properties: Set[str]) -> Alternation:
    """The tree of `pattern`.

    `properties` are the names that may stand in `\\p{…}`. Raises `PatternError`.
    """
    parser = _Parser(pattern, properties)
    root = parser.alternation(ignore_case=False)
    if not parser.at_end:
        raise parser.fault("this parenthesis closes no group")
    return root


class _Parser:
    """A recursive descent over the pattern; `_position` is the next character."""

    def __init__(self, pattern: str, properties: Set[str]) -> None:
        self._pattern = pattern
        self._properties = properties
        self._position = 0

    @property
    def at_end(self) -> bool:
        return self._position == len(self._pattern)

    def fault(self, message: str, position: int | None = None) -> PatternError:
        return PatternError(message, self._position if position is None else position)

    def alternation(self, *, ignore_case: bool) -> Alternation:
        choices = [self._sequence(ignore_case)]
        while self._take("|"):
            choices.append(self._sequence(ignore_case))
        return Alternation(tuple(choices))

    def _sequence(self, ignore_case: bool) -> Sequence:
        start = self._position
        items: list[Node] = []
        while not self.at_end and self._peek() not in "|)":
            items.append(self._repeated(ignore_case))
        return Sequence(tuple(items), start, self._position)

    def _repeated(self, ignore_case: bool) -> Node:
        start = self._position
        item = self._single(ignore_case)
        bounds = self._bounds()
        if bounds is None:
            return item
        if isinstance(item, Look):
            raise self.fault("a look-ahead can't be repeated", start)
        mode = Mode.LAZY if self._take("?") else Mode.POSSESSIVE if self._take("+") else Mode.GREEDY
        start = self._position
        if self._bounds() is not None:
            raise self.fault("a repetition can't be repeated without a group around it", start)
        return Repeat(item, *bounds, mode)

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("?", (0, 1)), ("*", (0, None)), ("+", (1, None))):
            if self._take(sign):
                return bounds
        start = self._position
        if not self._take("{"):
            return None
        least, comma, most = self._until("}", start).partition(",")
        if not _is_number(least) or (most and not _is_number(most)):
            raise self.fault("expected {m}, {m,} or {m,n}; write \\{ for the character", start)
        minimum = int(least)
        maximum = (int(most) if most else None) if comma else minimum
        if maximum is not None and maximum < max(minimum, 1):
            raise self.fault("the upper bound is below the lower bound, or zero", start)
        return minimum, maximum

    def _single(self, ignore_case: bool) -> Class | Look | Alternation:
        start = self._position
        character = self._next()
        if character == "(":
            return self._group(start, ignore_case)
        if character == "[":
            return self._bracket(start, ignore_case)
        if character == "\\":
            member = self._escape(start)
            if isinstance(member, Property):
                return self._checked(Class((), (member,)), start, ignore_case)
            return self._checked(Class(((member, member),)), start, ignore_case)
        if character in ".^$*+?{":
            raise self.fault(f"{character!r} is not supported here; write \\{character} for the character", start)
        return self._checked(Class(((ord(character), ord(character)),)), start, ignore_case)

    def _group(self, start: int, ignore_case: bool) -> Look | Alternation:
        look: bool | None = None
        if self._take("?"):
            if self._take("i:"):
                ignore_case = True
            elif self._take("="):
                look = False
            elif self._take("!"):
                look = True
            elif not self._take(":"):
                raise self.fault("only (?:…), (?i:…), (?=…) and (?!…) are supported", start)
        body = self.alternation(ignore_case=ignore_case)
        if not self._take(")"):
            raise self.fault("this group is not closed", start)
        return body if look is None else Look(body, negative=look)

    def _bracket(self, start: int, ignore_case: bool) -> Class:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        properties: list[Property] = []
        while not self._take("]"):
            at = self._position
            member = self._member(start)
            if isinstance(member, Property):
                properties.append(member)
                continue
            last = member
            if self._peek() == "-" and self._pattern[self._position + 1 : self._position + 2] not in ("]", ""):
                self._next()
                bound = self._member(start)
                if isinstance(bound, Property) or bound < member:
                    raise self.fault("the bounds of this range are not two characters in ascending order", at)
                last = bound
            ranges.append((member, last))
        if not ranges and not properties:
            raise self.fault("this class is empty", start)
        return self._checked(Class(tuple(ranges), tuple(properties), negated), start, ignore_case)

    def _member(self, start: int) -> int | Property:
        """The next member of the class that begins at `start`."""
        if self.at_end:
            raise self.fault("this class is not closed", start)
        at = self._position
        if self._pattern.startswith(("&&", "--", "~~", "["), at):
            raise self.fault(
                "nested classes and operations on classes are not supported; write \\[ for the character", at
            )
        character = self._next()
        return self._escape(at) if character == "\\" else ord(character)

    def _escape(self, start: int) -> int | Property:
        """What stands after a backslash."""
        if self.at_end:
            raise self.fault("nothing follows this backslash", start)
        character = self._next()
        if character in _SHORTHANDS:
            return Property(*_SHORTHANDS[character])
        if character in "pP":
            if not self._take("{"):
                raise self.fault("expected \\p{…}", start)
            name = self._until("}", start)
            if name not in self._properties:
                raise self.fault(f"the Unicode property {name!r} is not supported", start)
            return Property(name, negated=character == "P")
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character in "xu":
            return self._code_point(character, start)
        if character.isascii() and character.isalnum():
            raise self.fault(f"\\{character} is not supported", start)
        return ord(character)

    def _code_point(self, kind: str, start: int) -> int:
        if self._take("{"):
            digits = self._until("}", start)
        else:
            length = 2 if kind == "x" else 4
            digits = self._pattern[self._position : self._position + length]
            self._position += len(digits)
            if len(digits) != length:
                digits = ""
        try:
            code_point = int(digits, 16)
            chr(code_point)
        except (ValueError, OverflowError):
            raise self.fault(f"expected a code point in hexadecimal after \\{kind}", start) from None
        return code_point

    def _checked(self, node: Class, start: int, ignore_case: bool) -> Class:
        """The class itself, with all forms of its letters where case does not count."""
        if any(first in _SURROGATES or last in _SURROGATES for first, last in node.ranges):
            raise self.fault("a surrogate is no character", start)
        if not ignore_case:
            return node
        if any(item.name not in ("WS", "Nd") for item in node.properties) or any(
            last > 0x7F for _, last in node.ranges
        ):
            raise self.fault("only ASCII characters, \\s and \\d are supported where case does not count", start)
        ranges = list(node.ranges)
        for first, last in node.ranges:
            for code_point in range(first, last + 1):
                forms = _forms(chr(code_point))
                ranges += [(form, form) for form in forms if not any(low <= form <= high for low, high in ranges)]
        return Class(tuple(ranges), node.properties, node.negated)

    def _until(self, closing: str, start: int) -> str:
        end = self._pattern.find(closing, self._position)
        if end < 0:
            raise self.fault(f"no {closing} closes what begins here", start)
        text = self._pattern[self._position : end]
        self._position = end + 1
        return text

    def _peek(self) -> str:
        return self._pattern[self._position : self._position + 1]

    def _next(self) -> str:
        character = self._peek()
        if ord(character) in _CONTROLS:
            raise self.fault("write this control character as an escape, such as \\n or \\x0a")
        self._position += 1
        return character

    def _take(self, text: str) -> bool:
        if not self._pattern.startswith(text, self._position):
            return False
        self._position += len(text)
        return True


def _forms(letter: str) -> list[int]:
    """An ASCII character and those that equal it where case does not count."""
    lower = letter.lower()
    beyond = [_BEYOND_ASCII[lower]] if lower in _BEYOND_ASCII else []
    return [ord(lower), ord(letter.upper()), *beyond]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
