"""JSON as text, with every choice declared: the `serialization` of a specification.

A tokenizer reads bytes, so two texts of equal JSON are two inputs. Here a `Serialization` holds the choices, and `dump`
is a function of them and the value alone. Its texts are those of Python's `json.dumps` with the same choices.
"""

from __future__ import annotations

import json
import marshal
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from katapi.runtime.arguments import JsonText
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_faults import MAX_INTEGER_DIGITS
from katapi.runtime.json_types import Json
from katapi.runtime.places import json_path, kind
from katapi.runtime.read_objects import ReadObject
from katapi.runtime.segments import Content

_MARSHAL_WITHOUT_REFERENCES = 2  # later versions write an object that is met again as a reference
_MOST_KNOWN = 512
_LONGEST_KNOWN = 1 << 16  # characters or bytes

Printable: TypeAlias = Json | JsonText | Sequence["Printable"] | Mapping[str, "Printable"]
"""A JSON value in which a `JsonText` may stand for an object."""


@dataclass(frozen=True, slots=True)
class Serialization:
    """How JSON is written. There are no defaults: a specification declares each choice."""

    order: Literal["as_received", "sorted"]
    """Keys in the order of the request, or by code point."""
    item_separator: str
    """Between members and between elements; with `indent` a line break follows it."""
    key_separator: str
    """Between a key and its value."""
    indent: int | None
    """Spaces for each level, with a line for each member and element; None for one line. Line breaks are LF."""
    escape: Literal["minimal", "ascii"]
    """Only what JSON demands (quote, backslash, U+0000 to U+001F), or all that is not ASCII as well, as \\uXXXX."""
    floats: Literal["python"]
    """The shortest decimal that reads back as the same float, written as Python's `repr` does: `1.0`, `1e-07`."""
    nan: Literal["reject"]
    """NaN and the infinities are a `TemplateError`."""
    absent: Literal["omitted"]
    """A field that is absent is left out, where a template makes an object of fields. `dump` sees no absent field."""
    _encode: Callable[[Printable], str] = field(init=False, repr=False, compare=False)
    _known: dict[str | bytes, Content] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        encoder = json.JSONEncoder(
            ensure_ascii=self.escape == "ascii",
            check_circular=False,
            allow_nan=False,
            indent=self.indent,
            sort_keys=self.order == "sorted",
            separators=(self.item_separator, self.key_separator),
            default=_plain,
        )
        object.__setattr__(self, "_encode", encoder.encode)

    def dump(self, value: Printable) -> Content:
        """`value` as JSON text; a `JsonText` with a source prints as that source, whatever the choices are.

        Raises `TemplateError`: T140 for a float that is not finite, T141 for a value that JSON does not have or an
        integer that Python does not print, T142 for a value that nests too deep.
        """
        try:
            try:
                return Content(self._encode(value))
            except _VerbatimError:
                return Content(self._written(value, "" if self.indent is None else "\n"))
        except (TypeError, ValueError):
            raise (_fault(value, ()) or TemplateError("JSON cannot hold this value", code="T141")) from None
        except RecursionError:
            raise TemplateError("a JSON value nests too deep to be printed", code="T142") from None

    def dump_known(self, value: Json) -> Content:
        """`dump`, with a bounded memory of the values met before: tool schemas come again with every request.

        The key is the text that the value was read from, or the whole value as `marshal` writes it: both tell apart
        whatever `dump` tells apart.
        """
        key: str | bytes
        if isinstance(value, ReadObject):
            key = value.source
        else:
            try:
                key = marshal.dumps(value, _MARSHAL_WITHOUT_REFERENCES)  # type: ignore[arg-type]  # it refuses by itself
            except ValueError:  # a Mapping or Sequence of another kind
                return self.dump(value)
        text = self._known.get(key)
        if text is None:
            text = self.dump(value)
            if len(key) <= _LONGEST_KNOWN:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = text
        return text

    def _written(self, value: Printable, line_break: str) -> str:
        """What the encoder writes, but with the source of each `JsonText` where that stands."""
        if isinstance(value, JsonText):
            return self._written(value.value, line_break) if value.source is None else value.source
        if isinstance(value, _NO_LIST) or not isinstance(value, (dict, list, Mapping, Sequence)):
            return self._encode(value)
        if not value:
            return "{}" if isinstance(value, Mapping) else "[]"
        inner = line_break + " " * (self.indent or 0)
        between = self.item_separator + inner
        if isinstance(value, (dict, Mapping)):
            keys = sorted(value) if self.order == "sorted" else value
            members = [self._encode(key) + self.key_separator + self._written(value[key], inner) for key in keys]
            return "{" + inner + between.join(members) + line_break + "}"
        elements = [self._written(element, inner) for element in value]
        return "[" + inner + between.join(elements) + line_break + "]"


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


def _fault(value: object, path: tuple[str | int, ...]) -> TemplateError | None:
    """The error for the first part of `value` that cannot be printed."""
    where = json_path(path)
    parts: Iterable[tuple[str | int, object]] = ()
    match value:
        case None | bool() | str():
            return None
        case float():
            if math.isfinite(value):
                return None
            return TemplateError(f"{value} is no JSON number", code="T140", where=where)
        case int():
            if abs(value) < 10**MAX_INTEGER_DIGITS:
                return None
            message = f"an integer of more than {MAX_INTEGER_DIGITS} digits is too long to print"
            return TemplateError(message, code="T141", where=where)
        case JsonText():
            return _fault(value.value, path)
        case Mapping():
            parts = value.items()
        case Sequence() if not isinstance(value, _NO_LIST):
            parts = enumerate(value)
        case _:
            return TemplateError(f"expected a JSON value, got {kind(value)}", code="T141", where=where)
    return next(filter(None, (_fault(part, (*path, step)) for step, part in parts)), None)
