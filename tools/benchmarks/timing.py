"""Interleaved timing: every item goes through every side before the next item comes."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")

Work = Callable[[], object]
"""What is timed."""

Side = Callable[[Item], Work]
"""Makes of an item what one side starts from, outside of the time, and gives the work."""


@dataclass
class Times:
    """Nanoseconds of processor time of one side, one figure an item."""

    first: list[float] = field(default_factory=list)
    """Of the first time that the side met the item."""
    later: list[float] = field(default_factory=list)
    """The median of the times after that."""


def interleaved(sides: Mapping[str, Side[Item]], items: Sequence[Item], rounds: int) -> dict[str, Times]:
    """The times of each side on all items. Which side goes first changes from item to item and from round to round.

    In round 0 nobody has met the item. Processor time counts the threads that a side may start, and not what other
    processes do meanwhile.
    """
    names = [*sides]
    spent: dict[str, list[list[float]]] = {name: [[] for _ in items] for name in names}
    clock = cost_of_clock()
    gc.collect()
    for turn in range(rounds + 1):
        for at, item in enumerate(items):
            start = (turn + at) % len(names)
            for name in names[start:] + names[:start]:
                work = sides[name](item)
                spent[name][at].append(max(timed(work) - clock, 1))
    return {
        name: Times([each[0] for each in of_side], [statistics.median(each[1:]) for each in of_side])
        for name, of_side in spent.items()
    }


def timed(work: Work) -> int:
    """Nanoseconds of processor time, those of the clock included."""
    begin = time.process_time_ns()
    work()
    return time.process_time_ns() - begin


def cost_of_clock() -> float:
    """What `timed` gives for no work."""
    return statistics.median(timed(lambda: None) for _ in range(501))
