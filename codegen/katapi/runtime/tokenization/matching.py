"""What splits and replacements ask of a pattern, and the patterns that need no engine of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from katapi.runtime.unicode.codepoints import CodePoints, Planes


class Matcher(Protocol):
    """Finds the matches of a pattern from left to right, none overlapping another; they may be empty."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The half-open range of characters of each match."""
        ...

    def split(self, text: str) -> list[str]:
        """The matches and what lies between them, in order, none of them empty."""
        ...


class Verbatim:
    """Matches one text; the empty one before each character and at the end."""

    def __init__(self, text: str) -> None:
        self._text = text

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The half-open range of characters of each match."""
        step = max(1, len(self._text))
        start = text.find(self._text)
        while start >= 0:
            yield start, start + len(self._text)
            start = text.find(self._text, start + step)

    def split(self, text: str) -> list[str]:
        """The matches and what lies between them."""
        return _cut(text, self.spans(text))


class Expression:
    """Matches by the standard `re` module.

    `pattern` gives the source of the pattern, its classes limited to the given planes. Each of the three forms is
    compiled when a text first needs it.
    """

    def __init__(self, pattern: Callable[[Planes], str]) -> None:
        self._pattern = lru_cache(lambda planes: re.compile(pattern(planes)))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The half-open range of characters of each match."""
        return (match.span() for match in self._pattern(Planes.of(text)).finditer(text))

    def split(self, text: str) -> list[str]:
        """The matches and what lies between them."""
        return _cut(text, self.spans(text))


def members(*sets: CodePoints, others: str = "") -> Callable[[Planes], str]:
    """The inside of a bracket expression that holds some sets and, as `re` writes them, `others`."""
    return lambda planes: "".join(part.within(planes) for part in sets) + others


def _cut(text: str, spans: Iterator[tuple[int, int]]) -> list[str]:
    cuts = [0]
    for span in spans:
        cuts += span
    cuts.append(len(text))
    return [text[start:end] for start, end in pairwise(cuts) if start < end]
