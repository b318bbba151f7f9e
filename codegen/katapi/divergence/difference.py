"""What a difference is: its kind, its place, and what stands there in each of two executions."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import Json


class Kind(Enum):
    """What a difference is, from one that does not show to one that does."""

    COMPOSITION = "composed and decomposed characters"
    """The same text in the normal form C of Unicode."""
    COMPATIBILITY = "compatibility characters"
    """The same text in the normal form KC: full width, ligatures, superscripts."""
    LINE_END = "line ends"
    """CR LF, LF or CR."""
    INVISIBLE = "an invisible character"
    """One that takes no room stands in one of them."""
    SPACE = "another space"
    """Two spaces of different width or behaviour."""
    LOOK_ALIKE = "characters that look alike"
    """Of two scripts, or two signs of one shape."""
    REPLACED = "bytes that are no UTF-8"
    """They were read, or replaced, in different ways."""
    WHITE_SPACE = "white space"
    """More of it in one of them, or outside of the values of JSON."""
    ESCAPE = "an escape of JSON"
    """The same text, spelled with other escapes."""
    NUMBER = "the spelling of a number"
    """The same number: 1, 1.0, 1e0."""
    KEY_ORDER = "the order of keys"
    """The same JSON, its keys in another order."""
    ORDER = "the order of what is printed"
    """The same segments in another order."""
    TEXT = "another text"
    """Nothing of the above."""
    VALUE = "another value"
    """Of JSON."""
    MISSING = "something that one of them lacks"
    """A key, an item, a segment or tokens."""
    DECLARATION = "another declaration"
    """Of the request rules, the template or the tokenizer."""
    ORIGIN = "another origin"
    """The same text in other segments."""
    TOKEN = "another token"
    """At an index of the ids."""
    PADDING = "padding"
    """The same ids but for those that the mask leaves out."""
    CELL = "another cell"
    """Of the mask or of the positions."""
    CHOICE = "another choice of the budget"
    """What was kept, and why."""
    ERROR = "an error"
    """One of them ended here, or each with another error."""
    HIDDEN = "contents that are redacted"
    """The digests say that they differ, and nothing says where."""


class Excerpt(NamedTuple):
    """A place in a text: all of the `text`, and the half-open range of characters, `start` to `end`, that is meant."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The smallest difference of two stages."""

    kind: Kind
    """What it is."""
    where: str
    """The place: a byte offset, a path, a segment, the index of a token or cell, a choice of the budget."""
    first: str
    """What stands there in the first execution, with the names of characters; empty where nothing does."""
    second: str
    """The same for the second."""
    excerpts: tuple[Excerpt, Excerpt] | None = None
    """The texts around it, where it is in a text."""

    def to_json(self) -> dict[str, Json]:
        """The difference as plain JSON, without the texts around it."""
        return {"kind": self.kind.value, "where": self.where, "first": self.first, "second": self.second}


def of_both(kind: Kind, where: str, shown: Iterable[str]) -> Difference:
    """A difference without texts around it; `shown` are what stands in the first and in the second."""
    first, second = shown
    return Difference(kind, where, first, second)
