"""Cutting tokens off on the left: never more than needed, and nothing broken but what the policy names.

What a cut breaks is found out a second time here, for Qwen3 from the ids alone, for other models from the origins and
the texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.budget.cut import CutInput
from katapi.runtime.budget.decision import Cut
from katapi.runtime.budget.policy import Budget, CutLeft, Structure
from katapi.runtime.errors import BudgetError, ExtensionError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ContentSegment
from katapi_models.qwen.vocabulary import Control
from tests.specs import model_named

QWEN = model_named("qwen3")
MESSAGES, CALLS, INSTRUCTIONS = Structure.MESSAGES, Structure.CALLS, Structure.INSTRUCTIONS
CHARACTERS = Structure.CHARACTERS


def cut(model: Model[RequestModel], raw: bytes, room: int, *breaks: Structure) -> ModelInput:
    """The input under a policy of so much room that cuts and may break these."""
    policy = Budget("tail@1", room + 1, 1, overflow=CutLeft(frozenset(breaks)))
    return replace(model, budgets={"tail": policy}).assemble(raw, "tail")


def cut_of(model_input: ModelInput) -> Cut:
    """What was cut off."""
    decision = model_input.record.decision
    assert decision is not None
    assert decision.cut is not None
    return decision.cut


def call(number: int, **arguments: Json) -> JsonObject:
    return {"id": f"call{number:05}", "type": "function", "function": {"name": "look", "arguments": {**arguments}}}


def request(*messages: JsonObject, **others: Json) -> bytes:
    return json.dumps({"messages": list(messages), **others}).encode()


def said(role: str, content: str, **others: Json) -> JsonObject:
    return {"role": role, "content": content, **others}


TALK = [
    said("system", "Be brief."),
    said("user", "Where is the 天空? 😀"),
    said("assistant", "I look.", tool_calls=[call(1, at=1)]),
    said("tool", "above 🌤", tool_call_id="call00001"),
    said("assistant", "Above."),
    said("user", "Thanks 😀😀, très bien."),
]


# ---- Qwen3, by its ids


def broken_by_ids(ids: Sequence[int], first: int, contents: Sequence[str]) -> set[Structure]:
    """What a cut of an input of Qwen3 breaks: headers, calls and results are told by their control tokens."""
    heads = [at for at, token in enumerate(ids) if token == Control.IM_START.id]
    bounds = [*zip(heads, [*heads[1:], len(ids)], strict=True)]
    roles = [QWEN.decode_text(ids[at + 1 : at + 2]) for at in heads]
    out = set() if first in heads else {MESSAGES}
    if roles[0] == "system" and first > 0:
        out.add(INSTRUCTIONS)
    for (start, end), (_, after), content in zip(bounds, bounds[1:], contents, strict=False):
        called = [at for at in range(start, end) if ids[at] == Control.TOOL_CALL.id]
        if called and Control.TOOL_RESPONSE.id in ids[end:after] and called[0] - bool(content) < first < after:
            out.add(CALLS)
    if QWEN.decode(ids[first : first + 1])[0] & 0xC0 == 0x80:
        out.add(CHARACTERS)
    return out


TEXTS = st.sampled_from(
    ["", "a", "Hi there.", "天空为什么是蓝色？", "😀😀🌤", "a\n\nb ", "<|im_start|>user", "</tool_call>"]
)


@st.composite
def conversations(draw: st.DrawFn) -> list[JsonObject]:
    """A conversation with calls and their results, which a user ends."""
    out = [said("system", draw(TEXTS))] if draw(st.booleans()) else []
    for number in range(draw(st.integers(0, 4))):
        out.append(said("user", draw(TEXTS)))
        if draw(st.booleans()):
            count = draw(st.integers(1, 2))
            out.append(said("assistant", draw(TEXTS), tool_calls=[call(number, a=draw(TEXTS)) for _ in range(count)]))
            out += [said("tool", draw(TEXTS), tool_call_id=f"call{number:05}") for _ in range(count)]
        out.append(said("assistant", draw(TEXTS)))
    return [*out, said("user", draw(TEXTS.filter(bool)))]


@given(conversations(), st.sets(st.sampled_from([*Structure])), st.data())
def test_a_cut_of_qwen3_is_the_first_that_breaks_no_more_than_it_may(
    talk: list[JsonObject], breaks: set[Structure], data: st.DataObject
) -> None:
    raw = request(*talk)
    whole = QWEN.assemble(raw)
    ids = whole.input_ids.tolist()
    room = data.draw(st.integers(1, len(ids) - 1))
    units = [str(message["content"]) for at, message in enumerate(talk) if not _goes_on(talk, at)]
    user = len(talk) - 1
    last = max(at for at, origin in enumerate(whole.origins) if origin.message == user)
    possible = [at for at in range(len(ids) - room, last + 1) if broken_by_ids(ids, at, units) <= breaks]
    if not possible:
        with pytest.raises(BudgetError) as caught:
            cut(QWEN, raw, room, *breaks)
        assert caught.value.code == "B102"
        return
    found = cut(QWEN, raw, room, *breaks)
    assert len(ids) - len(found) == cut_of(found).tokens == possible[0]
    assert set(cut_of(found).breaks) == broken_by_ids(ids, possible[0], units)
    agrees(found, whole, QWEN)


def _goes_on(talk: Sequence[JsonObject], at: int) -> bool:
    """Whether a message stands in the same piece as the one before: a result behind a result."""
    return at > 0 and talk[at]["role"] == talk[at - 1]["role"] == "tool"


# ---- any model, by origins and texts


def agrees(found: ModelInput, whole: ModelInput, model: Model[RequestModel]) -> None:
    """A cut input is the end of the whole one in everything that it says."""
    first = len(whole) - len(found)
    assert found.input_ids.tolist() == whole.input_ids[first:].tolist()
    assert found.position_ids.tolist() == [*range(len(found))]
    assert found.attention_mask.tolist() == [1] * len(found)
    assert found.sampled.tolist() == whole.sampled[first:].tolist()
    assert found.loss_mask("last").tolist() == whole.loss_mask("last")[first:].tolist()
    own, before = ([(o.kind, o.paths, o.sites) for o in one.origins] for one in (found, whole))
    assert own[1:] == before[first + 1 :]
    assert found.record.input_ids == tuple(found.input_ids.tolist())
    assert "".join(segment.text for segment in found.record.segments) == found.text
    assert found.text.startswith(cut_of(found).begins)
    if CHARACTERS not in cut_of(found).breaks:
        assert whole.text.endswith(found.text)
        assert model.decode_text(found.input_ids.tolist()).lstrip() == found.text.lstrip()
    for segment in found.rendered.payload:
        if isinstance(segment, ContentSegment) and segment.start is not None and segment.text:
            at = content_at(found, segment)
            assert at[segment.start : segment.start + len(segment.text)] == segment.text


def content_at(found: ModelInput, segment: ContentSegment) -> str:
    """The text of the request that a segment is a stretch of."""
    value: object = found.request.model_dump()
    for step in segment.path:
        value = value[step] if isinstance(value, list | tuple) and isinstance(step, int) else _key(value, step)
    assert isinstance(value, str)
    return value


def _key(value: object, step: str | int) -> object:
    assert isinstance(value, dict)
    return value[step]


def breaks_nothing_else(found: ModelInput, whole: ModelInput, breaks: Sequence[Structure]) -> None:
    """What is left of each message is all of it or nothing, of instructions all, of results never without calls."""
    roles = [message["role"] for message in whole.record.to_json()["request"]["messages"]]  # type: ignore[index,call-overload,union-attr]  # plain JSON of a known shape
    here, there = counts(found), counts(whole)
    assert here.get((len(roles) - 1, "content"))
    for index, role in enumerate(roles):
        own = {key: count for key, count in there.items() if key[0] == index}
        left = {key: count for key, count in here.items() if key[0] == index}
        if MESSAGES not in breaks:
            assert left in ({}, own), index
        if INSTRUCTIONS not in breaks and role == "system":
            assert left == own
        if CALLS not in breaks and role == "tool" and left:
            asked = max(at for at in range(index) if roles[at] == "assistant")
            assert here.get((asked, "tool_calls")) == there.get((asked, "tool_calls"))
    if CHARACTERS not in breaks:
        assert "\ufffd" not in found.text


def counts(model_input: ModelInput) -> dict[tuple[int, str], int]:
    """How many tokens come from each field of each message; the role of a message is no content of it."""
    out: dict[tuple[int, str], int] = {}
    for origin in model_input.origins:
        for _, index, *name in {path[:3] for path in origin.paths if path[0] == "messages"}:
            if name and name[0] != "role":
                key = (int(index), str(name[0]))
                out[key] = out.get(key, 0) + 1
    return out


NAMES = (
    "qwen2.5",
    "qwen3",
    "qwen3-coder",
    "deepseek-v3.1",
    "glm-4.5",
    "gpt-oss",
    "mistral-nemo-tekken",
    "kimi-k2",
    "smollm3",
)


def subsets() -> Iterator[tuple[Structure, ...]]:
    for size in range(4):
        yield from combinations((MESSAGES, CALLS, INSTRUCTIONS), size)


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_breaks_only_what_it_may(name: str) -> None:
    model = model_named(name)
    params: JsonObject = {"now": "2025-03-09T14:05:07"} if name in ("gpt-oss", "smollm3") else {}
    raw = request(*(message for message in TALK if message["role"] != "system" or "mistral" not in name), **params)
    whole = model.assemble(raw)
    cuts = 0
    for breaks in subsets():
        before = 0
        for room in range(1, len(whole), 3):
            try:
                found = cut(model, raw, room, *breaks)
            except BudgetError:
                assert before == 0, "with more room there is no less that fits"
                continue
            assert isinstance(found, CutInput)
            assert before <= len(found) <= room
            before = len(found)
            assert set(cut_of(found).breaks) <= set(breaks)
            breaks_nothing_else(found, whole, breaks)
            agrees(found, whole, model)
            cuts += 1
    assert cuts > 50


# ---- by eye


def test_what_fits_is_not_cut() -> None:
    raw = request(*TALK)
    found = cut(QWEN, raw, len(QWEN.assemble(raw)))
    assert not isinstance(found, CutInput)
    decision = found.record.decision
    assert decision is not None
    assert decision.cut is None


def test_whole_messages() -> None:
    raw = request(*TALK)
    found = cut(QWEN, raw, 60, INSTRUCTIONS)
    assert found.text == (
        "<|im_start|>assistant\nAbove.<|im_end|>\n<|im_start|>user\nThanks 😀😀, très bien.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert cut_of(found) == Cut(
        len(QWEN.assemble(raw)) - len(found), (INSTRUCTIONS,), 4, "<|im_start|>assistant\nAbove.<|im_end|>\n<"
    )
    policy = found.record.to_json()["policy"]
    assert isinstance(policy, dict)
    assert policy["input"] == len(found)
    assert policy["cut"] == {
        "tokens": cut_of(found).tokens,
        "breaks": ["instructions"],
        "message": 4,
        "begins": "<|im_start|>assistant\nAbove.<|im_end|>\n<",
    }


def test_a_result_belongs_to_its_call_whatever_stands_between() -> None:
    talk = [
        said("user", "Where is it?"),
        said("assistant", "I look.", tool_calls=[call(1, at=1)]),
        said("user", "Hurry, please, I have to be there at nine!"),
        said("tool", "above", tool_call_id="call00001"),
        said("user", "Thanks."),
    ]
    raw = request(*talk)
    for room in range(14, len(QWEN.assemble(raw))):
        found = cut(QWEN, raw, room, MESSAGES, INSTRUCTIONS)
        assert ("<tool_call>" in found.text) == ("<tool_response>" in found.text)
    assert "Hurry" in cut(QWEN, raw, 35, MESSAGES, INSTRUCTIONS, CALLS).text


def test_within_a_character() -> None:
    raw = request(said("user", "x" * 20 + "\U00013080" * 3))  # of several tokens each
    seen = {cut(QWEN, raw, room, MESSAGES, CHARACTERS).text for room in range(7, 14)}
    broken = [text for text in seen if text.startswith("\ufffd")]
    assert broken
    for text in broken:
        assert text.lstrip("\ufffd").startswith(("\U00013080", "<|im_end|>"))
    whole = [cut(QWEN, raw, room, MESSAGES).text for room in range(7, 14)]
    assert not [text for text in whole if "\ufffd" in text]


def test_the_help_names_what_would_have_to_be_broken() -> None:
    with pytest.raises(BudgetError) as caught:
        cut(QWEN, request(*TALK), 10, CALLS)
    assert caught.value.code == "B102"
    assert caught.value.where == "policy tail@1"
    assert "add `breaks messages, breaks instructions` to the policy" in caught.value.help
    with pytest.raises(BudgetError) as caught:
        cut(QWEN, request(*TALK), 4, *Structure)
    assert "what the user said last" in caught.value.message
    assert caught.value.help.startswith("shorten the conversation by ")


def test_tools_are_instructions_wherever_they_stand() -> None:
    tool: JsonObject = {"type": "function", "function": {"name": "look", "description": "x", "parameters": {}}}
    talk = [said("user", "one " * 50), said("assistant", "two"), said("user", "three")]
    raw = request(*talk, tools=[tool])
    nemo = model_named("mistral-nemo-tekken")
    whole = nemo.assemble(raw)
    assert whole.text.index("[AVAILABLE_TOOLS]") > whole.text.index("two")  # before the last message of the user
    room = max(room for room in range(10, len(whole)) if "two" not in cut(nemo, raw, room, *Structure).text)
    assert cut(nemo, raw, room, MESSAGES, INSTRUCTIONS).text.startswith("</s>[AVAILABLE_TOOLS]")
    assert INSTRUCTIONS in cut_of(cut(nemo, raw, room - 2, MESSAGES, INSTRUCTIONS)).breaks


def test_an_input_that_was_cut_is_extended_as_a_whole() -> None:
    found = cut(QWEN, request(*TALK), 60, INSTRUCTIONS)
    assert isinstance(found, CutInput)
    reply = [*QWEN.encode("Fine."), Control.IM_END.id]
    with pytest.raises(ExtensionError) as caught:
        QWEN.extend(found, reply, [said("user", "b")])
    assert caught.value.code == "X108"
    following = QWEN.extend(found.whole, reply, [said("user", "b")])
    assert following.input_ids.tolist()[: len(found.whole)] == found.whole.input_ids.tolist()
    assert QWEN.parse(reply, found).content == "Fine."


def test_the_standard_tail_policy() -> None:
    raw = request(said("system", "Be brief."), said("user", "word " * 5000))
    found = QWEN.assemble(raw, "tail4k")
    assert len(found) == 4096 - 512
    assert cut_of(found).breaks == (MESSAGES, INSTRUCTIONS)
    assert np.array_equal(found.input_ids, QWEN.assemble(raw).input_ids[-3584:])


@pytest.mark.parametrize(
    "name", [*NAMES, "qwen3.5", "hermes-3-llama-3.1", "minimax-m2", "phi-4", "olmo2-dolma2", "glm-4"]
)
def test_every_message_is_a_place_to_begin(name: str) -> None:
    model = model_named(name)
    params: JsonObject = {"now": "2025-03-09T14:05:07"} if name in ("gpt-oss", "smollm3") else {}
    raw = request(*(said(("user", "assistant")[at % 2], f"{at}, says x y z.") for at in range(7)), **params)
    whole = model.assemble(raw)
    found: list[CutInput] = []
    for room in range(len(whole) - 1, 0, -1):
        try:
            one = cut(model, raw, room, INSTRUCTIONS)
        except BudgetError:
            break
        assert isinstance(one, CutInput)
        found.append(one)
    begins = {one.first: cut_of(one).message for one in found}
    preamble = [0] if 0 in begins.values() else []  # where something stands before the first message
    assert [*begins.values()] == [*preamble, 1, 2, 3, 4, 5, 6]
    for one in found:
        assert f"{cut_of(one).message}, says" in one.text.split("says")[0] + "says"


def test_what_is_left_knows_where_it_came_from_behind_a_text_that_is_empty() -> None:
    model = model_named("command-r-plus")
    asking = request(said("system", "Be brief."), said("user", ""), said("assistant", ""), said("user", "hi"))
    whole = model.assemble(asking)
    agrees(cut(model, asking, len(whole) - 1, *Structure), whole, model)


def test_a_run_without_any_text_behind_the_cut_has_no_tokens() -> None:
    model = model_named("deepseek-r1")
    raw = request(said("user", "one two three"), said("assistant", ""), said("user", "four"))
    whole = model.assemble(raw)
    for room in range(6, len(whole)):
        left = cut(model, raw, room, *Structure)
        cut_off = cut_of(left).tokens
        first = whole.origins.ranges[cut_off, 0]
        assert np.array_equal(left.origins.ranges, whole.origins.ranges[cut_off:] - first)
