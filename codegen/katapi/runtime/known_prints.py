"""A bounded memory of what a def printed of a JSON value: the declarations of tools come again with every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from katapi.runtime.json_types import Json
from katapi.runtime.known_values import MOST_KNOWN, Key, key_of, size_of
from katapi.runtime.printed import Fixed, Printed, remembered
from katapi.runtime.segments import Path

Value = TypeVar("Value", bound=Json)

Prints = Callable[[list[Printed], Value, Path], None]
"""Prints a JSON value that stands at a place of the request. What it prints is a function of these two alone."""


MOST_CHARACTERS: Final = 1 << 21
"""Characters that one memory holds: keys, and what was printed, as it was and put together."""
LONGEST: Final = MOST_CHARACTERS // 8
"""Those of one value that is remembered."""


def known_prints(prints: Prints[Value]) -> Prints[Value]:
    """The same with a memory of values and places that it printed lately.

    What comes for the second time is put together, and is one part from then on. Raises what `prints` raises, which is
    not remembered. Threads may share it: at worst, a value is printed twice.
    """
    known: dict[tuple[Key, Path], list[Printed] | Fixed] = {}
    size = 0

    def remembering(out: list[Printed], value: Value, path: Path) -> None:
        nonlocal size
        key = key_of(value)
        if key is None:
            prints(out, value, path)
            return
        found = known.get((key, path))
        if isinstance(found, tuple):
            out.append(found)
        elif found is not None:
            together = known[key, path] = remembered(found)
            out.append(together)
        else:
            printed: list[Printed] = []
            prints(printed, value, path)
            out += printed
            taken = size_of(key) + 2 * sum([len(part[0]) for part in printed])
            if taken <= LONGEST:
                if size + taken > MOST_CHARACTERS or len(known) >= MOST_KNOWN:
                    known.clear()
                    size = 0
                size += taken
                known[key, path] = printed

    return remembering
