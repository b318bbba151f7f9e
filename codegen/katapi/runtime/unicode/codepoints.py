"""A set of code points, written as the inside of a bracket expression of the standard `re` module.

A pattern over all of Unicode is large and slow to compile, and most texts need only a part of it. So each set can be
limited to the code points that a text can hold: ASCII, the Basic Multilingual Plane, or all planes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from enum import Enum
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import TypeAlias


class Planes(Enum):
    """How much of Unicode a text reaches: `ASCII`, the Basic Multilingual Plane (`BMP`), or `ALL` of it.

    The value is the first code point beyond it.
    """

    ASCII = 0x80
    BMP = 0x10000
    ALL = 0x110000

    @classmethod
    def of(cls, text: str) -> Planes:
        """The least range that holds every character of `text`. Raises `UnicodeEncodeError` on a lone surrogate."""
        if text.isascii():
            return cls.ASCII
        # One UTF-16 unit a character means that no character lies beyond the BMP. The codec is the fastest scan there
        # is.
        return cls.BMP if len(text.encode("utf-16-le")) == 2 * len(text) else cls.ALL


class CodePoints:
    """An immutable set of code points, from ascending ranges: hexadecimal, as in `41-5A 61-7A AA`, or as numbers."""

    def __init__(self, ranges: str | tuple[tuple[int, int], ...]) -> None:
        self._source = ranges

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The ranges, first and last code point of each, ascending and not touching."""
        if isinstance(self._source, tuple):
            return self._source
        bounds = [item.partition("-") for item in self._source.split()]
        return tuple((int(first, 16), int(last or first, 16)) for first, _, last in bounds)

    @classmethod
    def union(cls, *sets: CodePoints) -> CodePoints:
        """The members of any of some sets."""
        ranges: list[tuple[int, int]] = []
        for first, last in sorted(one for part in sets for one in part.ranges):
            if ranges and first <= ranges[-1][1] + 1:
                ranges[-1] = ranges[-1][0], max(ranges[-1][1], last)
            else:
                ranges.append((first, last))
        return cls(tuple(ranges))

    def without(self, code_points: CodePoints) -> CodePoints:
        """The members that are not among some code points."""
        ranges: list[tuple[int, int]] = []
        for first, last in self.ranges:
            for begin, end in code_points.between(first, last):
                if first < begin:
                    ranges.append((first, begin - 1))
                first = end + 1
            if first <= last:
                ranges.append((first, last))
        return CodePoints(tuple(ranges))

    def between(self, first: int, last: int) -> list[tuple[int, int]]:
        """The ranges of the members from one code point to another, first and last of each, ascending."""
        ranges = self.ranges
        index = bisect_left(ranges, first, key=itemgetter(1))
        found: list[tuple[int, int]] = []
        while index < len(ranges) and ranges[index][0] <= last:
            begin, end = ranges[index]
            found.append((max(begin, first), min(end, last)))
            index += 1
        return found

    def within(self, planes: Planes) -> str:
        """The members below the limit of `planes`, to stand between `[` or `[^` and `]`; never empty."""
        limit = planes.value
        members = [_item(first, min(last, limit - 1)) for first, last in self.ranges if first < limit]
        return "".join(members) or _NOTHING


Tie: TypeAlias = tuple[CodePoints | None, CodePoints | None]
"""Two sets, of which None has all characters: one of the first may go with one of the second that stands behind it.

So a text can be taken in parts that begin between two characters that no tie holds together.
"""


def ranges_of(members: Iterable[int]) -> str:
    """The ranges of some code points, in the form that `CodePoints` takes."""
    ordered = sorted(members)
    begins = [first for before, first in pairwise([-2, *ordered]) if first - before > 1]
    ends = [last for last, behind in pairwise([*ordered, 1 << 30]) if behind - last > 1]
    return " ".join(f"{first:X}-{last:X}" for first, last in zip(begins, ends, strict=True))


# A bracket expression may not be empty. No text that is encoded holds a surrogate, so this one matches nothing.
_NOTHING = r"\ud800"


def _item(first: int, last: int) -> str:
    return _escape(first) if first == last else f"{_escape(first)}-{_escape(last)}"


def _escape(code_point: int) -> str:
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
