"""What a budget says: how long an input may be, what of a request may be left out of it, and in which order."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias

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


@dataclass(frozen=True, slots=True)
class Tokens:
    """A number of tokens."""

    count: int

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

    def of(self, room: int) -> int:
        """How many tokens of a room that is, rounded down."""
        return room * self.count // 100

    def to_json(self) -> JsonObject:
        """The share as plain JSON."""
        return {"percent": self.count}


Share: TypeAlias = Tokens | Percent


@dataclass(frozen=True, slots=True)
class Allotment:
    """How a section that is not required is filled."""

    section: Section
    """`TOOLS`, `HISTORY` or `DOCUMENTS`."""
    order: Order
    misfit: Misfit
    grouping: Grouping = Grouping.BY_MESSAGE
    """For the history alone."""
    at_least: Share | None = field(default=None, kw_only=True)
    """So much is for this section before others, whatever their priority."""
    at_most: Share | None = field(default=None, kw_only=True)
    """More than that it never takes."""

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


Overflow: TypeAlias = Reject | CutLeft


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget policy (the chapter, section 1.7)."""

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
