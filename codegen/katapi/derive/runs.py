"""How a run of text ends, and how the text that comes behind it begins, as far as a template decides that.

A run is the text between two control tokens, which is tokenized as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Letters:
    """A set of characters: those of `characters`, or where it is `inverted` all others."""

    characters: str
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class ControlEdge:
    """A control token; `strips` says whether it takes white space off the text on this side."""

    strips: bool


@dataclass(frozen=True, slots=True)
class Tail:
    """The last text of a run: all of it where it is `whole`, otherwise any text may stand before."""

    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Head:
    """The first characters of a text that is not empty, one of each set in turn; any text may come behind."""

    letters: tuple[Letters, ...]


Ending: TypeAlias = ControlEdge | Tail
Beginning: TypeAlias = ControlEdge | Head | None
"""None where nothing is printed."""

ANYTHING = Head(())
