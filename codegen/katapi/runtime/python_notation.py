"""JSON values in the notation of Python, as `str` and `repr` write them: `{'a': [True, None, 1.5]}`.

Templates that print a value without `tojson` print this, and models are trained on it. Which characters of a text stand
there as they are depends on the Unicode data of the Python that ran; a specification names its version.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal

from katapi.runtime.arguments import JsonText
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_spelling import ORDERS
from katapi.runtime.known_values import Key, KnownValues
from katapi.runtime.places import json_path, kind
from katapi.runtime.segments import Content
from katapi.runtime.serialization import Order, Printable
from katapi.runtime.strict_json import MAX_INTEGER_DIGITS

_ODD = re.compile(r"[^ -~]")  # all but printable ASCII
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_NO_LIST = (str, bytes, bytearray, memoryview)


@dataclass(frozen=True, slots=True)
class PythonNotation(KnownValues):
    """How a JSON value is written in the notation of Python."""

    unicode: str
    """The version of Unicode that says which characters of a text are printable; others are escaped."""
    order: Order
    """Keys in the order of the request, or as in `katapi.runtime.serialization.Serialization`."""
    absent: Literal["omitted", "null"]
    """A field that is absent is left out or None, where a template makes an object of fields. `dump` sees no absent
    field."""
    _known: dict[Key, Content] = field(init=False, repr=False, compare=False, default_factory=dict)

    def dump(self, value: Printable) -> Content:
        """`value` as Python writes it; of a `JsonText` the object, whether or not it arrived as text.

        Raises `TemplateError`: T141 for a value that JSON does not have or an integer that Python does not print, T142
        for a value that nests too deep.
        """
        try:
            return Content(self._written(value, ()))
        except RecursionError:
            raise TemplateError("a JSON value nests too deep to be printed", code="T142") from None

    def _written(self, value: object, path: tuple[str | int, ...]) -> str:
        match value:
            case None | bool():
                return str(value)
            case str():
                return python_text(value, self.unicode)
            case float():
                return float.__repr__(value)
            case int():
                if abs(value) >= 10**MAX_INTEGER_DIGITS:
                    message = f"an integer of more than {MAX_INTEGER_DIGITS} digits is too long to print"
                    raise TemplateError(message, code="T141", where=json_path(path))
                return int.__repr__(value)
            case JsonText():
                return self._written(value.value, path)
            case Mapping():
                keys = ORDERS[self.order](value)
                members = (
                    f"{python_text(key, self.unicode)}: {self._written(value[key], (*path, key))}" for key in keys
                )
                return "{" + ", ".join(members) + "}"
            case Sequence() if not isinstance(value, _NO_LIST):
                return "[" + ", ".join([self._written(item, (*path, i)) for i, item in enumerate(value)]) + "]"
            case _:
                message = f"expected a JSON value, got {kind(value)}"
                raise TemplateError(message, code="T141", where=json_path(path))


def python_text(text: str, unicode: str) -> str:
    """A text as Python's `repr` writes it: in single quotes, unless only double ones save escapes."""
    quote = '"' if "'" in text and '"' not in text else "'"
    escaped = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return quote + _ODD.sub(lambda found: _spelled(found[0], unicode), escaped) + quote


@lru_cache(maxsize=4096)
def _spelled(character: str, unicode: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if number < 0x80:
        return f"\\x{number:02x}"
    starts, ends = _unprintable(unicode)
    before = bisect_right(starts, number) - 1
    if before < 0 or number > ends[before]:
        return character
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


@cache
def _unprintable(unicode: str) -> tuple[Sequence[int], Sequence[int]]:
    """Where the ranges begin and end of the characters that are separators or what Unicode counts as `Other`."""
    from katapi.runtime.unicode.tables import general_category

    surrogates = ((0xD800, 0xDFFF),)
    ranges = sorted({*general_category("C", unicode).ranges, *general_category("Z", unicode).ranges, *surrogates})
    return [first for first, _ in ranges], [last for _, last in ranges]
