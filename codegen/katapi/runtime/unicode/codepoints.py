"""A set of code points, written as the inside of a bracket expression of the standard `re` module.

A pattern over all of Unicode is large and slow to compile, and most texts need only a part of it. So each set can be
limited to the code points that a text can hold: ASCII, the Basic Multilingual Plane, or all planes.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cached_property
from itertools import pairwise


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

    def within(self, planes: Planes) -> str:
        """The members below the limit of `planes`, to stand between `[` or `[^` and `]`; never empty."""
        limit = planes.value
        members = [_item(first, min(last, limit - 1)) for first, last in self.ranges if first < limit]
        return "".join(members) or _NOTHING


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
