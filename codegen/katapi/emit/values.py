"""Plain data of the runtime → Python expressions that make it: dataclasses, enums, tuples and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from types import MappingProxyType

from katapi.emit.python import string, tuple_of
from katapi.runtime.segments import Site
from katapi.runtime.tokenization.configuration import Regex


class Values:
    """Writes values, and notes in `modules` the classes that the expressions name, by where they are defined.

    A regular expression is written as the constant that `patterns` gives it.
    """

    def __init__(self, patterns: dict[str, str]) -> None:
        self._patterns = patterns
        self.modules: dict[str, set[str]] = {}

    def expression(self, value: object, instead: Mapping[str, str] = MappingProxyType({})) -> str:
        """The expression; fields that have their default are left out, those of `instead` are as written there."""
        match value:
            case Regex():
                return self._patterns[value.source]
            case Enum():
                return f"{self._named(value)}.{value.name}"
            case None | bool() | int():
                return repr(value)
            case str():
                return string(value)
            case Site(line, column, file):
                place = f"{line}, {column}" if file is None else f"{line}, {column}, {string(file)}"
                return f"{self._named(value)}({place})"
            case tuple():
                return tuple_of(map(self.expression, value))
            case frozenset():
                items = map(self.expression, sorted(value, key=_order))
                return f"frozenset({{{', '.join(items)}}})" if value else "frozenset()"
            case _:
                assert is_dataclass(value), f"no plain data: {value!r}"
                return f"{self._named(value)}({', '.join(self._arguments(value, instead))})"

    def _named(self, value: object) -> str:
        """The name of the class of a value, which is imported from where it is defined."""
        self.modules.setdefault(type(value).__module__, set()).add(type(value).__name__)
        return type(value).__name__

    def _arguments(self, value: object, instead: Mapping[str, str]) -> list[str]:
        """Positional up to the first field that a reader could not tell without its name."""
        assert is_dataclass(value)
        out: list[str] = []
        positional = True
        for field in fields(value):
            if field.name in instead:
                positional = False
                out.append(f"{field.name}={instead[field.name]}")
                continue
            content: object = getattr(value, field.name)
            if _is_default(field, content):
                positional = False
                continue
            positional = positional and not field.kw_only and not isinstance(content, bool | tuple | None)
            text = self.expression(content)
            out.append(text if positional else f"{field.name}={text}")
        return out


def _order(item: object) -> tuple[str, int, int]:
    """The order in which the items of a set are written: places as they stand in the file, others by their names."""
    match item:
        case Site(line, column, file):
            return file or "", line, column
        case Enum():
            return str(item.value), 0, 0
        case _:
            return str(item), 0, 0


def _is_default(field: Field[object], content: object) -> bool:
    return field.default is not MISSING and field.default == content
