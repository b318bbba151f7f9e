"""What a budget decided: what was kept of a request, what was left out, and why."""

from __future__ import annotations

from enum import Enum

from katapi.runtime.budget.policy import Budget, Section, Structure
from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import JsonObject
from katapi.runtime.request_model import RequestModel


class Why(Enum):
    """Why an item was kept or left out."""

    REQUIRED = "required"
    """Kept: its section is required."""
    FITS = "fits"
    """Kept: with it, the input is not too long."""
    TOO_LONG = "too long"
    """Left out: with it, the input would be longer than the room."""
    OVER_SHARE = "over its share"
    """Left out: with it, its section would have more than it may."""
    STOPPED = "behind one that did not fit"
    """Left out without a try: its section stops at the first item that does not fit."""
    REFUSED = "refused"
    """Left out: no input can be made with it; the detail says why."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What became of one item: of a message or a group of them, a tool, or a document."""

    section: Section
    """The section that it is of."""
    at: tuple[int, ...]
    """The indices of its messages, or of the tool or document, in the request that came in."""
    kept: bool
    """Whether it is in the input."""
    why: Why
    """The reason."""
    before: int
    """The tokens of the input without it, when it was decided on."""
    after: int | None
    """The tokens of the input with it; None where that was not tried, or where there is no such input."""
    detail: str = ""
    """The error with which an input was refused."""

    def to_json(self) -> JsonObject:
        """The choice as plain JSON, with the fields by their names."""
        return {
            "section": self.section.value,
            "at": list(self.at),
            "kept": self.kept,
            "why": self.why.value,
            "before": self.before,
            "after": self.after,
            **({"detail": self.detail} if self.detail else {}),
        }


@dataclass(frozen=True, slots=True)
class Cut:
    """What was cut off on the left of the tokens, and what the model sees first."""

    tokens: int
    """How many tokens were cut off."""
    breaks: tuple[Structure, ...]
    """What was broken."""
    message: int | None
    """The message in which the input begins, by its index in the request that was rendered."""
    begins: str
    """The first of what is left, as text."""

    def to_json(self) -> JsonObject:
        """What was cut off as plain JSON, with the fields by their names."""
        return {
            "tokens": self.tokens,
            "breaks": [structure.value for structure in self.breaks],
            "message": self.message,
            "begins": self.begins,
        }


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What a budget decided; `input` and `reserve` together are at most `window`, all three in tokens."""

    budget: Budget
    """The budget that was applied."""
    input: int
    """How many tokens are left."""
    choices: tuple[Choice, ...] = ()
    """In the order in which they were made, the required ones first."""
    offered: RequestModel | None = None
    """The request that came in, where something of it was left out; the record's `request` is what is left."""
    cut: Cut | None = None
    """What was cut off the tokens; None where nothing was."""
    required: tuple[int, ...] | None = None
    """The messages that the caller of `fit_context` required; None where the budget itself says what is required."""
    together: tuple[tuple[int, int], ...] = ()
    """The half-open ranges of messages that this caller wants kept or left out together."""

    @property
    def policy(self) -> str:
        """The name and version of the budget."""
        return self.budget.id

    @property
    def window(self) -> int:
        """The window of the budget, in tokens."""
        return self.budget.window

    @property
    def reserve(self) -> int:
        """What of it is kept for the answer, in tokens."""
        return self.budget.reserve

    def to_json(self) -> JsonObject:
        """The decision as plain JSON; `id` is the name and version of the budget."""
        return {
            "id": self.policy,
            "window": self.window,
            "reserve": self.reserve,
            "input": self.input,
            "choices": [choice.to_json() for choice in self.choices],
            "offered": None if self.offered is None else self.offered.model_dump(mode="json", exclude_unset=True),
            **({} if self.cut is None else {"cut": self.cut.to_json()}),
        }
