"""JSON as text, with every choice declared: the `serialization` of a specification.

A tokenizer reads bytes, so two texts of equal JSON are two inputs (the chapter, section 1.4). Here a `Serialization`
holds the choices, and `dump` is a function of them and the value alone. Where Python's own encoder has the same
choices, it writes the text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from katapi.runtime.arguments import JsonText
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_spelling import ESCAPES, MAX_SAFE_INTEGER, ORDERS, javascript_number
from katapi.runtime.json_types import Json
from katapi.runtime.known_values import Key, KnownValues
from katapi.runtime.places import json_path, kind
from katapi.runtime.segments import Content
from katapi.runtime.strict_json import MAX_INTEGER_DIGITS

Printable: TypeAlias = Json | JsonText | Sequence["Printable"] | Mapping[str, "Printable"]
"""A JSON value in which a `JsonText` may stand for an object."""


Order: TypeAlias = Literal["as_received", "sorted", "sorted_code_units", "indices_first"]
"""The order of keys: see `Serialization.order`."""
Escape: TypeAlias = Literal["ascii", "slash", "html", "line_separators", "controls"]
"""What is escaped: see `Serialization.escape`."""
LineEnd: TypeAlias = Literal["lf", "crlf"]
"""What ends a line: see `Serialization.indent`."""

_LINE_ENDS: Mapping[LineEnd, str] = {"lf": "\n", "crlf": "\r\n"}


@dataclass(frozen=True, slots=True)
class Serialization(KnownValues):
    """How JSON is written. There are no defaults: a specification declares each choice."""

    order: Order
    """Keys in the order of the request, or by code point, or by UTF-16 code unit as in RFC 8785; or as JavaScript has
    them, array indices first and by size."""
    item_separator: str
    """Between members and between elements; with `indent` a line end follows it."""
    key_separator: str
    """Between a key and its value."""
    indent: tuple[int, LineEnd] | None
    """Spaces for each level, with a line for each member and element, and what ends a line; None for one line."""
    escape: tuple[Escape, ...]
    """What is escaped beside what JSON demands (quote, backslash, U+0000 to U+001F): all that is not printable ASCII;
    the slash, as \\/; `<`, `>`, `&` and `'`; U+2028 and U+2029; U+007F to U+009F."""
    floats: Literal["python", "javascript"]
    """The shortest decimal that reads back as the same float, spelled as Python's `repr` does (`1.0`, `1e-07`), or as
    JavaScript and RFC 8785 do (`1`, `1e-7`, and `0` for -0.0)."""
    integers: Literal["exact", "rounded", "safe"]
    """All digits; or beyond 2^53 the nearest float; or beyond 2^53 - 1 a `TemplateError` T143."""
    nan: Literal["reject", "python", "null"]
    """NaN and the infinities are a `TemplateError` T140, or `NaN`, `Infinity` and `-Infinity`, or null."""
    absent: Literal["omitted", "null"]
    """A field that is absent is left out or null, where a template makes an object of fields. `dump` sees no absent
    field."""
    _encode: Callable[[Printable], str] = field(init=False, repr=False, compare=False)
    _is_encoders: bool = field(init=False, repr=False, compare=False)
    """Whether the standard encoder makes all choices, but for escapes that can be made in its text."""
    _escapes: dict[int, str] = field(init=False, repr=False, compare=False, default_factory=dict)
    _known: dict[Key, Content] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        encoder = json.JSONEncoder(
            ensure_ascii="ascii" in self.escape,
            check_circular=False,
            allow_nan=self.nan == "python",
            indent=None if self.indent is None else self.indent[0],
            sort_keys=self.order == "sorted",
            separators=(self.item_separator, self.key_separator),
            default=_plain,
        )
        object.__setattr__(self, "_encode", encoder.encode)
        is_encoders = (
            self.order in ("as_received", "sorted")
            and (self.indent is None or self.indent[1] == "lf")
            and (self.floats, self.integers) == ("python", "exact")
            and self.nan != "null"
        )
        object.__setattr__(self, "_is_encoders", is_encoders)
        for kind_of_escape in self.escape:
            self._escapes.update(ESCAPES[kind_of_escape])

    def dump(self, value: Printable) -> Content:
        """`value` as JSON text; a `JsonText` with a source prints as that source, whatever the choices are.

        Raises `TemplateError`: T140 for a float that is not finite, T141 for a value that JSON does not have or an
        integer that Python does not print, T142 for a value that nests too deep, T143 for an integer that is not safe.
        """
        try:
            if self._is_encoders:
                try:
                    text = self._encode(value)
                    return Content(text.translate(self._escapes) if self._escapes else text)
                except _VerbatimError:
                    pass
            return Content(self._written(value, "" if self.indent is None else _LINE_ENDS[self.indent[1]]))
        except (TypeError, ValueError):
            raise (self._fault(value, ()) or TemplateError("JSON cannot hold this value", code="T141")) from None
        except RecursionError:
            raise TemplateError("a JSON value nests too deep to be printed", code="T142") from None

    def _written(self, value: Printable, line_break: str) -> str:
        """The JSON text by all choices, and the source of each `JsonText` where that stands."""
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, JsonText):
            return self._written(value.value, line_break) if value.source is None else value.source
        if isinstance(value, (dict, Mapping)):
            inner = line_break if self.indent is None else line_break + " " * self.indent[0]
            members = [
                self._string(key) + self.key_separator + self._written(value[key], inner)
                for key in ORDERS[self.order](value)
            ]
            return self._lines("{", members, "}", inner, line_break)
        if isinstance(value, (list, Sequence)) and not isinstance(value, _NO_LIST):
            inner = line_break if self.indent is None else line_break + " " * self.indent[0]
            return self._lines("[", [self._written(element, inner) for element in value], "]", inner, line_break)
        if isinstance(value, bool) or value is None:
            return self._encode(value)
        if isinstance(value, int):
            return self._integer(value)
        return self._float(value) if isinstance(value, float) else self._encode(value)

    def _lines(self, opening: str, members: list[str], closing: str, inner: str, outer: str) -> str:
        if not members:
            return opening + closing
        return opening + inner + (self.item_separator + inner).join(members) + outer + closing

    def _string(self, value: str) -> str:
        text = self._encode(value)
        return text.translate(self._escapes) if self._escapes else text

    def _integer(self, value: int) -> str:
        if self.integers == "exact" or -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return int.__repr__(value)
        if self.integers == "safe":
            raise ValueError("not safe")
        if abs(value) == MAX_SAFE_INTEGER + 1:
            return int.__repr__(value)
        return self._float(_rounded(value))

    def _float(self, value: float) -> str:
        if not math.isfinite(value):
            return "null" if self.nan == "null" else self._encode(value)
        return javascript_number(value) if self.floats == "javascript" else float.__repr__(value)

    def _fault(self, value: object, path: tuple[str | int, ...]) -> TemplateError | None:
        """The error for the first part of `value` that cannot be printed."""
        where = json_path(path)
        parts: Iterable[tuple[str | int, object]] = ()
        match value:
            case None | bool() | str():
                return None
            case float():
                if self.nan != "reject" or math.isfinite(value):
                    return None
                return TemplateError(f"{value} is no JSON number", code="T140", where=where)
            case int():
                return self._integer_fault(value, where)
            case JsonText():
                return None if value.source is not None else self._fault(value.value, path)
            case Mapping():
                parts = value.items()
            case Sequence() if not isinstance(value, _NO_LIST):
                parts = enumerate(value)
            case _:
                return TemplateError(f"expected a JSON value, got {kind(value)}", code="T141", where=where)
        return next(filter(None, (self._fault(part, (*path, step)) for step, part in parts)), None)

    def _integer_fault(self, value: int, where: str) -> TemplateError | None:
        if self.integers == "safe" and abs(value) > MAX_SAFE_INTEGER:
            message = f"an integer beyond {MAX_SAFE_INTEGER} is not safe: a reader may round it"
            return TemplateError(message, code="T143", where=where, help="give it as a text")
        if self.integers == "exact" and abs(value) >= 10**MAX_INTEGER_DIGITS:
            message = f"an integer of more than {MAX_INTEGER_DIGITS} digits is too long to print"
            return TemplateError(message, code="T141", where=where)
        if self.integers == "rounded" and self.nan == "reject" and math.isinf(_rounded(value)):
            message = "an integer beyond the range of a 64-bit float is no JSON number once it is rounded"
            return TemplateError(message, code="T140", where=where)
        return None


def _rounded(value: int) -> float:
    """The float nearest to an integer, an infinity beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


_NO_LIST = (str, bytes, bytearray, memoryview)
"""Types that Python counts as sequences and JSON does not."""


class _VerbatimError(Exception):
    """The encoder met a text that must be printed as it stands, which it cannot do."""


def _plain(value: object) -> Printable:
    """What the encoder is to write for a value that is none of the types it knows."""
    match value:
        case JsonText(source=None):
            return value.value
        case JsonText():
            raise _VerbatimError
        case Mapping():
            return dict(value)
        case Sequence() if not isinstance(value, _NO_LIST):
            return list(value)
        case _:
            raise TypeError(f"JSON has no {type(value).__name__}")
