"""Contents that come as a text or as parts: what is taken, what is refused, and where each stretch came from."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from katapi.oracle.request import canonical
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.parts import FromParts, MergedText
from katapi.runtime.segments import ContentSegment, Path
from tests.specs import PASS, model_of, program_of

PATH = PASS / "parts.kata"


def text(value: Json) -> Json:
    return {"type": "text", "text": value}


def merged(*texts: str, separator: str = "\n") -> MergedText:
    made = FromParts(separator).merged([text(t) for t in texts])
    assert isinstance(made, MergedText)
    return made


def contents(*messages: Json) -> list[tuple[str, Path, int | None]]:
    """All that is printed of the contents of messages."""
    rendered = model_of(PATH).render(json.dumps({"messages": list(messages)}).encode())
    return [(s.text, s.path, s.start) for s in rendered.payload if isinstance(s, ContentSegment)]


def test_a_merged_text_is_printed_part_by_part() -> None:
    message: Json = {"role": "assistant", "content": [text("ab"), text(""), text("c")]}
    path = ("messages", 0, "content")
    assert contents(message) == [("ab", (*path, 0, "text"), 0), ("c", (*path, 2, "text"), 0)]
    message = {"role": "system", "content": [text("ab"), text("c")]}
    assert contents({"role": "user", "content": "a"}, message)[1:] == [
        ("ab", ("messages", 1, "content", 0, "text"), 0),
        ("\n", ("messages", 1, "content"), None),
        ("c", ("messages", 1, "content", 1, "text"), 0),
    ]


def test_a_cut_of_a_merged_text_knows_the_parts_it_left() -> None:
    said: Json = {"role": "system", "content": [text(" \t"), text("\n xay"), text("zb")]}
    path = ("messages", 0, "content")
    # sys.content.trim().before("b")
    assert contents(said)[:3] == [("xay", (*path, 1, "text"), 2), ("\n", path, None), ("z", (*path, 2, "text"), 0)]


def test_a_text_of_no_parts_is_empty_and_the_contents_own() -> None:
    assert contents({"role": "assistant", "content": []}) == [("", ("messages", 0, "content"), None)]
    assert contents({"role": "assistant", "content": None}) == []


def test_an_origin_names_the_part() -> None:
    request = {"messages": [{"role": "assistant", "content": [text("a"), text("b")]}], "add_generation_prompt": False}
    result = model_of(PATH).assemble(json.dumps(request).encode())
    paths = [path for origin in result.origins for path in origin.paths]
    assert paths == [("messages", 0, "content", 0, "text"), ("messages", 0, "content", 1, "text")]
    assert {(origin.message, origin.field) for origin in result.origins if origin.paths} == {(0, "content")}


def test_the_record_keeps_a_content_as_it_came() -> None:
    request: Json = {
        "messages": [
            {"role": "assistant", "content": [text("a"), text("")], "reasoning": [{"summary": [text("s")]}]},
            {"role": "user", "content": [text("a"), {"type": "image", "image_url": {"url": "u"}}]},
            {"role": "user", "content": "b"},
        ]
    }
    assert model_of(PATH).assemble(json.dumps(request).encode()).record.request == request


def test_a_merged_text_is_a_text() -> None:
    whole = merged("ab", "", "cd")
    assert whole == "ab\n\ncd"
    assert hash(whole) == hash("ab\n\ncd")
    assert whole[1:2] == "b"
    assert whole[-1] == "d"
    assert whole[::-1] == "dc\n\nba"
    assert [piece.text for piece in whole.pieces] == ["ab", "\n", "\n", "cd"]
    cut = whole[1:6]
    assert isinstance(cut, MergedText)
    assert [(p.text, p.steps, p.start) for p in cut.pieces] == [
        ("b", (0, "text"), 1),
        ("\n", (), None),
        ("\n", (), None),
        ("cd", (2, "text"), 0),
    ]
    for other in (copy.copy(whole), copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        assert (other, other.pieces, other.parts) == (whole, whole.pieces, whole.parts)


SYSTEM = "messages[0].content"
USER = "messages[1].content"


@pytest.mark.parametrize(
    ("message", "code", "where"),
    [
        ({"role": "system", "content": None}, "R113", SYSTEM),
        ({"role": "system", "content": {"type": "text", "text": "a"}}, "R113", SYSTEM),
        ({"role": "system", "content": ["a"]}, "R113", f"{SYSTEM}[0]"),
        ({"role": "system", "content": [text("a"), {"type": "image", "image": "u"}]}, "R110", f"{SYSTEM}[1].type"),
        ({"role": "system", "content": [{"text": "a"}]}, "R112", f"{SYSTEM}[0].type"),
        ({"role": "system", "content": [{"type": "text"}]}, "R112", f"{SYSTEM}[0].text"),
        ({"role": "system", "content": [{"type": 1, "text": "a"}]}, "R113", f"{SYSTEM}[0].type"),
        ({"role": "system", "content": [text(1)]}, "R113", f"{SYSTEM}[0].text"),
        ({"role": "system", "content": [{"type": "text", "text": "a", "mark": 1}]}, "R111", f"{SYSTEM}[0].mark"),
        ({"role": "user", "content": 1}, "R113", SYSTEM),
        ({"role": "user", "content": {}}, "R113", SYSTEM),
        ({"role": "user", "content": [text("a"), {"type": "audio"}]}, "R110", f"{SYSTEM}[1].type"),
        ({"role": "user", "content": [text("a"), {"text": "b"}]}, "R112", f"{SYSTEM}[1].type"),
        ({"role": "user", "content": [{"type": "text", "txt": "a"}]}, "R111", f"{SYSTEM}[0].txt"),
        ({"role": "user", "content": [{"type": "video", "frames": ["a"]}]}, "R113", f"{SYSTEM}[0].frames[0]"),
    ],
)
def test_faults_name_the_part(message: Json, code: str, where: str) -> None:
    value = {"messages": [message]}
    with pytest.raises(RequestError) as refused:
        model_of(PATH).decode_request(json.dumps(value).encode())
    assert (refused.value.code, refused.value.where) == (code, where)
    with pytest.raises(RequestError) as by_oracle:
        canonical(program_of(PATH), value)
    assert by_oracle.value.code == code


def test_a_caller_may_give_parts_or_a_merged_text() -> None:
    request = model_of(PATH).request_type.model_validate(
        {"messages": [{"role": "system", "content": merged("a", "b")}]}
    )
    again = model_of(PATH).request_type.model_validate(
        {"messages": [{"role": "system", "content": [text("a"), text("b")]}]}
    )
    assert request == again
    assert model_of(PATH).render(request).payload == model_of(PATH).render(again).payload
