"""Translates a declared pre-tokenizer pattern into the source of a pattern for the standard `re` module.

The declared pattern is in the dialect of the field (tiktoken's and tokenizer.json's regular expressions): alternation,
groups, `(?i:…)`, classes, `\\p{…}`, `\\s`, quantifiers, look-ahead. The translation matches exactly the same texts. Its
classes are not those of the Python that runs: they are interpolated from the pinned tables in `katapi.runtime.unicode`.
"""

from __future__ import annotations

from dataclasses import dataclass

from katapi.runtime.patterns.coverage import covers_every_character, matches_nothing
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import (
    Alternation,
    Class,
    Look,
    Mode,
    Node,
    PatternError,
    Property,
    Repeat,
    Sequence,
    parse,
)

CLASS_NAMES = {
    "L": "letter",
    "Lu": "uppercase_letter",
    "Ll": "lowercase_letter",
    "Lt": "titlecase_letter",
    "Lm": "modifier_letter",
    "Lo": "other_letter",
    "M": "mark",
    "Mn": "nonspacing_mark",
    "Mc": "spacing_mark",
    "Me": "enclosing_mark",
    "N": "number",
    "Nd": "decimal_number",
    "Nl": "letter_number",
    "No": "other_number",
    "P": "punctuation",
    "Pc": "connector_punctuation",
    "Pd": "dash_punctuation",
    "Ps": "open_punctuation",
    "Pe": "close_punctuation",
    "Pi": "initial_punctuation",
    "Pf": "final_punctuation",
    "Po": "other_punctuation",
    "S": "symbol",
    "Sm": "math_symbol",
    "Sc": "currency_symbol",
    "Sk": "modifier_symbol",
    "So": "other_symbol",
    "WS": "space",
    "Z": "separator",
    "Zs": "space_separator",
    "Zl": "line_separator",
    "Zp": "paragraph_separator",
}
"""The Unicode property that a pattern names → the variable that stands for it in generated code."""


@dataclass(frozen=True)
class Alternative:
    """One alternative of the outermost level: as it was declared, and as a Python string literal.

    The literal begins with `|` for all but the first. It is a raw f-string where it names a class, otherwise a raw
    string.
    """

    declared: str
    literal: str


@dataclass(frozen=True)
class TranslatedPattern:
    """A pattern for `re`, in pieces that can be read beside the declaration.

    `properties` are the Unicode properties that it names, in the order of first use; each is to be bound to the
    variable that `CLASS_NAMES` gives. `total` says that the pattern was proven to match at every character of every
    text.
    """

    alternatives: tuple[Alternative, ...]
    properties: tuple[str, ...]
    total: bool


def translate(pattern: str, *, unicode: str) -> TranslatedPattern:
    """Translates `pattern`, its classes those of the Unicode version `unicode` (one of `CLASS_VERSIONS`).

    Raises `PatternError`, naming the position in `pattern` by its number of characters from the left, where the pattern
    is not well formed, uses what is not supported, or can match the empty text.
    """
    root = parse(pattern, PROPERTIES)
    if matches_nothing(root):
        raise PatternError("the pattern can match the empty text", 0)
    writer = _Writer()
    alternatives: list[Alternative] = []
    for index, node in enumerate(root.choices):
        source, named = writer.top(node)
        source = ("|" if index else "") + source
        literal = f'rf"{source}"' if named else f'r"{_without_doubled_braces(source)}"'
        alternatives.append(Alternative(pattern[node.start : node.end], literal))
    return TranslatedPattern(tuple(alternatives), tuple(writer.properties), covers_every_character(root, unicode))


class _Writer:
    """Writes nodes as the inside of a raw f-string: the pattern's own braces doubled, classes in single braces."""

    def __init__(self) -> None:
        self.properties: dict[str, None] = {}  # in the order of first use
        self._named = False

    def top(self, node: Sequence) -> tuple[str, bool]:
        """An alternative of the outermost level, and whether it names a class."""
        self._named = False
        source = self._sequence(node)
        return source, self._named

    def _sequence(self, node: Sequence) -> str:
        return "".join(map(self._item, node.items))

    def _item(self, node: Node) -> str:
        match node:
            case Class():
                return self._class(node)
            case Repeat():
                return self._repeat(node)
            case Alternation():
                return "(?:" + "|".join(map(self._sequence, node.choices)) + ")"
            case Look():
                return f"(?{'!' if node.negative else '='}" + "|".join(map(self._sequence, node.body.choices)) + ")"

    def _repeat(self, node: Repeat) -> str:
        item = self._item(node.item)
        if isinstance(node.item, Class) and item.startswith(("(?!", "(?=")):
            item = f"(?:{item})"
        return item + _count(node.minimum, node.maximum) + _MODES[node.mode]

    def _class(self, node: Class) -> str:
        """One character. A class that holds complements (`[^\\S\\n]`) is put together from classes that hold none."""
        complements = [item for item in node.properties if item.negated]
        members = "".join(_range(first, last) for first, last in node.ranges)
        members += "".join(self._name(item) for item in node.properties if not item.negated)
        match node:
            case Class(ranges=((first, last),), properties=(), negated=False) if first == last:
                return _character(first, special=_SPECIAL)
        if not complements:
            return f"[{'^' if node.negated else ''}{members}]"
        names = [self._name(item) for item in complements]
        if not node.negated:
            choices = [f"[{members}]"] if members else []
            choices += [f"[^{name}]" for name in names]
            return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"
        conditions = f"(?![{members}])" if members else ""
        return conditions + "".join(f"(?=[{name}])" for name in names[:-1]) + f"[{names[-1]}]"

    def _name(self, item: Property) -> str:
        self.properties.setdefault(item.name)
        self._named = True
        return f"{{{CLASS_NAMES[item.name]}}}"


_SPECIAL = frozenset(r"\.^$*+?{}[]|()")
_SPECIAL_IN_CLASS = frozenset(r"\^-[]&~|")
_NAMED_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\f": r"\f", "\v": r"\v"}
_MODES = {Mode.GREEDY: "", Mode.LAZY: "?", Mode.POSSESSIVE: "+"}


def _count(minimum: int, maximum: int | None) -> str:
    signs = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    if (minimum, maximum) in signs:
        return signs[minimum, maximum]
    bounds = str(minimum) if minimum == maximum else f"{minimum},{'' if maximum is None else maximum}"
    return f"{{{{{bounds}}}}}"


def _range(first: int, last: int) -> str:
    written = _character(first, special=_SPECIAL_IN_CLASS)
    if last == first:
        return written
    return written + ("-" if last > first + 1 else "") + _character(last, special=_SPECIAL_IN_CLASS)


def _character(code_point: int, *, special: frozenset[str]) -> str:
    character = chr(code_point)
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    if not 0x20 <= code_point < 0x7F or character == '"':
        if code_point < 0x100:
            return f"\\x{code_point:02x}"
        return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
    doubled = character * 2 if character in "{}" else character
    return "\\" + doubled if character in special else doubled


def _without_doubled_braces(source: str) -> str:
    return source.replace("{{", "{").replace("}}", "}")
