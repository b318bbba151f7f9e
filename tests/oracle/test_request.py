"""Which requests the oracle takes, what it makes of them, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from katapi.model.program import Program
from katapi.oracle.request import canonical
from katapi.oracle.values import Absent, Items, Pairs, Record, Truth, Whole
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import Content, ContentSegment

Load = Callable[[str], Program]

USER: dict[str, Json] = {"role": "user", "content": "hi"}


def call(arguments: Json, **more: Json) -> Json:
    function: Json = {"name": "f", "arguments": arguments, **more}
    return {"messages": [{"role": "assistant", "refusal": None, "tool_calls": [{"id": "1", "function": function}]}]}


def values(**more: Json) -> Json:
    return {"messages": [USER], "tools": [], **more}


def refusal(program: Program, value: Json) -> tuple[str, str]:
    with pytest.raises(RequestError) as caught:
        canonical(program, value)
    return caught.value.code, caught.value.where


def test_messages_keep_their_place_and_left_out_fields_are_absent(load: Load) -> None:
    request = canonical(load("qwen3"), {"messages": [USER, {"role": "assistant", "content": None}]})
    user, assistant = request.messages
    assert (user.position, user.role) == (0, "user")
    assert user.fields == {"content": ContentSegment(Content("hi"), ("messages", 0, "content"), 0)}
    assert (assistant.position, assistant.role) == (1, "assistant")
    assert assistant.fields == {
        name: Absent(("messages", 1, name)) for name in ("content", "reasoning_content", "tool_calls")
    }


def test_generating_and_defaults(load: Load) -> None:
    request = canonical(load("values"), values())
    assert request.generating
    assert request.params["thinking"] == Truth(True, ("thinking",))
    assert request.params["budget"] == Whole(12, ("budget",))
    assert request.params["effort"] == ContentSegment(Content("medium"), ("effort",), 0)
    assert request.params["words"] == Absent(("words",))
    assert not canonical(load("values"), values(add_generation_prompt=False)).generating


def test_records_and_lists_inside_each_other(load: Load) -> None:
    part: Json = {"type": "image", "size": [3, 4]}
    request = canonical(load("records"), {"messages": [{"role": "user", "parts": [part], "name": "x"}]})
    path = ("messages", 0, "parts")
    assert request.messages[0].fields["parts"] == Items(
        (
            Record(
                {
                    "type": ContentSegment(Content("image"), (*path, 0, "type"), 0),
                    "text": Absent((*path, 0, "text")),
                    "size": Items(
                        (Whole(3, (*path, 0, "size", 0)), Whole(4, (*path, 0, "size", 1))), (*path, 0, "size")
                    ),
                },
                (*path, 0),
            ),
        ),
        path,
    )


def test_an_object_may_come_as_text_and_verbatim_keeps_the_text(load: Load) -> None:
    source = ' {"a":\n[1] }'
    request = canonical(load("records"), call(source, defaults=source))
    calls = request.messages[0].fields["tool_calls"]
    assert isinstance(calls, Items)
    (one,) = calls.items
    assert isinstance(one, Record)
    function = one.fields["function"]
    assert isinstance(function, Record)
    arguments, defaults = function.fields["arguments"], function.fields["defaults"]
    assert isinstance(arguments, Pairs)
    assert isinstance(defaults, Pairs)
    assert (arguments.source, defaults.source) == (source, None)
    place = ("messages", 0, "tool_calls", 0, "function", "arguments", "a")
    assert arguments.pairs == (("a", Items((Whole(1, (*place, 0)),), place)),)


def test_null_is_a_value_for_json_and_nothing_for_an_optional_field(load: Load) -> None:
    message: Json = {"role": "tool", "content": None, "tool_call_id": "1"}
    request = canonical(load("records"), {"messages": [message]})
    assert request.messages[0].fields["content"] == Absent(("messages", 0, "content"))
    assert refusal(load("records"), {"messages": [{"role": "tool", "tool_call_id": "1"}]}) == (
        "R112",
        "messages/0/content",
    )


@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        ([], "R113", ""),
        ({}, "R112", "messages"),
        ({"messages": {}}, "R113", "messages"),
        ({"messages": "hi"}, "R113", "messages"),
        ({"messages": ["hi"]}, "R113", "messages/0"),
        ({"messages": [{"content": "x"}]}, "R112", "messages/0/role"),
        ({"messages": [{"role": 1}]}, "R113", "messages/0/role"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "R110", "messages/0/role"),
        ({"messages": [{"role": "user"}]}, "R112", "messages/0/content"),
        ({"messages": [{"role": "user", "content": None}]}, "R113", "messages/0/content"),
        ({"messages": [{"role": "user", "content": 1}]}, "R113", "messages/0/content"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "R108", "messages/0/content"),
        ({"messages": [{"role": "user", "content": "x", "name": "y"}]}, "R111", "messages/0/name"),
        (values(unknown=1), "R111", "unknown"),
        ({"messages": [USER]}, "R112", "tools"),
        (values(tools=None), "R113", "tools"),
        (values(tools=[1]), "R113", "tools/0"),
        (values(tools=[{"a": float("nan")}]), "R105", "tools/0/a"),
        (values(tools=[{"\udc00": 1}]), "R108", "tools/0/\udc00"),
        (values(add_generation_prompt=1), "R113", "add_generation_prompt"),
        (values(add_generation_prompt=None), "R113", "add_generation_prompt"),
        (values(thinking=1), "R113", "thinking"),
        (values(thinking=None), "R113", "thinking"),
        (values(budget=True), "R113", "budget"),
        (values(budget=1.0), "R113", "budget"),
        (values(effort="none"), "R114", "effort"),
        (values(effort=0), "R113", "effort"),
        (values(style="poor"), "R114", "style"),
        (values(extra=[]), "R113", "extra"),
        (values(words=["a", None]), "R113", "words/1"),
        (values(table=[1]), "R113", "table/0"),
    ],
)
def test_what_is_refused(load: Load, value: Json, code: str, where: str) -> None:
    assert refusal(load("values"), value) == (code, where)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (1, "R113"),
        (["a"], "R113"),
        (None, "R113"),
        ("", "R103"),
        ("{", "R103"),
        ("[1]", "R113"),
        ('"text"', "R113"),
        ('{"a": 1, "a": 2}', "R104"),
        ('{"a": NaN}', "R105"),
        ('{"a": 1e999}', "R105"),
        ('{"a": "\\ud800"}', "R108"),
        ("[" * 100_000, "R109"),
        ('{"a":' * 200 + "1" + "}" * 200, "R109"),
    ],
)
def test_an_object_from_text_is_read_strictly(load: Load, arguments: Json, code: str) -> None:
    assert refusal(load("records"), call(arguments))[0] == code


def test_ignored_fields_are_checked_as_well(load: Load) -> None:
    records = load("records")
    assert canonical(records, {"messages": [{"role": "user", "parts": [], "metadata": {"a": [1]}}]}).messages
    assert refusal(records, {"messages": [{"role": "user", "parts": [], "metadata": 1}]})[0] == "R113"


def test_a_request_nests_as_deep_as_its_rules_say(load: Load) -> None:
    def nested(depth: int) -> Json:
        value: Json = 1
        for _ in range(depth):
            value = [value]
        return {"messages": [], "tools": [], "data": value}

    values_ = load("values")
    allowed = values_.request.depth - 1  # the request itself is one
    assert canonical(values_, nested(allowed)).messages == ()
    assert refusal(values_, nested(allowed + 1))[0] == "R109"
