"""Questions about the messages before or after each message of a walk, answered for all of them in one pass.

Each function takes what every message gives in its turn, and gives a list with an answer for every message, which
itself counts neither as before nor as after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from operator import and_, or_
from typing import TypeVar

T = TypeVar("T")


def any_before(hits: Iterable[object]) -> list[bool]:
    """Whether something before was true."""
    return [*accumulate(map(bool, hits), or_, initial=False)][:-1]


def any_after(hits: Iterable[object]) -> list[bool]:
    """Whether something after is true."""
    return any_before(reversed([*hits]))[::-1]


def all_before(hits: Iterable[object]) -> list[bool]:
    """Whether everything before was true."""
    return [*accumulate(map(bool, hits), and_, initial=True)][:-1]


def all_after(hits: Iterable[object]) -> list[bool]:
    """Whether everything after is true."""
    return all_before(reversed([*hits]))[::-1]


def count_before(hits: Iterable[object]) -> list[int]:
    """How much before was true."""
    return [*accumulate(map(bool, hits), initial=0)][:-1]


def count_after(hits: Iterable[object]) -> list[int]:
    """How much after is true."""
    return count_before(reversed([*hits]))[::-1]


def first_before(found: Iterable[T | None]) -> list[T | None]:
    """The first that was there before."""
    answers: list[T | None] = []
    first: T | None = None
    for each in found:
        answers.append(first)
        first = each if first is None else first
    return answers


def first_after(found: Iterable[T | None]) -> list[T | None]:
    """The first that is there after."""
    return last_before(reversed([*found]))[::-1]


def last_before(found: Iterable[T | None]) -> list[T | None]:
    """The last that was there before."""
    answers: list[T | None] = []
    last: T | None = None
    for each in found:
        answers.append(last)
        last = last if each is None else each
    return answers


def last_after(found: Iterable[T | None]) -> list[T | None]:
    """The last that is there after."""
    return first_before(reversed([*found]))[::-1]
