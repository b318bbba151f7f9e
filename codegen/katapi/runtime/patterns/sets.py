"""Sets of characters as ranges of code points, first and last of each, ascending and not touching. No set holds a
surrogate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"
"""First and last code point of each range, both included."""

EVERY: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
"""All characters."""
_LAST = 0x10FFFF


def union(sets: Iterable[Ranges]) -> Ranges:
    """The characters that are in any of `sets`, whose ranges may be in any order here."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(item for ranges in sets for item in ranges):
        if joined and first <= joined[-1][1] + 1:
            if last > joined[-1][1]:
                joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def complement(ranges: Ranges) -> Ranges:
    """The characters that are not in `ranges`."""
    gaps: list[tuple[int, int]] = []
    position = 0
    for first, last in union((ranges, ((0xD800, 0xDFFF),))):
        if first > position:
            gaps.append((position, first - 1))
        position = last + 1
    if position <= _LAST:
        gaps.append((position, _LAST))
    return tuple(gaps)
