"""JSON objects that keep the text they were read from.

Tool schemas come again with every request of a conversation, and the same text always spells the same object. So what
was made of an object is remembered by its text, which is cheaper to compare than the object.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from katapi.runtime.json_types import Json


class ReadObject(dict[str, Json]):
    """An object out of a request, and the text that spelled it there. Nothing may be changed in it."""

    __slots__ = ("source",)
    source: str
    """The text, without the white space around it."""


_KEY = r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*'
_FIRST = re.compile(r"[ \t\n\r]*\{" + _KEY)
_NEXT = re.compile(r"[ \t\n\r]*," + _KEY)
_END = re.compile(r"[ \t\n\r]*\}[ \t\n\r]*\Z")
_OPENING = re.compile(r"\[[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_CLOSING = re.compile(r"[ \t\n\r]*\]")


def members(text: str, listed: str, scan: Callable[[str, int], tuple[Json, int]]) -> list[tuple[str, Json]] | None:
    """The members of the object that `text` spells, with objects in the array `listed` as `ReadObject`.

    None where `text` is anything but an object with plain keys; then it is for others to say what it is. `scan` reads
    the value at an index and says where it ends; what it raises comes through.
    """
    pairs: list[tuple[str, Json]] = []
    key = _FIRST.match(text)
    while key is not None:
        name, at = key[1], key.end()
        if name == listed and text.startswith("[", at):
            elements, at = _elements(text, at, scan)
            if at < 0:
                return None
            pairs.append((name, elements))
        else:
            value, at = scan(text, at)
            pairs.append((name, value))
        key = _NEXT.match(text, at)
        if key is None and _END.match(text, at) is not None:
            return pairs
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
        if isinstance(value, dict):
            value = ReadObject(value)
            value.source = text[at:end]
        elements.append(value)
        comma = _COMMA.match(text, end)
        if comma is None:
            closing = _CLOSING.match(text, end)
            return elements, -1 if closing is None else closing.end()
        at = comma.end()
