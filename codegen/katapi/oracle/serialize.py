"""`x as s`: a value as text, by the settings of a serialization.

Written from ECMA-404, ECMA-262 (`Number::toString`, the order of properties) and RFC 8785, a character at a time. A
value that arrived as text and is kept `verbatim` is written as that text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from katapi.model.declarations import Escape, Floats, Integers, LineEnd, Nan, Serialization
from katapi.oracle.key_order import ordered, units
from katapi.oracle.python_notation import python_text
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
from katapi.runtime.errors import TemplateError
from katapi.runtime.places import json_path
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment, Path

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_SAFE_INTEGER = 2**53 - 1


def json_text(value: Value, settings: Serialization) -> str:
    """The JSON text of a value. Raises `TemplateError` for the first number in it that the settings refuse."""
    if settings.python is not None:
        return python_text(value, settings.order, settings.python)
    _refuse(value, settings, ())
    return _text(value, settings, 0)


def _refuse(value: Value, settings: Serialization, path: Path) -> None:
    """`path` leads from the value that is serialized; what stands as its own source is not looked into."""
    where = json_path(path)
    match value:
        case Whole(value=number):
            if settings.integers is Integers.SAFE and abs(number) > _MAX_SAFE_INTEGER:
                raise TemplateError(f"{number} is no safe integer", code="T143", where=where)
            if settings.integers is Integers.ROUNDED and not math.isfinite(_nearest(number)):
                _refuse(Fraction(math.inf, None), settings, path)
        case Fraction(value=number):
            if settings.nan is Nan.REJECT and not math.isfinite(number):
                raise TemplateError("no JSON number", code="T140", where=where)
        case Items(items=items):
            for index, item in enumerate(items):
                _refuse(item, settings, (*path, index))
        case Pairs(pairs=pairs, source=None):
            for key, member in pairs:
                _refuse(member, settings, (*path, key))
        case _:
            pass


def _text(value: Value, settings: Serialization, depth: int) -> str:
    """The JSON text of a value that stands `depth` lists and objects deep."""
    match value:
        case Absent():
            return "null"
        case Truth(value=truth):
            return "true" if truth else "false"
        case Whole(value=number):
            if settings.integers is Integers.ROUNDED and abs(number) > 2**53:
                return _number(_nearest(number), settings)
            return str(number)
        case Fraction(value=number):
            return _number(number, settings)
        case LiteralSegment(text=text) | ContentSegment(text=text) | Merged(text=text):
            return _quoted(text, settings)
        case Passage():
            return _quoted(value.text, settings)
        case Items(items=items):
            return _enclosed("[", [_text(item, settings, depth + 1) for item in items], "]", settings, depth)
        case Pairs(source=str() as source):
            return source
        case Pairs(pairs=pairs):
            members = [
                _quoted(key, settings) + settings.key_separator + _text(member, settings, depth + 1)
                for key, member in ordered(pairs, settings.order)
            ]
            return _enclosed("{", members, "}", settings, depth)
        case Moment() | Record() | OracleMessage() | ControlSegment():
            raise AssertionError("the resolver lets only JSON values be serialized")


def _quoted(text: str, settings: Serialization) -> str:
    return '"' + "".join(_spelled(character, settings.escape) for character in text) + '"'


def _spelled(character: str, escape: tuple[Escape, ...]) -> str:
    """A character as it stands within the quotes."""
    if character in _SHORT:
        return _SHORT[character]
    if character == "/" and Escape.SLASH in escape:
        return "\\/"
    number = ord(character)
    if (
        number < 0x20
        or (Escape.ASCII in escape and number > 0x7E)
        or (Escape.CONTROLS in escape and 0x7F <= number <= 0x9F)
        or (Escape.LINE_SEPARATORS in escape and character in "\u2028\u2029")
        or (Escape.HTML in escape and character in "<>&'")
    ):
        return "".join(f"\\u{unit:04x}" for unit in units(character))
    return character


def _nearest(number: int) -> float:
    """The nearest 64-bit float, infinite where it would be beyond the greatest."""
    return float(Decimal(number))


def _number(number: float, settings: Serialization) -> str:
    if math.isnan(number) or math.isinf(number):
        if settings.nan is Nan.NULL:
            return "null"
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    return repr(number) if settings.floats is Floats.PYTHON else _javascript(number)


def _javascript(number: float) -> str:
    """ECMA-262, Number::toString: `digits` has `k` of them, and the number is 0.digits times ten to the `n`."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + _javascript(-number)
    _, parts, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, parts))
    k = len(digits)
    n = k + exponent
    if k <= n <= 21:
        return digits + "0" * (n - k)
    if 0 < n <= 21:
        return digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + digits
    power = f"e+{n - 1}" if n > 0 else f"e-{1 - n}"
    return digits + power if k == 1 else digits[0] + "." + digits[1:] + power


def _enclosed(opening: str, members: Sequence[str], closing: str, settings: Serialization, depth: int) -> str:
    """The members between brackets, with an indent each on a line of its own."""
    if not members:
        return opening + closing
    if settings.indent is None:
        return opening + settings.item_separator.join(members) + closing
    line_end = "\r\n" if settings.indent.line_end is LineEnd.CRLF else "\n"
    inner = line_end + " " * (settings.indent.spaces * (depth + 1))
    outer = line_end + " " * (settings.indent.spaces * depth)
    return opening + inner + (settings.item_separator + inner).join(members) + outer + closing
