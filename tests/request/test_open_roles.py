"""An open set of roles: any role that is not declared is one text of the request, and no way to a control token."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from katapi.oracle.request import canonical
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ContentSegment, ControlSegment
from tests.specs import PASS, model_of, program_of

PATH = PASS / "others.kata"
SPELLING = "<end>"


def said(role: Json) -> Json:
    return {"messages": [{"role": "user", "content": "a"}, {"role": role, "content": "b"}]}


@pytest.mark.parametrize("role", ["developer", "stranger", "", " ", "<start>", "users", "User"])
def test_a_role_that_is_not_declared_is_text_of_the_request(role: str) -> None:
    rendered = model_of(PATH).render(json.dumps(said(role)).encode())
    path = ("messages", 1, "role")
    assert [s.text for s in rendered.payload if isinstance(s, ContentSegment) and s.path == path] == [role.strip()]


def test_a_role_that_spells_a_control_token_gives_none() -> None:
    result = model_of(PATH).assemble(json.dumps(said(SPELLING)).encode())
    placed = [s.token.id for s in result.rendered.payload if isinstance(s, ControlSegment)]
    assert [i for i in result.input_ids.tolist() if i < 3] == placed
    assert result.text.count(SPELLING) == placed.count(2) + 1


@pytest.mark.parametrize(
    ("message", "code", "where"),
    [
        ({"content": "b"}, "R112", "messages[1].role"),
        ({"role": 1, "content": "b"}, "R113", "messages[1].role"),
        ({"role": None, "content": "b"}, "R113", "messages[1].role"),
        ("critic", "R113", "messages[1]"),
        ({"role": "critic"}, "R112", "messages[1].content"),
        ({"role": "critic", "content": "b", "critic": "c"}, "R111", "messages[1].critic"),
        ({"role": "user", "content": "b", "name": "c"}, "R111", "messages[1].name"),
    ],
)
def test_faults(message: Json, code: str, where: str) -> None:
    value = {"messages": [{"role": "user", "content": "a"}, message]}
    with pytest.raises(RequestError) as refused:
        model_of(PATH).decode_request(json.dumps(value).encode())
    assert (refused.value.code, refused.value.where) == (code, where)
    with pytest.raises(RequestError) as by_oracle:
        canonical(program_of(PATH), value)
    assert by_oracle.value.code == code


def test_the_help_says_that_any_role_is_taken() -> None:
    with pytest.raises(RequestError) as refused:
        model_of(PATH).decode_request(json.dumps({"messages": [{}]}).encode())
    assert refused.value.help == "the roles are system, user, assistant, any other text"


def test_a_caller_gives_each_declared_role_its_own_class() -> None:
    other = type(model_of(PATH).decode_request(json.dumps(said("critic")).encode()).messages[1])  # type: ignore[attr-defined]  # each model has its own messages
    assert other(role="critic", content="b").role == "critic"
    with pytest.raises(ValidationError, match="have a class of their own"):
        other(role="user", content="b")


def test_the_shape_of_a_request_can_be_shown() -> None:
    schema = TypeAdapter(model_of(PATH).request_type).json_schema()
    assert "StrangerMessage" in schema["$defs"]
