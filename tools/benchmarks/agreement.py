"""Whether a peer gives the ids that Katapi gives. What differs is told by its share and is not timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """How many of the items came out alike."""

    items: int
    differing: int
    first: str = ""
    """The first difference, or the error there."""

    @property
    def full(self) -> bool:
        """Whether there is no difference."""
        return not self.differing

    def __str__(self) -> str:
        return f"differs on {self.differing / self.items:.0%} of {self.items} texts: {self.first}"


def agreement(texts: Sequence[str], expected: Sequence[list[int]], encode: Callable[[str], object]) -> Agreement:
    """Compares the ids of each text. An error of the peer's is a difference; `encode` gives any iterable of integers."""
    differing, first = 0, ""
    for text, ids in zip(texts, expected, strict=True):
        found = difference(ids, encode, text)
        if found:
            differing += 1
            first = first or found
    return Agreement(len(texts), differing, first)


def difference(ids: list[int], encode: Callable[[str], object], text: str) -> str:
    """Where the ids of one text part, in words; empty where they are the same."""
    try:
        other = as_ids(encode(text))
    except Exception as error:  # noqa: BLE001  # whatever a peer raises is its answer
        return f"{type(error).__name__}: {str(error)[:80]}"
    if other == ids:
        return ""
    at = next((at for at, (a, b) in enumerate(zip(ids, other, strict=False)) if a != b), min(len(ids), len(other)))
    return f"from token {at:,} on {other[at : at + 3]}, not {ids[at : at + 3]}"


def as_ids(ids: object) -> list[int]:
    """Ids in a list, whatever holds them. Raises TypeError where they are no integers."""
    if not hasattr(ids, "__iter__"):
        raise TypeError(f"no ids, but {type(ids).__name__}")
    return [int(id) for id in ids]
