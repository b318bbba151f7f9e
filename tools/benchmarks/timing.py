"""Interleaved timing: every item goes through every side before the next item comes."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")

Work = Callable[[], object]
"""What is timed."""

Side = Callable[[Item], Work]
"""Makes of an item what one side starts from, outside of the time, and gives the work."""


@dataclass(frozen=True)
class Failed:
    """What stands in the place of a result where a side raised an error."""

    error: str


@dataclass(frozen=True)
class Times:
    """Nanoseconds of processor time of one side, one figure an item."""

    first: list[float]
    """Of the first time that the side met the item."""
    later: list[float]
    """The median of the times after that; empty where there was no second round."""
    results: list[object]
    """What the first time gave."""


def interleaved(sides: Mapping[str, Side[Item]], items: Sequence[Item], rounds: int) -> dict[str, Times]:
    """The times of each side on all items. Which side goes first changes from item to item and from round to round.

    Nobody need have met the items before the first of the rounds. Processor time counts the threads that a side may
    start, and not what other processes do meanwhile.
    """
    names = [*sides]
    spent: dict[str, list[list[float]]] = {name: [[] for _ in items] for name in names}
    results: dict[str, list[object]] = {name: [] for name in names}
    clock = cost_of_clock()
    gc.collect()
    gc.freeze()  # what others hold in this process costs a collection that falls into somebody's time
    try:
        for turn in range(rounds):
            for at, item in enumerate(items):
                start = (turn + at) % len(names)
                for name in names[start:] + names[:start]:
                    nanoseconds, result = timed(sides[name](item))
                    spent[name][at].append(max(nanoseconds - clock, 1))
                    if not turn:
                        results[name].append(result)
    finally:
        gc.unfreeze()
    return {
        name: Times(
            [each[0] for each in of_side],
            [statistics.median(each[1:]) for each in of_side] if rounds > 1 else [],
            results[name],
        )
        for name, of_side in spent.items()
    }


def in_pairs(
    ours: Side[Item], others: Mapping[str, Side[Item]], items: Sequence[Item], rounds: int
) -> dict[str, tuple[Times, Times]]:
    """The times of one side and of each other, by the names of those, interleaved two at a time.

    Where many take turns, each finds the processor's caches full of what the others need, and who needs them least
    looks best; a process that tokenizes has one tokenizer. Both sides should have met the items before.
    """
    pairs: dict[str, tuple[Times, Times]] = {}
    for name, other in others.items():
        times = interleaved({"ours": ours, "other": other}, items, rounds)
        pairs[name] = times["ours"], times["other"]
    return pairs


def timed(work: Work) -> tuple[int, object]:
    """Nanoseconds of processor time, those of the clock included, and the result, or how the work failed."""
    begin = time.process_time_ns()
    try:
        result = work()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # a panic in Rust is no Exception
        result = Failed(f"{type(error).__name__}: {str(error)[:80]}")
    return time.process_time_ns() - begin, result


def cost_of_clock() -> float:
    """What `timed` gives for no work, in nanoseconds."""
    return statistics.median(timed(lambda: None)[0] for _ in range(501))
