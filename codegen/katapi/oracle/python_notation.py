"""A value in the notation of Python, written from the documentation of `repr`, a character at a time."""

from __future__ import annotations

from functools import cache

from katapi.model.declarations import KeyOrder
from katapi.oracle.characters import members
from katapi.oracle.key_order import ordered
from katapi.oracle.values import (
    Absent,
    Fraction,
    Items,
    Merged,
    Moment,
    OracleMessage,
    Pairs,
    Passage,
    Record,
    Truth,
    Value,
    Whole,
)
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment

_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def python_text(value: Value, order: KeyOrder, unicode: str) -> str:
    """The value as `repr` writes it; what arrived as text counts as the object that it holds."""
    match value:
        case Absent():
            return "None"
        case Truth(value=truth):
            return "True" if truth else "False"
        case Whole(value=number):
            return str(number)
        case Fraction(value=fraction):
            return repr(fraction)
        case LiteralSegment() | ContentSegment() | Passage() | Merged():
            return _quoted(value.text, unicode)
        case Items(items=items):
            return "[" + ", ".join(python_text(item, order, unicode) for item in items) + "]"
        case Pairs(pairs=pairs):
            written = [
                f"{_quoted(key, unicode)}: {python_text(member, order, unicode)}"
                for key, member in ordered(pairs, order)
            ]
            return "{" + ", ".join(written) + "}"
        case Moment() | Record() | OracleMessage() | ControlSegment():
            raise AssertionError("the resolver lets only JSON values be serialized")


def _quoted(text: str, unicode: str) -> str:
    quote = "'"
    if "'" in text and '"' not in text:
        quote = '"'
    return quote + "".join(_spelled(character, quote, unicode) for character in text) + quote


def _spelled(character: str, quote: str, unicode: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character == quote:
        return "\\" + character
    if character in _printable(unicode):
        return character
    digits = f"{ord(character):x}"
    if len(digits) <= 2:
        return "\\x" + digits.zfill(2)
    return "\\u" + digits.zfill(4) if len(digits) <= 4 else "\\U" + digits.zfill(8)


@cache
def _printable(unicode: str) -> frozenset[str]:
    """Letters, marks, numbers, punctuation, symbols and the space."""
    return frozenset(" ").union(*(members(category, unicode) for category in "LMNPS"))
