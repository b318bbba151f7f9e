"""A bounded memory of arrays of JSON: the tools of a request come again with the next, and need not be read again."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import NamedTuple

from katapi.runtime.json_types import Json
from katapi.runtime.read_objects import ReadObject, read_object

_BEGINNING = 128  # characters, by which an array is looked up
_ALIKE = 16  # arrays that begin alike
_DEEPEST = 128  # which `marshal` can write


class KnownArray(NamedTuple):
    """An array of JSON that was read before, and is in order."""

    source: str
    """Its text."""
    depth: int
    """How deep it nests; an array without another in it has depth 1."""
    sources: tuple[str | None, ...]
    """The text of each element that is an object."""
    made: bytes
    """The elements as `marshal` writes them."""

    def elements(self) -> list[Json]:
        """The elements, new ones each time, so that nobody has a part in those of another request."""
        elements: list[Json] = marshal.loads(self.made)
        return [
            element if source is None or not isinstance(element, dict) else read_object(element, source)
            for element, source in zip(elements, self.sources, strict=True)
        ]


class KnownArrays:
    """A bounded memory of arrays. What begins as a known array does, up to its end, is that array.

    `marshal` gives back exactly what it wrote: dictionaries, lists, texts, and the numbers that JSON has. Threads may
    share a memory: at worst, an array is read twice.
    """

    def __init__(self, most_characters: int = 1 << 21) -> None:
        self._most = most_characters
        self.characters = 0
        """How many characters the arrays have."""
        self._arrays: dict[str, tuple[KnownArray, ...]] = {}

    def find(self, text: str, at: int) -> KnownArray | None:
        """The array that stands at an index of a text; None where it is not known."""
        for array in self._arrays.get(text[at : at + _BEGINNING], ()):
            if text.startswith(array.source, at):
                return array
        return None

    def add(self, source: str, depth: int, elements: Sequence[Json]) -> None:
        """Remembers an array that is in order, unless it is too short to gain by that, or too long."""
        if not _BEGINNING <= len(source) <= self._most // 8 or depth > _DEEPEST:
            return
        if self.characters + len(source) > self._most:
            self.clear()
        plain = [{**element} if isinstance(element, ReadObject) else element for element in elements]
        sources = tuple(element.source if isinstance(element, ReadObject) else None for element in elements)
        array = KnownArray(source, depth, sources, marshal.dumps(plain))
        beginning = source[:_BEGINNING]
        self._arrays[beginning] = (array, *self._arrays.get(beginning, ())[: _ALIKE - 1])
        self.characters += len(source)

    def clear(self) -> None:
        """Forgets them all."""
        self._arrays.clear()
        self.characters = 0


KNOWN_ARRAYS = KnownArrays()
"""Those of this process."""
