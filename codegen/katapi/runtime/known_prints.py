"""A bounded memory of what a def printed of a JSON value: the declarations of tools come again with every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from katapi.runtime.json_types import Json
from katapi.runtime.known_values import LONGEST_KNOWN, MOST_KNOWN, key_of
from katapi.runtime.printed import Printed
from katapi.runtime.segments import Path

Value = TypeVar("Value", bound=Json)

Prints = Callable[[list[Printed], Value, Path], None]
"""Prints a JSON value that stands at a place of the request. What it prints is a function of these two alone."""


def known_prints(prints: Prints[Value]) -> Prints[Value]:
    """The same with a memory of values and places that it printed lately.

    Raises what `prints` raises, which is not remembered.
    """
    known: dict[tuple[str | bytes, Path], list[Printed]] = {}

    def remembered(out: list[Printed], value: Value, path: Path) -> None:
        key = key_of(value)
        if key is None:
            prints(out, value, path)
            return
        printed = known.get((key, path))
        if printed is None:
            printed = []
            prints(printed, value, path)
            if len(key) <= LONGEST_KNOWN:
                if len(known) >= MOST_KNOWN:
                    known.clear()
                known[key, path] = printed
        out += printed

    return remembered
