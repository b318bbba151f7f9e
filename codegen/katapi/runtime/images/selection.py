"""Choosing one of several values, and halving a range, as the formulas of images do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np

from katapi.runtime.errors import MediaError

T = TypeVar("T")
Key: TypeAlias = float | tuple[float, ...]
"""What is compared: a number, or several of which the first that differ count."""


def least(items: Iterable[T], key: Callable[[T], Key]) -> T:
    """The item of the least key, the first of equals. Raises `MediaError` M109 where there is none."""
    try:
        return min(items, key=key)
    except ValueError:
        raise _nothing() from None


def most(items: Iterable[T], key: Callable[[T], Key]) -> T:
    """The item of the greatest key, the first of equals. Raises `MediaError` M109 where there is none."""
    try:
        return max(items, key=key)
    except ValueError:
        raise _nothing() from None


def first(items: Iterable[T]) -> T:
    """The first item. Raises `MediaError` M109 where there is none."""
    for item in items:
        return item
    raise _nothing()


def last(items: Iterable[T]) -> T:
    """The last item. Raises `MediaError` M109 where there is none."""
    found = list(items)
    if not found:
        raise _nothing()
    return found[-1]


def bisect(low: float, high: float, width: float, holds: Callable[[float], bool]) -> float:
    """Halves a range until it is narrower than `width`: it keeps the upper half where its middle holds, else the lower.

    Gives the lower end of what is left.
    """
    while high - low >= width:
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def real32(number: float) -> float:
    """The number rounded to a float of 32 bits."""
    return float(np.float32(number))


def _nothing() -> MediaError:
    return MediaError("the declaration chooses from nothing for an image of this size", code="M109")
