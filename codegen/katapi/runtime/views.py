"""Questions about the messages before or after each message of a walk, answered for all of them in one pass.

Each function takes what every message gives in its turn, and gives a list with an answer for every message, which
itself counts neither as before nor as after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

H = TypeVar("H")
T = TypeVar("T")


def any_before(hits: Iterable[object]) -> list[bool]:
    """Whether something before was true."""
    return _before(hits, False, _or)


def any_after(hits: Iterable[object]) -> list[bool]:
    """Whether something after is true."""
    return _after(hits, False, _or)


def all_before(hits: Iterable[object]) -> list[bool]:
    """Whether everything before was true."""
    return _before(hits, True, _and)


def all_after(hits: Iterable[object]) -> list[bool]:
    """Whether everything after is true."""
    return _after(hits, True, _and)


def count_before(hits: Iterable[object]) -> list[int]:
    """How much before was true."""
    return _before(hits, 0, _count)


def count_after(hits: Iterable[object]) -> list[int]:
    """How much after is true."""
    return _after(hits, 0, _count)


def first_before(found: Iterable[T | None]) -> list[T | None]:
    """The first that was there before."""
    return _before(found, None, _earlier)


def first_after(found: Iterable[T | None]) -> list[T | None]:
    """The first that is there after."""
    return _after(found, None, _later)


def last_before(found: Iterable[T | None]) -> list[T | None]:
    """The last that was there before."""
    return _before(found, None, _later)


def last_after(found: Iterable[T | None]) -> list[T | None]:
    """The last that is there after."""
    return _after(found, None, _earlier)


def _before(hits: Iterable[H], start: T, step: Callable[[T, H], T]) -> list[T]:
    answers: list[T] = []
    for hit in hits:
        answers.append(start)
        start = step(start, hit)
    return answers


def _after(hits: Iterable[H], start: T, step: Callable[[T, H], T]) -> list[T]:
    return _before(reversed(list(hits)), start, step)[::-1]


def _or(so_far: bool, hit: object) -> bool:
    return so_far or bool(hit)


def _and(so_far: bool, hit: object) -> bool:
    return so_far and bool(hit)


def _count(so_far: int, hit: object) -> int:
    return so_far + bool(hit)


def _earlier(so_far: T | None, hit: T | None) -> T | None:
    """In the order of the pass, what was found first."""
    return hit if so_far is None else so_far


def _later(so_far: T | None, hit: T | None) -> T | None:
    """In the order of the pass, what was found last."""
    return so_far if hit is None else hit
