"""`object from text`: a tool call's arguments as an object, or as a text that holds one."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from katapi.runtime.arguments import JsonText, ObjectFromText
from katapi.runtime.errors import RequestError
from katapi.runtime.request_model import RequestModel, decode_request
from tests.validation import validated


class Call(RequestModel):
    kept: JsonText | None = None
    parsed: ObjectFromText | None = None


SPACED = '{ "b": 1,\n "a": 1.50 }'


def test_a_text_is_parsed_and_kept() -> None:
    assert validated(Call, {"kept": SPACED}).kept == JsonText({"b": 1, "a": 1.5}, SPACED)


def test_an_object_has_no_source() -> None:
    assert validated(Call, {"kept": {"b": 1}}).kept == JsonText({"b": 1}, None)


def test_without_verbatim_only_the_object_remains_in_its_order() -> None:
    parsed = validated(Call, {"parsed": SPACED}).parsed
    assert parsed is not None
    assert list(parsed.items()) == [("b", 1), ("a", 1.5)]


def test_equality_is_that_of_value_and_source() -> None:
    assert JsonText({}, "{}") != JsonText({}, "{ }")
    assert JsonText({}, "{}") == JsonText({}, "{}")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("", "R100", "in this JSON text, at 1:1: the text is empty"),
        ("{'a': 1}", "R103", "in this JSON text, at 1:2: expected a key in double quotes, found '"),
        ('{"a": [{"b": 1, "b": 2}]}', "R104", 'in this JSON text, at a[0].b: the key "b" stands twice in one object'),
        ('{"a": NaN}', "R105", "in this JSON text, at a: NaN is no JSON number"),
        ("[" * 1000, "R109", "in this JSON text, at 1:129: lists and objects nest more than 128 deep"),
        ("[1]", "R113", "expected a text that holds an object, got one that holds a list"),
        ("null", "R113", "expected a text that holds an object, got one that holds null"),
        ([], "R113", "expected an object or a text that holds one, got a list"),
        (None, "R113", "expected an object or a text that holds one, got null"),
        (7, "R113", "expected an object or a text that holds one, got an integer"),
    ],
)
def test_a_fault_names_the_path_and_the_place_within_the_text(
    refusal: Callable[[object], RequestError], arguments: object, code: str, message: str
) -> None:
    call = {"function": {"name": "f", "arguments": arguments}}
    error = refusal({"messages": [{"role": "assistant", "tool_calls": [call]}]})
    assert error.where == "messages[0].tool_calls[0].function.arguments"
    assert (error.code, error.message) == (code, message)


def test_empty_arguments_are_answered_with_what_to_write(refusal: Callable[[object], RequestError]) -> None:
    assert refusal({"messages": [], "options": ""}).help == "write {} for no arguments"


def test_the_form_without_verbatim_refuses_the_same(refusal: Callable[[object], RequestError]) -> None:
    assert refusal({"messages": [], "options": '{"a": 1, "a": 1}'}).code == "R104"


def test_an_escaped_half_pair_within_the_text_is_refused(refusal: Callable[[object], RequestError]) -> None:
    assert refusal({"messages": [], "options": '{"a": "\\ud800"}'}).code == "R108"


def test_a_half_pair_of_a_python_caller_is_refused() -> None:
    for name in ("kept", "parsed"):
        with pytest.raises(RequestError) as caught:
            validated(Call, {name: '{"a": "\ud800"}'})
        assert (caught.value.code, caught.value.where) == ("R108", name)


def test_a_text_may_nest_as_deep_as_the_request() -> None:
    raw = json.dumps({"kept": '{"a": [[1]]}'}).encode()
    assert decode_request(Call, raw, max_depth=3).request.kept == JsonText({"a": [[1]]}, '{"a": [[1]]}')
    with pytest.raises(RequestError) as caught:
        decode_request(Call, raw, max_depth=2)
    assert (caught.value.code, caught.value.where) == ("R109", "kept")
    assert "at 1:8: lists and objects nest more than 2 deep" in caught.value.message
