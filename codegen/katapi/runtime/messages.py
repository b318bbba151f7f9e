"""The messages of a request, whatever model it is of."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.request_model import RequestModel

INSTRUCTING = frozenset({"system", "developer"})
"""The roles whose messages are instructions."""
ANSWERING = frozenset({"tool", "tool_results", "ipython", "observation", "function"})
"""The roles whose messages are results of tools."""
USER = "user"
"""The role that asks."""


def items_of(value: RequestModel, name: str) -> tuple[object, ...]:
    """The items of a list of a request, or of a message; none where it has no such list."""
    found: object = getattr(value, name, None)
    return found if isinstance(found, tuple) else ()


def messages_of(request: RequestModel) -> tuple[RequestModel, ...]:
    """The messages of a request."""
    messages: tuple[RequestModel, ...] = getattr(request, "messages", ())
    return messages


def role_of(message: RequestModel) -> str:
    """The role of a message."""
    return str(getattr(message, "role", ""))


def roles_of(messages: Sequence[RequestModel]) -> list[str]:
    """The roles of messages."""
    return [role_of(message) for message in messages]
