"""A bounded memory of values that were written before: tool schemas come again with every request."""

from __future__ import annotations

import marshal
from abc import ABC, abstractmethod
from typing import Final, TypeAlias

from katapi.runtime.json_types import Json
from katapi.runtime.read_objects import ReadObject
from katapi.runtime.segments import Content

_MARSHAL_WITHOUT_REFERENCES = 2  # later versions write an object that is met again as a reference
MOST_KNOWN: Final = 512
"""Values that one memory holds."""
LONGEST_KNOWN: Final = 1 << 16
"""Characters or bytes of the key of a value that is remembered."""


Key: TypeAlias = str | bytes | tuple[str, ...]
"""What a value is remembered by."""


class KnownValues(ABC):
    """Remembers what `dump` made of a value. What it makes is a function of the value alone."""

    __slots__ = ()
    _known: dict[Key, Content]

    @abstractmethod
    def dump(self, value: Json) -> Content:
        """The text of a value."""

    def dump_known(self, value: Json) -> Content:
        """`dump`, with the memory."""
        key = key_of(value)
        if key is None:
            return self.dump(value)
        text = self._known.get(key)
        if text is None:
            text = self.dump(value)
            if size_of(key) <= LONGEST_KNOWN:
                if len(self._known) >= MOST_KNOWN:
                    self._known.clear()
                self._known[key] = text
        return text


def key_of(value: Json) -> Key | None:
    """The text that a value was read from, those of the elements of a list, or the whole value as `marshal` writes it.

    Each tells apart whatever can be printed of it. None for a Mapping or Sequence of a kind that no JSON is read into.
    """
    if isinstance(value, ReadObject):
        return value.source
    if type(value) is tuple and value and type(value[0]) is ReadObject:
        sources = tuple([element.source for element in value if isinstance(element, ReadObject)])
        if len(sources) == len(value):
            return sources
    try:
        return marshal.dumps(value, _MARSHAL_WITHOUT_REFERENCES)  # type: ignore[arg-type]  # it refuses by itself
    except ValueError:
        return None


def size_of(key: Key) -> int:
    """The characters or bytes of a key."""
    return sum(map(len, key)) if isinstance(key, tuple) else len(key)
