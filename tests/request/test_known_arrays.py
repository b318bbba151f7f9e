"""Arrays of tools that were read before: what is read of them again is the same, and nobody's but the new request's."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.known_arrays import KNOWN_ARRAYS, KnownArrays
from katapi.runtime.read_objects import ReadObject
from katapi.runtime.strict_json import MAX_DEPTH, parse_json

LONG = "a description that is long enough to be worth remembering, " * 3
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=9,
)
TOOLS = st.lists(VALUES, max_size=3).map(lambda tools: [{"name": "f", "description": LONG}, *tools])


def read(text: str, max_depth: int = MAX_DEPTH) -> list[Json]:
    value = parse_json(text, max_depth=max_depth, listed="tools")
    assert isinstance(value, dict)
    tools = value["tools"]
    assert isinstance(tools, list)
    return tools


def outcome(text: str, max_depth: int = MAX_DEPTH) -> object:
    """The tools with their texts, or the fault."""
    try:
        tools = read(text, max_depth)
    except RequestError as error:
        return error.code, error.where, error.message
    return repr(tools), [tool.source if isinstance(tool, ReadObject) else None for tool in tools]


def fresh(text: str, max_depth: int = MAX_DEPTH) -> object:
    """The same, with nothing remembered before."""
    KNOWN_ARRAYS.clear()
    return outcome(text, max_depth)


@given(tools=TOOLS, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans(), behind=st.booleans())
def test_what_is_read_again_is_the_same(tools: list[Json], indent: int | None, ascii_only: bool, behind: bool) -> None:
    request = {"tools": tools, "messages": []} if behind else {"messages": [], "tools": tools}
    text = json.dumps(request, indent=indent, ensure_ascii=ascii_only)
    first = fresh(text)
    assert KNOWN_ARRAYS.find(text, text.index("[", text.index('"tools"'))) is not None
    assert outcome(text) == first
    assert repr([*map(plain, read(text))]) == repr(tools)


def plain(tool: Json) -> Json:
    return {**tool} if isinstance(tool, ReadObject) else tool


TEXT = json.dumps({"messages": [], "tools": [{"name": "f", "description": LONG, "parameters": {"x": [1, 2.5, None]}}]})


@pytest.mark.parametrize("at", range(TEXT.index('[{"name"'), len(TEXT)))
def test_a_changed_character_is_seen(at: int) -> None:
    for put in ("", "]", '"', "7", "\\", " "):
        for end in (at, at + 1):
            changed = TEXT[:at] + put + TEXT[end:]
            expected = fresh(changed)
            fresh(TEXT)
            assert outcome(changed) == expected, changed


def test_what_comes_behind_an_array_is_read() -> None:
    fresh(TEXT)
    assert outcome(TEXT[:-1] + ',"tools":[]}') == ("R104", "tools", 'the key "tools" stands twice in one object')
    assert isinstance(outcome(TEXT + "x"), tuple)
    assert outcome(TEXT[:-1] + ',"a":"\\ud800"}') == fresh(TEXT[:-1] + ',"a":"\\ud800"}')


def test_no_request_has_a_part_in_the_tools_of_another() -> None:
    fresh(TEXT)
    before = repr(read(TEXT))
    tools = read(TEXT)
    assert isinstance(tools[0], dict)
    parameters = tools[0]["parameters"]
    assert isinstance(parameters, dict)
    parameters["x"] = "other"
    tools[0]["name"] = "g"
    tools.clear()
    assert repr(read(TEXT)) == before


def test_a_lower_limit_of_depth_holds_for_a_known_array() -> None:
    for max_depth in range(1, 7):
        expected = fresh(TEXT, max_depth)
        fresh(TEXT)
        assert outcome(TEXT, max_depth) == expected
    assert fresh(TEXT, 4) == outcome(TEXT, 4)
    assert isinstance(fresh(TEXT, 5), tuple)


def test_the_memory_is_bounded() -> None:
    arrays = KnownArrays(most_characters=16_000)
    for number in range(1000):
        arrays.add(f'["{LONG}", {number}]', 1, [LONG, number])
        assert arrays.characters <= 16_000
    assert arrays.find(f'["{LONG}", 999]', 0) is not None
    assert arrays.find(f'["{LONG}", 0]', 0) is None
    long = f'["{LONG * 100}"]'
    arrays.add(long, 1, [LONG * 100])
    assert arrays.find(long, 0) is None
