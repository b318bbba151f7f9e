"""`x as s`: a value as JSON text, by the settings of a serialization.

The form is that of Python's `json.dumps` with the same separators and indent. A value that arrived as text and is kept
`verbatim` is written as that text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from katapi.model.declarations import Escape, KeyOrder, Serialization
from katapi.oracle.values import (
    Absent,
    Fraction,
    Items,
    Moment,
    OracleMessage,
    Pairs,
    Record,
    Truth,
    Value,
    Whole,
)
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment


def json_text(value: Value, settings: Serialization, depth: int = 0) -> str:
    """The JSON text of a value that stands `depth` lists and objects deep."""
    match value:
        case Absent():
            return "null"
        case Truth(value=truth):
            return "true" if truth else "false"
        case Whole(value=number):
            return str(number)
        case Fraction(value=number):
            return repr(number)
        case LiteralSegment(text=text) | ContentSegment(text=text):
            return _quoted(text, settings)
        case Items(items=items):
            return _enclosed("[", [json_text(item, settings, depth + 1) for item in items], "]", settings, depth)
        case Pairs(source=str() as source):
            return source
        case Pairs(pairs=pairs):
            if settings.order is KeyOrder.SORTED:
                pairs = tuple(sorted(pairs, key=lambda pair: pair[0]))
            members = [
                _quoted(key, settings) + settings.key_separator + json_text(member, settings, depth + 1)
                for key, member in pairs
            ]
            return _enclosed("{", members, "}", settings, depth)
        case Moment() | Record() | OracleMessage() | ControlSegment():
            raise AssertionError("the resolver lets only JSON values be serialized")


def _quoted(text: str, settings: Serialization) -> str:
    return json.dumps(text, ensure_ascii=settings.escape is Escape.ASCII)


def _enclosed(opening: str, members: Sequence[str], closing: str, settings: Serialization, depth: int) -> str:
    """The members between brackets, with an indent each on a line of its own."""
    if not members:
        return opening + closing
    if settings.indent is None:
        return opening + settings.item_separator.join(members) + closing
    inner = "\n" + " " * (settings.indent * (depth + 1))
    outer = "\n" + " " * (settings.indent * depth)
    return opening + inner + (settings.item_separator + inner).join(members) + outer + closing
