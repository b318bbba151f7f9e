"""From bytes to a request that nobody can change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from katapi.runtime.errors import RequestError
from katapi.runtime.request_model import RequestModel, decode_request
from tests.validation import validated

Decode = Callable[[object], RequestModel]

CONVERSATION = {
    "messages": [
        {"role": "developer", "content": "你是一个简洁的科学助手。"},
        {"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "image", "url": "u"}]},
        {
            "role": "assistant",
            "content": None,
            "thinking": "hm",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "content": {"b": [1, 2.5, None]}},
    ],
    "tools": [{"type": "function"}],
    "now": "2025-03-09",
}


def test_lists_become_tuples_and_the_rest_stays(decode: Decode) -> None:
    request = decode(CONVERSATION)
    assert repr(request) == (
        "Request(messages=("
        "SystemMessage(role='developer', content='你是一个简洁的科学助手。'), "
        "UserMessage(role='user', content=(TextPart(type='text', text='q'), ImagePart(type='image', url='u'))), "
        "AssistantMessage(role='assistant', content=None, reasoning='hm', tool_calls=("
        "Call(id='1', type='function', function=Function("
        "name='f', arguments=JsonText(value={'x': 1}, source='{\"x\": 1}'))),)), "
        "ToolMessage(role='tool', content={'b': [1, 2.5, None]}, assistant=None)), "
        "tools=({'type': 'function'},), options=None, add_generation_prompt=True, effort='low', count=0, scale=1.0, "
        "now=datetime.datetime(2025, 3, 9, 0, 0))"
    )


def test_bytes_and_python_values_give_the_same_request(decode: Decode, request_model: type[RequestModel]) -> None:
    assert validated(request_model, CONVERSATION) == decode(CONVERSATION)


def test_no_field_can_be_assigned(decode: Decode) -> None:
    request = decode(CONVERSATION)
    with pytest.raises(ValidationError):
        setattr(request, "tools", None)  # noqa: B010  # a plain assignment would not pass mypy


def test_a_model_is_taken_as_it_is(decode: Decode, request_model: type[RequestModel]) -> None:
    request = decode(CONVERSATION)
    assert validated(request_model, request) is request


def test_replaced_bytes_are_reported_with_the_request(request_model: type[RequestModel]) -> None:
    raw = b'{"messages": [{"role": "user", "content": "\xff"}]}'
    decoded = decode_request(request_model, raw, invalid_utf8="replace")
    assert [entry.where for entry in decoded.substitutions] == ["byte 43"]
    with pytest.raises(RequestError, match="R101 at byte 43"):
        decode_request(request_model, raw)


def test_the_declared_depth_is_the_limit(request_model: type[RequestModel]) -> None:
    raw = b'{"messages": [], "tools": [{"a": [[]]}]}'
    decode_request(request_model, raw, max_depth=5)
    with pytest.raises(RequestError, match="R109"):
        decode_request(request_model, raw, max_depth=4)


def test_a_half_pair_in_the_text_of_a_python_caller_is_refused(request_model: type[RequestModel]) -> None:
    with pytest.raises(RequestError, match=r"R108 at messages\[0\].content"):
        validated(request_model, {"messages": [{"role": "system", "content": "\ud800"}]})


def test_clients_can_be_shown_a_json_schema(request_model: type[RequestModel]) -> None:
    properties = request_model.model_json_schema()["properties"]
    assert properties["tools"]["anyOf"][0] == {"type": "array", "items": {"type": "object"}}


@pytest.mark.parametrize(
    ("raw", "where", "kind"),
    [
        (b"null", "1:1", "null"),
        (b'["a"]', "1:1", "a list"),
        (b'\n\n  "text"', "3:3", "text"),
        (b"\t7", "1:2", "an integer"),
    ],
)
def test_a_request_that_is_no_object_is_refused_at_its_place(
    raw: bytes, where: str, kind: str, request_model: type[RequestModel]
) -> None:
    with pytest.raises(RequestError) as caught:
        decode_request(request_model, raw)
    assert (caught.value.code, caught.value.where) == ("R113", where)
    assert caught.value.message == f"expected an object, got {kind}"
