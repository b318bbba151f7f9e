"""A bounded memory of values that were written before: tool schemas come again with every request."""

from __future__ import annotations

import marshal
from abc import ABC, abstractmethod

from katapi.runtime.json_types import Json
from katapi.runtime.read_objects import ReadObject
from katapi.runtime.segments import Content

_MARSHAL_WITHOUT_REFERENCES = 2  # later versions write an object that is met again as a reference
_MOST_KNOWN = 512
_LONGEST_KNOWN = 1 << 16  # characters or bytes


class KnownValues(ABC):
    """Remembers what `dump` made of a value. What it makes is a function of the value alone."""

    __slots__ = ()
    _known: dict[str | bytes, Content]

    @abstractmethod
    def dump(self, value: Json) -> Content:
        """The text of a value."""

    def dump_known(self, value: Json) -> Content:
        """`dump`, with the memory.

        The key is the text that the value was read from, or the whole value as `marshal` writes it: both tell apart
        whatever `dump` tells apart.
        """
        key: str | bytes
        if isinstance(value, ReadObject):
            key = value.source
        else:
            try:
                key = marshal.dumps(value, _MARSHAL_WITHOUT_REFERENCES)  # type: ignore[arg-type]  # it refuses by itself
            except ValueError:  # a Mapping or Sequence of another kind
                return self.dump(value)
        text = self._known.get(key)
        if text is None:
            text = self.dump(value)
            if len(key) <= _LONGEST_KNOWN:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = text
        return text
