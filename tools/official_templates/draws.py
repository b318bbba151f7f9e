"""Draws at random: one of some, seldom, a text, any JSON. The same seed gives the same draws on any machine.

Requests are drawn this way and not by hypothesis: a run takes a tenth of the time, and it comes to the rare branches of
schema printers, where hypothesis, which aims at small requests, seldom does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from katapi.runtime.json_types import Json

T = TypeVar("T")
Members = dict[str, Json]

#: Names of parameters of functions; two of them mean something in a schema, and some sort otherwise than they look.
PROPERTIES = ("city", "unit", "a", "B", "b", "x_1", "type", "description", "天气", "per-day")
#: Names of functions: what an API lets pass, and a little more.
FUNCTIONS = (*["f", "get_weather", "g"] * 6, "a.b", "x-1", "Search", "天气", 'say_"hi"')
_NUMBERS: tuple[Json, ...] = (0, 1, -7, 12, 1.0, 0.5, -0.0, 1e-7, 1e22, 2**53 + 1, -(2**70), 12345678901234567890)


class Draws:
    """A source of choices; `pieces` are what longer texts are made of."""

    def __init__(self, seed: str, pieces: Sequence[str]) -> None:
        self._random = random.Random(seed)
        self._pieces = pieces

    def one_of(self, items: Sequence[T]) -> T:
        """One of some."""
        return self._random.choice(items)

    def one_in(self, number: int) -> bool:
        """True so seldom."""
        return self._random.randrange(number) == 0

    def count(self, fewest: int, most: int) -> int:
        """A number of things."""
        return self._random.randint(fewest, most)

    def some(self, make: Callable[[], T], fewest: int, most: int) -> list[T]:
        """A few things that are made one by one."""
        return [make() for _ in range(self.count(fewest, most))]

    def turned(self, members: Members) -> Members:
        """The same members in another order."""
        keys = [*members]
        self._random.shuffle(keys)
        return {key: members[key] for key in keys}

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The same things in another order."""
        return self._random.sample(items, len(items))

    def text(self) -> str:
        """A text: as often plain as made of what a template might trip over."""
        if self.one_in(2):
            return self.one_of(("a", "b", "", "天 é"))
        return "".join(self.some(lambda: self.one_of(self._pieces), 1, 5))

    def scalar(self) -> Json:
        """A text, number, boolean or null."""
        match self.count(0, 5):
            case 0 | 1:
                return self.text()
            case 2 | 3:
                return self.one_of(_NUMBERS)
            case 4:
                return self.one_in(2)
            case _:
                return None

    def json(self, depth: int = 3) -> Json:
        """Any JSON, numbers that are hard to write included."""
        match self.count(0, 4) if depth else 0:
            case 3:
                return self.some(lambda: self.json(depth - 1), 0, 3)
            case 4:
                return self.members(depth - 1)
            case _:
                return self.scalar()

    def members(self, depth: int = 3) -> Members:
        """An object: arguments of a call, by names of parameters."""
        keys = self.some(lambda: self.text() if self.one_in(6) else self.one_of(PROPERTIES), 0, 3)
        return {key: self.json(depth) for key in keys}
