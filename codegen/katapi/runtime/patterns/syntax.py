"""Reads a pre-tokenizer pattern into a tree (`katapi.runtime.patterns.tree`).

The language is that of tiktoken's engine (the crate fancy-regex), or that of tokenizers' (Oniguruma), as far as
patterns of the field use it. It names properties as Unicode Technical Standard #18 has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from katapi.runtime.patterns.coverage import matches_nothing
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
    Property,
    Repeat,
    Sequence,
    Union,
)

# Simple case folding makes only two ASCII letters equal to characters beyond ASCII: long s and the Kelvin sign.
_BEYOND_ASCII = {"s": 0x17F, "k": 0x212A}
# Full case folding, which Oniguruma uses, makes these pairs of letters equal to single characters (ß, ﬀ …).
_FOLDING_PAIRS = {"ss", "st", "ff", "fi", "fl"}

_ESCAPES = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B}
_LINE_FEED = Characters(((0x0A, 0x0A),))
_JOINERS = Characters(((0x200C, 0x200D),))
_LATIN_NUMBERS = Characters(((0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE)))
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)}
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_DEEPEST = 50  # groups and brackets inside one another
_SURROGATES = range(0xD800, 0xE000)


class Dialect(Enum):
    """The engine that a pattern was written for. The two read a few constructs differently.

    `TIKTOKEN` (fancy-regex) is Katapi's own: `^` and `$` are the ends of the text, `{m,n}+` is possessive, `{n}?` is
    lazy, `\\w` has the joiners U+200C and U+200D, and control characters must be written as escapes.
    `TOKENIZERS` (Oniguruma, in tokenizer.json): `^` and `$` are the ends of each line, `{m,n}+` repeats a repetition,
    `{n}?` makes it optional, `\\w` has no joiners, but outside brackets it has ² ³ ¹ ¼ ½ ¾.
    """

    TIKTOKEN = auto()
    TOKENIZERS = auto()


class PatternError(ValueError):
    """A pattern that is not well formed or uses what is not supported.

    `message` says what is wrong, `position` where: it counts characters (code points) from 0.
    """

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (position {position})")
        self.message = message
        self.position = position


def parse(pattern: str, properties: Mapping[str, str], dialect: Dialect = Dialect.TIKTOKEN) -> Alternation:
    """The tree of `pattern`.

    `properties` gives the names that may stand in `\\p{…}`, loosely written (`katapi.runtime.patterns.properties`).
    Raises `PatternError`.
    """
    parser = _Parser(pattern, properties, dialect)
    root = parser.alternation(ignore_case=False)
    if not parser.at_end:
        raise parser.fault("this parenthesis closes no group")
    return root


class _Parser:
    """A recursive descent over the pattern; `_position` is the next character."""

    def __init__(self, pattern: str, properties: Mapping[str, str], dialect: Dialect) -> None:
        self._pattern = pattern
        self._properties = properties
        self._tokenizers = dialect is Dialect.TOKENIZERS
        self._position = 0
        self._depth = 0

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
            if ignore_case and self._tokenizers and self._pattern[self._position :][:2].lower() in _FOLDING_PAIRS:
                raise self.fault("where case does not count, these two letters would equal a single character too")
            items.append(self._repeated(ignore_case))
        return Sequence(tuple(items), start, self._position)

    def _repeated(self, ignore_case: bool) -> Node:
        start = self._position
        item = self._single(ignore_case)
        counted = self._peek() == "{"
        bounds = self._bounds()
        if bounds is None:
            return item
        if isinstance(item, Look | Behind):
            raise self.fault("a look-ahead or look-behind can't be repeated", start)
        repeat: Repeat
        if counted and self._tokenizers:
            repeat = Repeat(item, *bounds, Mode.GREEDY)
            if bounds[0] == bounds[1] and self._take("?"):
                repeat = Repeat(self._group_of(repeat, start), 0, 1, Mode.GREEDY)
            elif self._take("?"):
                repeat = Repeat(item, *bounds, Mode.LAZY)
            elif self._take("+"):
                repeat = Repeat(self._group_of(repeat, start), 1, None, Mode.GREEDY)
        else:
            mode = Mode.LAZY if self._take("?") else Mode.POSSESSIVE if self._take("+") else Mode.GREEDY
            repeat = Repeat(item, *bounds, mode)
        self._check_repeat(repeat, start)
        return repeat

    def _check_repeat(self, repeat: Repeat, start: int) -> None:
        if repeat.mode is Mode.POSSESSIVE and not isinstance(repeat.item, Class):
            raise self.fault("only a character or a class can be repeated possessively", start)
        if repeat.maximum != 1 and matches_nothing(repeat.item):
            raise self.fault("what can match the empty text can't be repeated", start)
        at = self._position
        if self._bounds() is not None:
            raise self.fault("a repetition can't be repeated without a group around it", at)

    def _group_of(self, repeat: Repeat, start: int) -> Alternation:
        return Alternation((Sequence((repeat,), start, self._position),))

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("?", (0, 1)), ("*", (0, None)), ("+", (1, None))):
            if self._take(sign):
                return bounds
        start = self._position
        if not self._take("{"):
            return None
        least, comma, most = self._until("}", start).partition(",")
        if not (_is_number(least) or (not least and most)) or (most and not _is_number(most)):
            raise self.fault("expected {m}, {m,}, {,n} or {m,n}; write \\{ for the character", start)
        minimum = int(least or "0")
        maximum = (int(most) if most else None) if comma else minimum
        if maximum is not None and maximum < max(minimum, 1):
            raise self.fault("the upper bound is below the lower bound, or zero", start)
        return minimum, maximum

    def _single(self, ignore_case: bool) -> Class | Look | Behind | Alternation:
        start = self._position
        character = self._next()
        if character == "(":
            return self._group(start, ignore_case)
        if character == "[":
            return Class(self._bracket(start, ignore_case))
        if character == "\\":
            return self._anchor(start) or Class(self._escape(start, ignore_case))
        if character == ".":
            return Class(Complement(_LINE_FEED))
        if character == "$":
            return self._ahead(start, Complement(_LINE_FEED) if self._tokenizers else ANY, negative=True)
        if character == "^":
            return self._line_start(start) if self._tokenizers else Behind(ANY, negative=True)
        if character in "*+?{":
            raise self.fault(f"{character!r} repeats nothing; write \\{character} for the character", start)
        return Class(self._characters(ord(character), ord(character), start, ignore_case))

    def _group(self, start: int, ignore_case: bool) -> Class | Look | Behind | Alternation:
        if self._take("?i:"):
            body = self._closed(start, ignore_case=True)
        elif self._take("?="):
            return Look(self._closed(start, ignore_case), negative=False)
        elif self._take("?!"):
            return Look(self._closed(start, ignore_case), negative=True)
        elif self._take("?<="):
            return Behind(self._one_character(self._closed(start, ignore_case), start), negative=False)
        elif self._take("?<!"):
            return Behind(self._one_character(self._closed(start, ignore_case), start), negative=True)
        else:
            if self._peek() == "?" and not self._take("?:"):
                raise self.fault("only (…), (?:…), (?i:…), (?=…), (?!…), (?<=…) and (?<!…) are supported", start)
            body = self._closed(start, ignore_case)
        match body:
            case Alternation((Sequence((Class() as only,)),)):
                return only
            case Alternation():
                return body

    def _closed(self, start: int, ignore_case: bool) -> Alternation:
        self._enter(start)
        body = self.alternation(ignore_case=ignore_case)
        if not self._take(")"):
            raise self.fault("this group is not closed", start)
        self._depth -= 1
        return body

    def _enter(self, start: int) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.fault(f"more than {_DEEPEST} groups or classes stand inside one another", start)

    def _one_character(self, body: Alternation, start: int) -> CharacterSet:
        """What a look-behind looks for."""
        sets: list[CharacterSet] = []
        for choice in body.choices:
            match choice.items:
                case (Class(members),):
                    sets.append(members)
                case _:
                    raise self.fault("a look-behind can look at one character only", start)
        return sets[0] if len(sets) == 1 else Union(tuple(sets))

    def _anchor(self, start: int) -> Look | Behind | Alternation | None:
        """What stands after a backslash, where it is a place between characters."""
        if self._take("A"):
            return Behind(ANY, negative=True)
        if self._take("z"):
            return self._ahead(start, ANY, negative=True)
        inside = self._take("B")
        if not inside and not self._take("b"):
            return None
        word = self._word()
        return self._choices(
            start,
            (Behind(word, negative=False), self._ahead(start, word, negative=not inside)),
            (Behind(word, negative=True), self._ahead(start, word, negative=inside)),
        )

    def _line_start(self, start: int) -> Alternation:
        """The start of a line; what follows the last line feed of a text is no line."""
        after_line_feed = Behind(_LINE_FEED, negative=False), self._ahead(start, ANY, negative=False)
        return self._choices(start, (Behind(ANY, negative=True),), after_line_feed)

    def _ahead(self, start: int, members: CharacterSet, *, negative: bool) -> Look:
        return Look(self._choices(start, (Class(members),)), negative)

    def _choices(self, start: int, *choices: tuple[Node, ...]) -> Alternation:
        return Alternation(tuple(Sequence(items, start, self._position) for items in choices))

    def _word(self, *, in_brackets: bool = False) -> CharacterSet:
        word = Property("WORD")
        if not self._tokenizers:
            return word
        plain = Intersection((word, Complement(_JOINERS)))
        return plain if in_brackets else Union((plain, _LATIN_NUMBERS))

    def _bracket(self, start: int, ignore_case: bool) -> CharacterSet:
        """A class in brackets. Intersection binds less than union, and `^` least."""
        self._enter(start)
        negated = self._take("^")
        parts = [self._union(start, ignore_case)]
        while self._take("&&"):
            parts.append(self._union(start, ignore_case))
        self._take("]")
        self._depth -= 1
        whole = parts[0] if len(parts) == 1 else Intersection(tuple(parts))
        return Complement(whole) if negated else whole

    def _union(self, start: int, ignore_case: bool) -> CharacterSet:
        items: list[CharacterSet] = []
        while self._peek() != "]" and not self._pattern.startswith("&&", self._position):
            items.append(self._member(start, ignore_case))
        if not items:
            raise self.fault("this class is empty", start)
        return items[0] if len(items) == 1 else Union(tuple(items))

    def _member(self, start: int, ignore_case: bool) -> CharacterSet:
        """The next member or range of the class that begins at `start`."""
        at = self._position
        first = self._bound(start, ignore_case)
        if not isinstance(first, int):
            return first
        self._refuse_operations()
        if self._peek() != "-" or self._pattern[self._position + 1 : self._position + 2] in ("]", ""):
            return self._characters(first, first, at, ignore_case)
        self._next()
        last = self._bound(start, ignore_case)
        if not isinstance(last, int) or last < first:
            raise self.fault("the bounds of this range are not two characters in ascending order", at)
        return self._characters(first, last, at, ignore_case)

    def _bound(self, start: int, ignore_case: bool) -> int | CharacterSet:
        """A single character of a class, or a set in it."""
        if self.at_end:
            raise self.fault("this class is not closed", start)
        self._refuse_operations()
        at = self._position
        character = self._next()
        if character == "[":
            return self._bracket(at, ignore_case)
        if character != "\\":
            return ord(character)
        return self._shorthand(at, ignore_case, in_brackets=True) or self._escaped(at)

    def _refuse_operations(self) -> None:
        """Raises the error where what comes is an operation for one of the engines and characters for the other."""
        if self._pattern.startswith(("--", "~~", "[:"), self._position):
            raise self.fault("of the operations on classes only && and nested classes are supported")

    def _escape(self, start: int, ignore_case: bool) -> CharacterSet:
        """What stands after a backslash outside brackets."""
        shorthand = self._shorthand(start, ignore_case, in_brackets=False)
        if shorthand is not None:
            return shorthand
        code_point = self._escaped(start)
        return self._characters(code_point, code_point, start, ignore_case)

    def _shorthand(self, start: int, ignore_case: bool, *, in_brackets: bool) -> CharacterSet | None:
        """What stands after a backslash, where it is a set."""
        kind = self._peek()
        if not kind or kind not in "sSdDwWpP":
            return None
        self._next()
        members: CharacterSet
        negated = kind.isupper()
        if kind in "wW":
            members = self._word(in_brackets=in_brackets)
        elif kind in "pP":
            if not self._take("{"):
                raise self.fault("expected \\p{…}", start)
            name = self._until("}", start)
            negated = negated is not name.startswith("^")
            found = self._properties.get(name.removeprefix("^").lower().translate(_IGNORED))
            if found is None:
                raise self.fault(f"the Unicode property {name!r} is not supported", start)
            members = Property(found)
        else:
            members = Property("WS" if kind in "sS" else "Nd")
        if ignore_case and members not in (Property("WS"), Property("Nd")):
            raise self._caseless(start)
        return Complement(members) if negated else members

    def _escaped(self, start: int) -> int:
        """The character that stands after a backslash."""
        if self.at_end:
            raise self.fault("nothing follows this backslash", start)
        character = self._next()
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
        code_point = int(digits, 16) if 0 < len(digits) <= 8 and set(digits) <= _HEXADECIMAL else -1
        if not 0 <= code_point < 0x110000:
            raise self.fault(f"expected a code point in hexadecimal after \\{kind}", start)
        return code_point

    def _characters(self, first: int, last: int, start: int, ignore_case: bool) -> CharacterSet:
        """A range, with all forms of its letters where case does not count."""
        if first in _SURROGATES or last in _SURROGATES:
            raise self.fault("a surrogate is no character", start)
        if not ignore_case:
            return Characters(((first, last),))
        if last > 0x7F:
            raise self._caseless(start)
        forms = {form for code_point in range(first, last + 1) for form in _forms(chr(code_point))}
        others = sorted(forms - {*range(first, last + 1)})
        return Characters(((first, last), *((form, form) for form in others)))

    def _caseless(self, start: int) -> PatternError:
        return self.fault("only ASCII characters, \\s and \\d are supported where case does not count", start)

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
        if not self._tokenizers and ord(character) in _CONTROLS:
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


_IGNORED = {ord(sign): None for sign in " _-"}  # in the name of a property


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4
