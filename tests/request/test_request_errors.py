"""What a client is told about a request of the wrong shape."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from katapi.runtime.errors import RequestError
from katapi.runtime.request_model import Items, RequestModel
from tests.validation import validated

Refusal = Callable[[object], RequestError]

USER = {"role": "user", "content": "x"}


def with_message(message: object) -> object:
    return {"messages": [USER, message]}


def with_call(call: object) -> object:
    return with_message({"role": "assistant", "tool_calls": [call]})


FAULTS = [
    ([], "R113", "1:1", "expected an object, got a list"),
    ({}, "R112", "messages", 'parameter "messages" is missing'),
    ({"messages": "hello"}, "R113", "messages", "expected a list, got text"),
    ({"messages": {}}, "R113", "messages", "expected a list, got an object"),
    (with_message("hello"), "R113", "messages[1]", "expected an object, got text"),
    (with_message(None), "R113", "messages[1]", "expected an object, got null"),
    (with_message({"role": "critic"}), "R110", "messages[1].role", 'unknown role "critic"'),
    (with_message({"role": None}), "R113", "messages[1].role", "expected text, got null"),
    (with_message({"role": ["user"]}), "R113", "messages[1].role", "expected text, got a list"),
    (with_message({"content": "x"}), "R112", "messages[1].role", 'field "role" is missing'),
    (with_message({"role": "system"}), "R112", "messages[1].content", 'field "content" is missing'),
    (with_message({"role": "system", "content": None}), "R113", "messages[1].content", "expected text, got null"),
    (
        with_message({"role": "user", "content": 5}),
        "R113",
        "messages[1].content",
        "expected text or a list, got an integer",
    ),
    (
        with_message({"role": "user", "content": [{"type": "text"}]}),
        "R112",
        "messages[1].content[0].text",
        'field "text" is missing',
    ),
    (
        with_message({"role": "user", "content": [{"type": "sound"}]}),
        "R110",
        "messages[1].content[0].type",
        'unknown type "sound"',
    ),
    (with_message({**USER, "user": 1}), "R111", "messages[1].user", 'unknown field "user"'),
    (
        with_message({"role": "assistant", "thinking": 1}),
        "R113",
        "messages[1].thinking",
        "expected text, got an integer",
    ),
    (with_call(1), "R113", "messages[1].tool_calls[0]", "expected an object, got an integer"),
    (
        with_call({"function": {"name": "f", "arguments": {}}, "type": "code"}),
        "R114",
        "messages[1].tool_calls[0].type",
        'expected "function", got "code"',
    ),
    ({"messages": [], "effort": "mid"}, "R114", "effort", '"mid" is not one of the choices'),
    (
        {"messages": [], "add_generation_prompt": 1},
        "R113",
        "add_generation_prompt",
        "expected true or false, got an integer",
    ),
    ({"messages": [], "count": True}, "R113", "count", "expected an integer, got true"),
    ({"messages": [], "count": 1.0}, "R113", "count", "expected an integer, got a number with a fraction"),
    ({"messages": [], "scale": "1"}, "R113", "scale", "expected a number, got text"),
    ({"messages": [], "tools": [[]]}, "R113", "tools[0]", "expected an object, got a list"),
    ({"messages": [], "temperature": 1}, "R111", "temperature", 'unknown parameter "temperature"'),
]


@pytest.mark.parametrize(
    ("value", "code", "where", "message"), FAULTS, ids=[f"{code}-{where}" for _, code, where, _ in FAULTS]
)
def test_each_fault_has_its_code_its_place_and_its_words(
    refusal: Refusal, value: object, code: str, where: str, message: str
) -> None:
    error = refusal(value)
    assert (error.code, error.where, error.message) == (code, where, message)


@pytest.mark.parametrize("value", [value for value, _, _, _ in FAULTS], ids=[f"{c}-{w}" for _, c, w, _ in FAULTS])
def test_no_word_of_the_validation_library_reaches_the_client(refusal: Refusal, value: object) -> None:
    text = str(refusal(value)).lower()
    assert not [word for word in ("pydantic", "http", "input", "tuple", "dict", "literal", "none") if word in text]


def test_an_unknown_role_is_answered_with_the_declared_ones(refusal: Refusal) -> None:
    assert refusal(with_message({"role": "critic"})).help == "the roles are system, developer, user, assistant, tool"


def test_a_value_outside_the_choices_is_answered_with_them(refusal: Refusal) -> None:
    assert refusal({"messages": [], "effort": None}).help == 'the choices are "low", "high"'


def test_a_misspelled_parameter_is_told_before_the_missing_one(refusal: Refusal) -> None:
    error = refusal({"message": []})
    assert (error.where, error.help) == ("message", "did you mean messages?")


def test_an_unknown_field_is_answered_with_all_spellings_of_the_accepted_ones(refusal: Refusal) -> None:
    error = refusal(with_message({"role": "assistant", "audio": 1}))
    assert error.help == "accepted here: role, content, reasoning_content, thinking, tool_calls"


def test_one_field_under_two_spellings_is_refused(refusal: Refusal) -> None:
    error = refusal(with_message({"role": "assistant", "thinking": "x", "reasoning_content": "x"}))
    assert error.message == 'field "thinking" stands here under two spellings'
    assert error.help == "send one of reasoning_content, thinking"


class Inner(RequestModel):
    value: int | Items[str]


class Outer(RequestModel):
    choice: str | Items[Inner]


def test_alternatives_within_alternatives_are_one_fault() -> None:
    with pytest.raises(RequestError) as caught:
        validated(Outer, {"choice": [{"value": None}]})
    assert caught.value.where == "choice[0].value"
    assert caught.value.message == "expected an integer or a list, got null"


def test_a_field_spelled_like_a_role_is_not_taken_for_the_role(refusal: Refusal) -> None:
    message = {"role": "tool", "content": "x", "tool": {"assistant": 1}, "assistant": 1}
    error = refusal(with_message(message))
    assert error.where == "messages[1].assistant"
    assert error.message == "expected text, got an integer (and 1 more fault)"


def test_further_faults_are_counted(refusal: Refusal) -> None:
    error = refusal({"messages": [{"role": "user", "content": 1}, {"role": "critic"}], "count": "1"})
    assert error.where == "messages[0].content"
    assert error.message.endswith("(and 2 more faults)")


def test_a_hostile_name_is_shown_on_one_line(refusal: Refusal) -> None:
    error = refusal({"messages": [], "x\n\u202ehelp: \x1b[2J" + "y" * 1000: 1})
    assert str(error).count("\n") == 1
    assert str(error).replace("\n", "").isprintable()
    assert len(str(error)) < 500
