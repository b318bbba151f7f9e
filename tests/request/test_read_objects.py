"""Objects that keep the text they were read from: the same values, the same errors, and the right text for each."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.read_objects import ReadObject
from katapi.runtime.strict_json import MAX_DEPTH, parse_json
from katapi_models import qwen3

TEXTS = st.sampled_from(["", "tools", "a", '"', "\\", "\u2028", "[{", "]}", "天空"])
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
REQUESTS = st.dictionaries(TEXTS, VALUES, max_size=4) | st.fixed_dictionaries(
    {"messages": VALUES, "tools": st.lists(VALUES, max_size=4)}
)


@given(value=REQUESTS, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_values_are_the_same_and_each_object_knows_its_text(
    value: dict[str, Json], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    read = parse_json(text, max_depth=MAX_DEPTH, listed="tools")
    assert json.dumps(read) == json.dumps(value)
    assert isinstance(read, dict)
    tools = read.get("tools")
    if isinstance(tools, list) and all("\\" not in json.dumps(key, ensure_ascii=ascii_only) for key in value):
        for tool in tools:
            if isinstance(tool, dict):
                assert isinstance(tool, ReadObject)
                assert tool.source in text
                assert json.dumps(json.loads(tool.source)) == json.dumps(tool)


FRAGMENTS = [*"{}[]:, \n1-\x00é", '"tools"', '"a"', "1.", "NaN", "true", '"\\u']


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join) | st.text(max_size=6), st.integers(1, 4))
def test_any_text_gives_the_same_value_or_the_same_error(middle: str, max_depth: int) -> None:
    for text in (middle, f'{{"tools":[{middle}]}}', f'{{"a":{middle},"tools":[{{}}]}}', f'{{"tools":[{{}}]{middle}'):
        assert outcome(text, max_depth, "tools") == outcome(text, max_depth, None)


def outcome(text: str, max_depth: int, listed: str | None) -> tuple[object, ...]:
    try:
        return "value", json.dumps(parse_json(text, max_depth=max_depth, listed=listed))
    except RequestError as error:
        return error.code, error.where


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ('{"tools":[],"tools":[]}', "R104", "tools"),
        ('{"tools":[{"a":1,"a":2}]}', "R104", "tools[0].a"),
        ('{"tools":[{"a":1},]}', "R103", "1:18"),
        ('{"tools":[{"a":1}}', "R103", "1:18"),
        ('{"tools":[{"a":1}]] ', "R103", "1:19"),
        ('{"tools":[{"a":1}]} x', "R103", "1:21"),
    ],
)
def test_faults_around_the_list_are_found(text: str, code: str, where: str) -> None:
    assert outcome(text, 9, "tools") == (code, where)


def test_two_spellings_of_one_tool_are_printed_alike() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "天空", "parameters": {"x": 1.0, "y": [True]}}}
    message = {"role": "user", "content": "hi"}
    raws = [
        json.dumps({"messages": [message], "tools": [tool, tool]}, indent=indent, ensure_ascii=ascii_only).encode()
        for indent in (None, 1)
        for ascii_only in (False, True)
    ]
    texts = {qwen3.MODEL.render(raw).text for raw in raws for _ in range(2)}
    assert len(texts) == 1
    given_tools = qwen3.MODEL.decode_request(raws[1]).tools
    assert given_tools is not None
    assert all(isinstance(t, ReadObject) for t in given_tools)
    as_python = qwen3.MODEL.request_type.model_validate({"messages": [message], "tools": [tool, tool]})
    assert texts == {qwen3.MODEL.render(as_python).text}
