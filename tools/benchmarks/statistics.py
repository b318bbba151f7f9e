"""What is said of many times: the median of their ratios, and between which values eight tenths of them lie."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """How many times as long as Katapi a peer takes, over the items that both were timed on. More is better."""

    median: float
    low: float
    """The first tenth."""
    high: float
    """The ninth tenth."""

    def __str__(self) -> str:
        return f"{short(self.median)}× ({short(self.low)}–{short(self.high)})"


def ratio(katapi: Sequence[float], peer: Sequence[float]) -> Ratio:
    """The ratios item by item. Raises ValueError where the numbers of items differ, or there is none."""
    ratios = [theirs / ours for ours, theirs in zip(katapi, peer, strict=True)]
    if not ratios:
        raise ValueError("no item was timed")
    if len(ratios) == 1:
        return Ratio(ratios[0], ratios[0], ratios[0])
    tenths = statistics.quantiles(ratios, n=10, method="inclusive")
    return Ratio(statistics.median(ratios), tenths[0], tenths[8])


def short(number: float) -> str:
    """Two digits that count: 0.034, 0.55, 4.2, 37, 1,240."""
    if number >= 9.95:
        return f"{number:,.0f}"
    if number >= 0.995:
        return f"{number:.1f}"
    return f"{number:.2g}"
