"""The members of a JSON object, read one by one, so that the objects in one of its arrays keep their texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from katapi.runtime.json_types import Json
from katapi.runtime.known_arrays import KNOWN_ARRAYS
from katapi.runtime.read_objects import read_object

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
    """The keys and the values."""
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
