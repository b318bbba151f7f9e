"""A field with several spellings: each is the same field, two of them are an error, as the oracle has it."""

from __future__ import annotations

import json

import pytest

from katapi.oracle.request import canonical
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from tests.specs import PASS, model_of, program_of

PATH = PASS / "records.kata"
SPELLINGS = ("reasoning", "thinking", "reasoning_content")


def request(*spellings: str) -> Json:
    thought = {spelling: {"summary": "so", "steps": ["a"]} for spelling in spellings}
    return {"messages": [{"role": "assistant", "refusal": None, **thought}]}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_is_the_same_field(spelling: str) -> None:
    result = model_of(PATH).assemble(json.dumps(request(spelling)).encode())
    assert result.rendered == model_of(PATH).assemble(json.dumps(request("reasoning")).encode()).rendered
    assert result.record.request == request("reasoning")


@pytest.mark.parametrize("spellings", [SPELLINGS[:2], SPELLINGS[1:], SPELLINGS[2::-2]])
def test_two_spellings_are_an_error(spellings: tuple[str, ...]) -> None:
    value = request(*spellings)
    with pytest.raises(RequestError) as refused:
        model_of(PATH).assemble(json.dumps(value).encode())
    later = max(spellings, key=SPELLINGS.index)
    assert (refused.value.code, refused.value.where) == ("R111", f"messages[0].{later}")
    with pytest.raises(RequestError) as by_oracle:
        canonical(program_of(PATH), value)
    assert (by_oracle.value.code, by_oracle.value.where) == ("R111", f"messages/0/{later}")


def test_a_fault_within_is_told_where_it_stands() -> None:
    value = {"messages": [{"role": "assistant", "refusal": None, "thinking": {"steps": "a"}}]}
    with pytest.raises(RequestError) as refused:
        model_of(PATH).assemble(json.dumps(value).encode())
    assert (refused.value.code, refused.value.where) == ("R113", "messages[0].thinking.steps")


VALUES = PASS / "values.kata"


def values(**keys: Json) -> bytes:
    return json.dumps({"messages": [], "tools": [], **keys}).encode()


@pytest.mark.parametrize("spelling", ["thinking", "enable_thinking", "think"])
def test_a_parameter_may_have_several_spellings(spelling: str) -> None:
    model = model_of(VALUES)
    by_name = model.render(values(thinking=False))
    assert model.render(values(**{spelling: False})) == by_name
    assert by_name != model.render(values())
    with pytest.raises(RequestError) as refused:
        model.decode_request(values(thinking=True, **{"think" if spelling == "thinking" else spelling: False}))
    assert refused.value.code == "R111"


def test_a_key_of_the_caller_stands_in_place_of_each_spelling() -> None:
    model = model_of(VALUES)
    raw = values(enable_thinking=True)
    assert model.decode_request(raw, {"think": False}) == model.decode_request(values(thinking=False))
