"""How far a template looks: on which other messages it depends what is printed for one.

It is derived from the template, and lets a budget be filled without printing a whole conversation for every message
that is tried: what a message changes elsewhere can only be where the template looks.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from katapi.runtime.dataclass import dataclass
from katapi.runtime.messages import role_of
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)


class Among(Enum):
    """Which messages a question is about."""

    BEFORE = "before"
    """Those before the message that is printed."""
    AFTER = "after"
    """Those behind it."""
    ALL = "all"
    """All of the conversation."""


class Finds(Enum):
    """What the answer to a question is."""

    ANY = "any"
    """Whether there is such a message."""
    FIRST = "first"
    """The first such message."""
    LAST = "last"
    """The last such message."""


@dataclass(frozen=True, slots=True)
class Question(Generic[R]):
    """A question about other messages, on whose answer it depends what is printed."""

    among: Among
    """Which messages are asked about."""
    finds: Finds
    """What of them is asked for."""
    holds: Callable[[R, int], bool]
    """Whether the message of an index in a request is such a one."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Messages that a counter of the whole conversation goes on over, or for which one is asked: those of a role."""

    role: str
    """The role of the messages."""
    items: str | None
    """Only those that have something in this field, which is a list; None where all do."""

    def counts(self, message: RequestModel) -> bool:
        """Whether a message is one of them."""
        if role_of(message) != self.role:
            return False
        if self.items is None:
            return True
        value: object = getattr(message, self.items)
        return value is not None and not isinstance(value, str) and value != ()


@dataclass(frozen=True, slots=True)
class Reach(Generic[R]):
    """On which other messages it depends what is printed for one; beside them, on the request's parameters alone."""

    questions: tuple[Question[R], ...] = ()
    """On the answers to these."""
    neighbours: bool = False
    """On the message before, or the one behind."""
    runs: frozenset[str] = frozenset()
    """The roles of messages that can be printed together with those before them."""
    taken: tuple[frozenset[str], ...] = ()
    """What is taken off the beginning of a conversation, one message each, by its role."""
    everywhere: frozenset[str] = frozenset()
    """The roles of messages that are printed in front, wherever they stand."""
    first: bool = False
    """The first message of the conversation is looked at by itself."""
    late_first: bool = False
    """On what stands at the beginning, what is printed for other messages depends too."""
    late_last: bool = False
    """On the last message, what is printed elsewhere depends too."""
    elsewhere: bool = False
    """Of what a message has, something may be printed for another one."""
    parting: frozenset[str] = frozenset()
    """The roles of messages for which a control token is always printed."""
    opening: frozenset[str] = frozenset()
    """The roles of messages for which what is printed always begins with a control token."""
    counted: frozenset[Counted] = frozenset()
    """The messages for which counters of the whole conversation matter."""
    advancing: frozenset[Counted] | None = None
    """Those that advance counters, by the same for each item of their field; None where others may advance them."""


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Why it is not known how far a template looks."""

    where: str
    """The place in the spec, as comments name it."""
    why: str
    """What stands there."""
