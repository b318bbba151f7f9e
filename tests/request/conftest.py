"""A request model as the compiler writes them, and two ways to use it in a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Literal, NewType

import pytest
from pydantic import AliasChoices, Field

from katapi.runtime.arguments import JsonText, ObjectFromText
from katapi.runtime.errors import RequestError
from katapi.runtime.fields import DateField, JsonObjectField, JsonValueField
from katapi.runtime.request_model import Items, RequestModel, decode_request

Content = NewType("Content", str)


class TextPart(RequestModel):
    type: Literal["text"]
    text: Content


class ImagePart(RequestModel):
    type: Literal["image"]
    url: Content


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class Function(RequestModel):
    name: Content
    arguments: JsonText


class Call(RequestModel):
    id: Content | None = None
    type: Literal["function"] | None = None
    function: Function


class SystemMessage(RequestModel):
    role: Literal["system", "developer"]
    content: Content


class UserMessage(RequestModel):
    role: Literal["user"]
    content: Content | Items[Part]


class AssistantMessage(RequestModel):
    role: Literal["assistant"]
    content: Content | None = None
    reasoning: Content | None = Field(None, validation_alias=AliasChoices("reasoning_content", "thinking"))
    tool_calls: Items[Call] | None = None


class ToolMessage(RequestModel):
    role: Literal["tool"]
    content: Content | JsonValueField
    assistant: Content | None = None  # spelled like a role, on purpose


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Request(RequestModel):
    messages: Items[Message]
    tools: Items[JsonObjectField] | None = None
    options: ObjectFromText | None = None
    add_generation_prompt: bool = True
    effort: Literal["low", "high"] = "low"
    count: int = 0
    scale: float = 1.0
    now: DateField | None = None


@pytest.fixture
def decode() -> Callable[[object], Request]:
    """Sends a value as JSON bytes and gives the request."""

    def send(value: object) -> Request:
        return decode_request(Request, json.dumps(value).encode()).request

    return send


@pytest.fixture
def refusal(decode: Callable[[object], Request]) -> Callable[[object], RequestError]:
    """Sends a value as JSON bytes and gives the error that must result."""

    def send(value: object) -> RequestError:
        with pytest.raises(RequestError) as caught:
            decode(value)
        return caught.value

    return send


@pytest.fixture
def request_model() -> type[Request]:
    return Request
