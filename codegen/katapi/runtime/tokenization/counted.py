"""Tokens in a row whose spellings count, as the reserved tokens of many vocabularies do."""

from __future__ import annotations

import re

_COUNTER = re.compile(r"\{(\d+)(-?)\}")


def counted(first: int, last: int, pattern: str) -> dict[int, str]:
    """The spelling of each id from `first` to `last`: `pattern` with the number in braces counted.

    `"<|reserved_{3}|>"` begins with 3 and counts up, `"<loc{0000}>"` with 0 in four digits, `"<extra_{99-}>"` with 99
    and counts down. Raises `ValueError` where there is not just one number in braces, or it falls below 0.
    """
    parts = _COUNTER.split(pattern)
    if len(parts) != 4:
        raise ValueError(f"{pattern!r} has not one number in braces")
    before, start, down, behind = parts
    width = len(start) if len(start) > 1 and start.startswith("0") else 0
    step = -1 if down else 1
    if int(start) + step * (last - first) < 0:
        raise ValueError(f"{pattern!r} falls below 0")
    numbers = range(int(start), int(start) + step * (last - first + 1), step)
    return {token: f"{before}{number:0{width}d}{behind}" for token, number in enumerate(numbers, first)}
