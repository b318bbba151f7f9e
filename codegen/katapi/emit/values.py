"""Plain data of the runtime → Python expressions that make it: dataclasses, enums, tuples and what they hold."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum

from katapi.emit.python import string, tuple_of
from katapi.runtime.tokenization.configuration import Regex


class Values:
    """Writes values, and notes the classes that the expressions name.

    A regular expression is written as the constant that `patterns` gives it.
    """

    def __init__(self, patterns: dict[str, str]) -> None:
        self._patterns = patterns
        self.classes: set[str] = set()

    def expression(self, value: object) -> str:
        """The expression; fields that have their default are left out."""
        match value:
            case Regex():
                return self._patterns[value.source]
            case Enum():
                self.classes.add(type(value).__name__)
                return f"{type(value).__name__}.{value.name}"
            case None | bool() | int():
                return repr(value)
            case str():
                return string(value)
            case tuple():
                return tuple_of(map(self.expression, value))
            case _:
                assert is_dataclass(value), f"no plain data: {value!r}"
                self.classes.add(type(value).__name__)
                return f"{type(value).__name__}({', '.join(self._arguments(value))})"

    def _arguments(self, value: object) -> list[str]:
        """Positional up to the first field that a reader could not tell without its name."""
        assert is_dataclass(value)
        out: list[str] = []
        positional = True
        for field in fields(value):
            content: object = getattr(value, field.name)
            if _is_default(field, content):
                positional = False
                continue
            positional = positional and not field.kw_only and not isinstance(content, bool | tuple | None)
            text = self.expression(content)
            out.append(text if positional else f"{field.name}={text}")
        return out


def _is_default(field: Field[object], content: object) -> bool:
    return field.default is not MISSING and field.default == content
