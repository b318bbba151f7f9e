"""Tokens in a row whose spellings count up, as the reserved tokens of many vocabularies do."""

from __future__ import annotations

import re

_COUNTER = re.compile(r"\{(\d+)\}")


def counted(first: int, last: int, pattern: str) -> dict[int, str]:
    """The spelling of each id from `first` to `last`: `pattern` with the number in braces counted up.

    `"<|reserved_{3}|>"` begins with 3, `"<loc{0000}>"` with 0 in four digits. Raises `ValueError` where there is not
    just one number in braces.
    """
    parts = _COUNTER.split(pattern)
    if len(parts) != 3:
        raise ValueError(f"{pattern!r} has not one number in braces")
    before, start, behind = parts
    width = len(start) if len(start) > 1 and start.startswith("0") else 0
    return {first + offset: f"{before}{int(start) + offset:0{width}d}{behind}" for offset in range(last - first + 1)}
