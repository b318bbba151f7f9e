"""JSON objects that keep the text they were read from.

Tool schemas come again with every request of a conversation, and the same text always spells the same object. So what
was made of an object is remembered by its text, which is cheaper to compare than the object, and an array of them that
was read before is not read again.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from katapi.runtime.json_types import Json


class ReadObject(dict[str, Json]):
    """An object out of a request, and the text that spelled it there. Nothing may be changed in it."""

    __slots__ = ("source",)
    source: str
    """The text, without the white space around it."""


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


def read_object(value: dict[str, Json], source: str) -> ReadObject:
    """An object with the text that it was read from."""
    made = ReadObject(value)
    made.source = source
    return made


_BEGINNING = 128  # characters, by which an array is looked up
_ALIKE = 16  # arrays that begin alike
_DEEPEST = 128  # which `marshal` can write
KNOWN_ARRAYS = KnownArrays()
"""Those of this process."""

_KEY = r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*'
_FIRST = re.compile(r"[ \t\n\r]*\{" + _KEY)
_NEXT = re.compile(r"[ \t\n\r]*," + _KEY)
_END = re.compile(r"[ \t\n\r]*\}[ \t\n\r]*\Z")
_OPENING = re.compile(r"\[[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_CLOSING = re.compile(r"[ \t\n\r]*\]")


class Members(NamedTuple):
    """The members of an object, and where in its text the array stands of which the objects keep their texts."""

    pairs: list[tuple[str, Json]]
    array: tuple[int, int] = (0, 0)
    """The half-open range of the array in the text; empty where there is none."""
    known: bool = False
    """Whether the array was known before, and is in order."""


def members(text: str, listed: str, scan: Callable[[str, int], tuple[Json, int]], max_depth: int) -> Members | None:
    """The members of the object that `text` spells, with objects in the array `listed` as `ReadObject`.

    None where `text` is anything but an object with plain keys; then it is for others to say what it is. `scan` reads
    the value at an index and says where it ends; what it raises comes through. An array that is known, and lets the
    object nest no deeper than `max_depth`, is not read again.
    """
    pairs: list[tuple[str, Json]] = []
    array, known = (0, 0), False
    key = _FIRST.match(text)
    while key is not None:
        name, at = key[1], key.end()
        if name == listed and text.startswith("[", at):
            start = at
            found = KNOWN_ARRAYS.find(text, at)
            known = found is not None and found.depth < max_depth
            if found is not None and known:
                elements, at = found.elements(), at + len(found.source)
            else:
                elements, at = _elements(text, at, scan)
                if at < 0:
                    return None
            array = start, at
            pairs.append((name, elements))
        else:
            value, at = scan(text, at)
            pairs.append((name, value))
        key = _NEXT.match(text, at)
        if key is None and _END.match(text, at) is not None:
            return Members(pairs, array, known)
    return None


def _elements(text: str, at: int, scan: Callable[[str, int], tuple[Json, int]]) -> tuple[list[Json], int]:
    """The elements of the array that opens at `at`, and where it ends: nowhere, at -1, if it is not well formed."""
    opening = _OPENING.match(text, at)
    assert opening is not None
    elements: list[Json] = []
    at = opening.end()
    if text.startswith("]", at):
        return elements, at + 1
    while True:
        value, end = scan(text, at)
        elements.append(read_object(value, text[at:end]) if isinstance(value, dict) else value)
        comma = _COMMA.match(text, end)
        if comma is None:
            closing = _CLOSING.match(text, end)
            return elements, -1 if closing is None else closing.end()
        at = comma.end()
