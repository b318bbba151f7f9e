"""JSON objects that keep the text they were read from.

Tool schemas come again with every request of a conversation, and the same text always spells the same object. So what
was made of an object is remembered by its text, which is cheaper to compare than the object.
"""

from __future__ import annotations

import json
import re

from katapi.runtime.json_types import Json


class ReadObject(dict[str, Json]):
    """An object out of a request, and the text that spelled it there. Nothing may be changed in it."""

    __slots__ = ("source",)

    def __init__(self, value: dict[str, Json], source: str) -> None:
        super().__init__(value)
        self.source = source


_SPACE = re.compile(r"[ \t\n\r]*")
_OPENING = re.compile(r"[ \t\n\r]*\{")
_KEY = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
_BEHIND = re.compile(r"[ \t\n\r]*([,\]}])[ \t\n\r]*")


def members(text: str, listed: str, decoder: json.JSONDecoder) -> list[tuple[str, Json]] | None:
    """The members of the object that `text` spells, with objects in the array `listed` as `ReadObject`.

    None where `text` is anything but a plain object; then it is for others to say what it is. Every value is read by
    `decoder`, whose errors are raised.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None
    pairs: list[tuple[str, Json]] = []
    at = opening.end()
    while (key := _KEY.match(text, at)) is not None:
        at = key.end()
        if key[1] == listed and text.startswith("[", at):
            elements = _elements(text, at + 1, decoder)
            if elements is None:
                return None
            value, at = elements
        else:
            value, at = decoder.raw_decode(text, at)
        pairs.append((key[1], value))
        behind = _BEHIND.match(text, at)
        if behind is None or behind[1] == "]":
            return None
        at = behind.end()
        if behind[1] == "}":
            return pairs if at == len(text) else None
    return None


def _elements(text: str, at: int, decoder: json.JSONDecoder) -> tuple[list[Json], int] | None:
    """The elements of an array whose first one begins at `at` or behind, and where the array ends."""
    space = _SPACE.match(text, at)
    assert space is not None, "it matches the empty text"
    at = space.end()
    if text.startswith("]", at):
        return [], at + 1
    elements: list[Json] = []
    while True:
        value, end = decoder.raw_decode(text, at)
        elements.append(ReadObject(value, text[at:end]) if isinstance(value, dict) else value)
        behind = _BEHIND.match(text, end)
        if behind is None or behind[1] == "}":
            return None
        if behind[1] == "]":
            return elements, behind.end(1)
        at = behind.end()
