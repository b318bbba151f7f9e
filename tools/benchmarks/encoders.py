"""One implementation with one vocabulary, as the benchmark calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from tools.benchmarks.vocabularies import Vocabulary

Decoded: TypeAlias = str | bytes


class Encoder(NamedTuple):
    """What a peer does with a vocabulary, each in the fastest way that its documented interface has."""

    as_list: Callable[[str], list[int]]
    """The ids in a list; control tokens that the text spells stay text."""
    as_array: Callable[[str], object]
    """The ids in an array of numpy."""
    count: Callable[[str], int]
    """Their number."""
    decode: Callable[[list[int]], Decoded] | None = None
    """All at once."""
    stream: Callable[[list[int]], list[Decoded]] | None = None
    """One id at a time, each with what can be shown once it has come."""


class Peer(NamedTuple):
    """An implementation that is compared."""

    name: str
    distribution: str
    """The package that it is installed by."""
    open: Callable[[Vocabulary], Encoder]
    """Loads it with a vocabulary. Raises Unavailable, and whatever the peer raises."""
    differs: str
    """What it does differently, for the table."""


def text_of(decoded: Decoded) -> str:
    """What was decoded, as text."""
    return decoded.decode(errors="replace") if isinstance(decoded, bytes) else decoded


def joined(parts: list[Decoded]) -> str:
    """What was decoded in parts, as text."""
    if all(isinstance(part, bytes) for part in parts):
        return text_of(b"".join(part for part in parts if isinstance(part, bytes)))
    return "".join(text_of(part) for part in parts)
