"""What a budget says: how long an input may be, what of a request may be left out of it, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import TypeAlias

from katapi.runtime.counts import count_of
from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import JsonObject


class Section(Enum):
    """A section of an input (the chapter, section 1.7)."""

    INSTRUCTIONS = "instructions"
    """The messages of the roles `system` and `developer`, wherever they stand."""
    TOOLS = "tools"
    """The schemas of the tools."""
    HISTORY = "history"
    """The messages that are neither instructions nor current."""
    DOCUMENTS = "documents"
    """The documents that were retrieved."""
    CURRENT = "current"
    """The last message of the user, and the last group of messages: that which the reply answers."""
    GENERATION = "generation"
    """The generation prefix."""


class Order(Enum):
    """In which order the items of a section are tried."""

    NEWEST_FIRST = "newest first"
    """The last message first."""
    OLDEST_FIRST = "oldest first"
    """The first message first."""
    BY_SCORE = "by score"
    """The document with the highest score first; of equal ones, and of those without a score, the first given first."""
    AS_GIVEN = "as given"
    """As they stand in the request."""


ORDERS: Mapping[Section, tuple[Order, ...]] = {
    Section.TOOLS: (Order.AS_GIVEN,),
    Section.HISTORY: (Order.NEWEST_FIRST, Order.OLDEST_FIRST),
    Section.DOCUMENTS: (Order.BY_SCORE, Order.AS_GIVEN),
}
"""The sections of which something can be left out, each with the orders that it can have."""


class Grouping(Enum):
    """What of a history is kept together or left out together; a call of a tool and all its results always are."""

    BY_MESSAGE = "by message"
    """Each message by itself, but for calls and results."""
    BY_TURN = "by turn"
    """A message of the user with all that follows it, up to the next."""


class Misfit(Enum):
    """What becomes of a section when an item does not fit."""

    SKIP = "skip"
    """The next item is tried."""
    STOP = "stop"
    """None of the items behind it is tried."""


def _be(value: object, kinds: type | tuple[type, ...], name: str) -> None:
    """Raises TypeError for a value that no type checker would have let through."""
    if not isinstance(value, kinds):
        known = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise TypeError(f"{name} is of type {known}, not {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A number of tokens."""

    count: int
    """In tokens, from 0."""

    def __post_init__(self) -> None:
        count_of(self.count, "a share of tokens")

    def of(self, room: int) -> int:
        """The same, whatever the room."""
        return self.count

    def to_json(self) -> JsonObject:
        """The share as plain JSON."""
        return {"tokens": self.count}


@dataclass(frozen=True, slots=True)
class Percent:
    """A share of the room, which is the window without what is reserved."""

    count: int
    """In percent, from 0 to 100."""

    def __post_init__(self) -> None:
        if count_of(self.count, "a share in percent") > 100:
            raise ValueError(f"{self.count} percent is more than the whole")

    def of(self, room: int) -> int:
        """How many tokens of a room that is, rounded down."""
        return room * self.count // 100

    def to_json(self) -> JsonObject:
        """The share as plain JSON."""
        return {"percent": self.count}


Share: TypeAlias = Tokens | Percent
"""So many tokens, or so much of the room."""


