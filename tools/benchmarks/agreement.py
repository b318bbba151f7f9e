"""Whether a peer gives what Katapi gives. What differs is told by its share and is not timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.benchmarks.timing import Failed


@dataclass(frozen=True)
class Agreement:
    """How many of the items came out alike."""

    items: int
    differing: int
    first: str = ""
    """The first difference in words, or the error there."""

    @property
    def full(self) -> bool:
        """Whether there is no difference."""
        return not self.differing

    def __str__(self) -> str:
        return f"differs on {self.differing / self.items:.0%} of {self.items}: {self.first}"


Difference = Callable[[object, object], str]
"""Where the result of a peer parts from what is expected, in words; empty where it does not."""


def agreement(expected: Sequence[object], found: Sequence[object], difference: Difference) -> Agreement:
    """Compares results one by one. That a peer failed is a difference."""
    differing, first = 0, ""
    for right, result in zip(expected, found, strict=True):
        if isinstance(right, Failed):
            raise ValueError(f"Katapi failed: {right.error}")
        told = result.error if isinstance(result, Failed) else difference(right, result)
        if told:
            differing += 1
            first = first or told
    return Agreement(len(found), differing, first)


def between_ids(expected: object, found: object) -> str:
    """Ids in whatever holds them."""
    right, ids = as_ids(expected), as_ids(found)
    if ids == right:
        return ""
    at = next((at for at, (a, b) in enumerate(zip(right, ids, strict=False)) if a != b), min(len(right), len(ids)))
    return f"from token {at:,} on {ids[at : at + 3]}, not {right[at : at + 3]}"


def between_texts(expected: object, found: object) -> str:
    """Texts."""
    if not isinstance(expected, str) or not isinstance(found, str):
        return f"no text, but {type(found).__name__}"
    if found == expected:
        return ""
    at = next((at for at, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), len(found))
    return f"from character {at:,} on {found[at : at + 12]!r}, not {expected[at : at + 12]!r}"


def as_ids(ids: object) -> list[int]:
    """Ids in a list; of several sequences all of them. Raises TypeError where they are no integers."""
    if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
        raise TypeError(f"no ids, but {type(ids).__name__}")
    if isinstance(ids, list) and ids and not isinstance(ids[0], int):
        return [id for part in ids for id in as_ids(part)]
    return [int(id) for id in ids]
