"""Qwen3's generated renderer against both editions of the official Jinja template, on generated conversations.

The differences that `docs/differences.md` lists are taken out by rule: the official template is given an empty content
for a null one, and a function's name as JSON spells it.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given

import katapi
from katapi.runtime.json_types import Json
from tests.examples import examples
from tests.official import FIRST, SECOND, official_text
from tests.requests import Requests
from tests.specs import ROOT, program_of
from tests.vectors.test_chat_vectors import CASES, Rule, request_of, rule_of

Object = dict[str, Json]

QWEN = ROOT / "spec" / "models" / "qwen.kata"
REQUESTS = Requests(program_of(QWEN, "qwen3")).requests()


def objects(value: Json) -> list[Object]:
    """A list of objects, or nothing where a request has null or no list."""
    return [dict(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def accommodated(request: Object) -> Object:
    """The request for which the official template prints what Katapi prints for this one."""
    messages: list[Json] = []
    for message in objects(request["messages"]):
        if message["role"] == "assistant" and message.get("content") is None:
            message["content"] = ""
        calls: list[Json] = []
        for call in objects(message.get("tool_calls")):
            function = call["function"]
            assert isinstance(function, dict)
            calls.append(
                call | {"function": function | {"name": json.dumps(function["name"], ensure_ascii=False)[1:-1]}}
            )
        messages.append(message | {"tool_calls": calls} if calls else message)
    return {"add_generation_prompt": True, **request, "messages": messages}


def answered(content: str | None, **fields: Json) -> Object:
    """A question, this answer, and no more."""
    return {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": content, **fields}]}


@examples(test=400, fuzz=2_000)
@given(REQUESTS)
@example(answered("<think>\n\na\n\n</think>\n\nb"))
@example(answered("a</think>b</think>c"))
@example(answered("<think>a<think>b</think>c"))
@example(answered("</think>"))
@example(answered("<think>never closed"))
@example(answered("</think>\n", reasoning_content=""))
@example(answered("\n\nb\n", reasoning_content="\n\na\n"))
@example(answered(None, tool_calls=[{"function": {"name": "f", "arguments": '{ "a" : 1 }'}}]))
@example(answered("\n", tool_calls=[{"function": {"name": '"', "arguments": {"é": [1.0, -0.0, 1e-7, 1e22]}}}] * 2))
@example({"messages": [{"role": "user", "content": "<tool_response>a</tool_response>"}, {"role": "assistant"}]})
def test_it_prints_what_the_official_template_prints(request: Json) -> None:
    assert isinstance(request, dict)
    raw = json.dumps(request).encode()
    if not request["messages"]:
        with pytest.raises(katapi.TemplateError):
            katapi.load("qwen3").render(raw)
        return
    text = katapi.load("qwen3").render(raw).text
    equal = accommodated(request)
    assert text == official_text(equal, FIRST)
    assert text == official_text(equal, SECOND)


def test_the_later_edition_takes_null_content_for_an_empty_text_as_well() -> None:
    compared = 0
    for case in CASES:
        if rule_of(case) is not Rule.NULL_CONTENT:
            continue
        request = request_of(case)
        assert katapi.load("qwen3").render(json.dumps(request).encode()).text == official_text(request, SECOND)
        with pytest.raises(TypeError):
            official_text(request, FIRST)
        compared += 1
    assert compared > 20


def test_the_first_edition_prints_the_vectors() -> None:
    for case in CASES:
        if "text" in case:
            assert official_text(request_of(case)) == case["text"]