@dataclass(frozen=True, slots=True)
class Allotment:
    """How a section that is not required is filled.

    Raises TypeError for a value of another type, and ValueError for a section of which nothing is ever left out, and
    for an order or a grouping that is not one of the section.
    """

    section: Section
    """`TOOLS`, `HISTORY` or `DOCUMENTS`."""
    order: Order
    """Which of its items is tried first."""
    misfit: Misfit
    """What becomes of those behind an item that does not fit."""
    grouping: Grouping = Grouping.BY_MESSAGE
    """For the history alone."""
    at_least: Share | None = field(default=None, kw_only=True)
    """So much is for this section before others, whatever their priority."""
    at_most: Share | None = field(default=None, kw_only=True)
    """More than that it never takes."""

    def __post_init__(self) -> None:
        _be(self.section, Section, "section")
        _be(self.order, Order, "order")
        _be(self.misfit, Misfit, "misfit")
        _be(self.grouping, Grouping, "grouping")
        for share in (self.at_least, self.at_most):
            _be(share, (Tokens, Percent, type(None)), "a share")
        orders = ORDERS.get(self.section)
        if orders is None:
            raise ValueError(f"nothing is ever left out of {self.section.value}")
        if self.order not in orders:
            known = " or ".join(repr(order.value) for order in orders)
            raise ValueError(f"{self.section.value} has no order {self.order.value!r}, but {known}")
        if self.grouping is not Grouping.BY_MESSAGE and self.section is not Section.HISTORY:
            raise ValueError(f"{self.section.value} has no messages to keep together")

    def to_json(self) -> JsonObject:
        """The allotment as plain JSON, with the fields by their names."""
        return {
            "section": self.section.value,
            "order": self.order.value,
            "misfit": self.misfit.value,
            "grouping": self.grouping.value,
            "at_least": None if self.at_least is None else self.at_least.to_json(),
            "at_most": None if self.at_most is None else self.at_most.to_json(),
        }


class Structure(Enum):
    """What a cut through the tokens may break."""

    CHARACTERS = "characters"
    """The input may begin within a character."""
    MESSAGES = "messages"
    """The input may begin within what is printed for a message."""
    CALLS = "calls"
    """The result of a tool may stand without its call."""
    INSTRUCTIONS = "instructions"
    """Instructions and tools may be cut."""
    IMAGES = "images"
    """The places of an image may be cut."""


@dataclass(frozen=True, slots=True)
class Reject:
    """What is too long is refused."""


@dataclass(frozen=True, slots=True)
class CutLeft:
    """What is too long loses tokens on the left, as few as can be without breaking anything else than `breaks`."""

    breaks: frozenset[Structure]

    def __post_init__(self) -> None:
        _be(self.breaks, frozenset, "breaks")
        for structure in self.breaks:
            _be(structure, Structure, "what a cut breaks")


Overflow: TypeAlias = Reject | CutLeft
"""What becomes of an input that is too long when nothing more can be left out."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget policy (the chapter, section 1.7): declared in a spec, or made in Python.

    Raises TypeError for a value of another type, and ValueError where one is below 0, where more is
    reserved than the window holds, and for a section that has two allotments.
    """

    id: str
    """Its name and version, `agent32k@1`."""
    window: int
    """The context window, in tokens."""
    reserve: int
    """What of it is kept for the answer, in tokens."""
    optional: tuple[Allotment, ...] = ()
    """The sections that are not required, those that are filled first in front."""
    overflow: Overflow = Reject()
    """What becomes of an input whose required sections are too long."""
    digest: str = ""
    """The SHA-256 of the declaration: `sha256:` and 64 hexadecimal digits; empty where it was declared in no file."""

    def __post_init__(self) -> None:
        if count_of(self.reserve, "reserve") > count_of(self.window, "window"):
            raise ValueError(f"a reserve of {self.reserve} is more than a window of {self.window}")
        _be(self.optional, tuple, "optional")
        for allotment in self.optional:
            _be(allotment, Allotment, "what stands in optional")
        _be(self.overflow, (Reject, CutLeft), "overflow")
        sections = [allotment.section for allotment in self.optional]
        for section in sections:
            if sections.count(section) > 1:
                raise ValueError(f"{section.value} has two allotments")

    @property
    def room(self) -> int:
        """How many tokens an input may have: n_input + reserve ≤ window."""
        return self.window - self.reserve

    def to_json(self) -> JsonObject:
        """The budget as plain JSON: its fields by their names, and under `cut left` what a cut may break."""
        cut = self.overflow.breaks if isinstance(self.overflow, CutLeft) else None
        return {
            "id": self.id,
            "digest": self.digest,
            "window": self.window,
            "reserve": self.reserve,
            "optional": [one.to_json() for one in self.optional],
            "cut left": None if cut is None else [structure.value for structure in Structure if structure in cut],
        }
