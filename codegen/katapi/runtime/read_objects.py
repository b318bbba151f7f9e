"""JSON objects that keep the text they were read from.

Tool schemas come again with every request of a conversation, and the same text always spells the same object. So what
was made of an object is remembered by its text, which is cheaper to compare than the object.
"""

from __future__ import annotations

from katapi.runtime.json_types import Json


class ReadObject(dict[str, Json]):
    """An object out of a request, and the text that spelled it there. Nothing may be changed in it."""

    __slots__ = ("source",)
    source: str
    """The text, without the white space around it."""


def read_object(value: dict[str, Json], source: str) -> ReadObject:
    """An object with the text that it was read from."""
    made = ReadObject(value)
    made.source = source
    return made
