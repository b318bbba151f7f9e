"""What a reply says: content, reasoning and calls of tools."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool."""

    name: str
    """The name of the tool."""
    arguments: JsonObject
    """The arguments by name."""
    id: str | None = None
    """The id of the call, where the model writes one."""


Kind: TypeAlias = Literal["misplaced", "unreadable call", "unfinished call", "behind the end"]
"""What is wrong in a reply."""


class ReplyFault(NamedTuple):
    """Something in a reply that the template would not have printed.

    `kind` is "misplaced" for text or tokens that belong to nothing, "unreadable call" for a call of a tool that says no
    name or no object of arguments, "unfinished call" for one that is cut off, and "behind the end".
    """

    kind: Kind
    start: int
    """The index of the first id that it concerns."""
    text: str
    """What stands there."""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What `Model.parse` makes of the ids that a model sampled."""

    message: JsonObject
    """The message as a request of the model has it: for the `messages` of the next request."""
    content: str
    """What is said; empty where there is nothing."""
    reasoning: str | None
    """What was thought; None where there is nothing."""
    tool_calls: tuple[ToolCall, ...]
    """The calls that can be read, in order."""
    complete: bool
    """Whether the reply came to its end; false where sampling was cut off, and where the closing token was left out."""
    faults: tuple[ReplyFault, ...]
    """What cannot be read, in order; empty in a reply as the template prints it."""


class Delta(NamedTuple):
    """What an id that was pushed makes certain: a piece of `content` or `reasoning`, or whole `tool_calls`."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.content or self.reasoning or self.tool_calls)
