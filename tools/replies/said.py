"""What a reply says, in the one form in which both sides are compared: content, reasoning, calls of tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from katapi.runtime.json_types import Json, JsonObject

REASONING = ("reasoning_content", "reasoning", "thinking")
"""The names that the reasoning of a message goes by."""


class Called(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: str
    """As JSON, the keys in order of the alphabet: equal texts are equal values of equal types."""
    id: str | None = None

    def same(self, other: Called) -> bool:
        """Whether name and arguments are the same."""
        return self[:2] == other[:2]


class Said(NamedTuple):
    """What a reply says."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[Called, ...] = ()
    rest: str = ""
    """What could not be read, where a side tells it."""


def called(name: str, arguments: Json, identity: str | None = None) -> Called:
    """A call, its arguments as an object or as the text of one."""
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return Called(name, json.dumps(arguments, ensure_ascii=False, sort_keys=True), identity)


def said(message: JsonObject) -> Said:
    """What a message of a conversation says."""
    calls: list[Called] = []
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function", call) if isinstance(call, Mapping) else {}
        if isinstance(call, Mapping) and isinstance(function, Mapping):
            calls.append(
                called(str(function.get("name")), function.get("arguments") or {}, _text_or_none(call.get("id")))
            )
    reasoning = next((message[name] for name in REASONING if message.get(name)), "")
    return Said(_text(message.get("content")), _text(reasoning), tuple(calls))


def message_of(what: Said, like: JsonObject) -> JsonObject:
    """A message that says this, with the names and ids that a message has."""
    name = next((name for name in REASONING if name in like), REASONING[0])
    out: dict[str, Json] = {"role": "assistant"}
    if what.content or "content" in like or not what.calls:
        out["content"] = what.content
    if what.reasoning:
        out[name] = what.reasoning
    if what.calls:
        old = said(like).calls
        ids = [call.id for call in old] + [None] * len(what.calls)
        out["tool_calls"] = [
            {
                **({} if (known := call.id or ids[at]) is None else {"id": known}),
                "type": "function",
                "function": {"name": call.name, "arguments": json.loads(call.arguments)},
            }
            for at, call in enumerate(what.calls)
        ]
    return out


def _text(value: Json) -> str:
    """A content, of parts the texts."""
    if isinstance(value, list | tuple):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, Mapping))
    return value if isinstance(value, str) else ""


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None
