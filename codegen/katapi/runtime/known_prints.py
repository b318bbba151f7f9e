"""A bounded memory of what a def printed of a JSON value: the declarations of tools come again with every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from katapi.runtime.json_types import Json
from katapi.runtime.known_values import LONGEST_KNOWN, MOST_KNOWN, Key, key_of, size_of
from katapi.runtime.printed import Fixed, Printed, remembered
from katapi.runtime.segments import Path

Value = TypeVar("Value", bound=Json)

Prints = Callable[[list[Printed], Value, Path], None]
"""Prints a JSON value that stands at a place of the request. What it prints is a function of these two alone."""


def known_prints(prints: Prints[Value]) -> Prints[Value]:
    """The same with a memory of values and places that it printed lately: all that was printed of one is one part.

    Raises what `prints` raises, which is not remembered.
    """
    known: dict[tuple[Key, Path], Fixed] = {}

    def remembering(out: list[Printed], value: Value, path: Path) -> None:
        key = key_of(value)
        if key is None:
            prints(out, value, path)
            return
        found = known.get((key, path))
        if found is None:
            printed: list[Printed] = []
            prints(printed, value, path)
            found = remembered(printed)
            if size_of(key) <= LONGEST_KNOWN:
                if len(known) >= MOST_KNOWN:
                    known.clear()
                known[key, path] = found
        out.append(found)

    return remembering
