"""What the page is given says what the record says: ids, bytes, origins, messages, stages, budget, images."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import katapi
from katapi.inspecting.budgets import ranges
from katapi.inspecting.from_input import view_of
from katapi.inspecting.kinds import LOOKS
from katapi.inspecting.view import View
from katapi.runtime.budget.policy import Allotment, Budget, CutLeft, Grouping, Misfit, Order, Section, Structure
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ContentSegment
from tests.inspecting.inputs import HOSTILE, TALK, long_talk, looked_at

MODELS = ("qwen3", "llama2", "gemma3", "deepseek-v3.1", "mistral-v3")


@pytest.mark.parametrize("name", MODELS)
def test_tokens_are_those_of_the_input(name: str) -> None:
    request: dict[str, Json] = {"messages": [{"role": "user", "content": f"天空 é 🧑‍🚀 {HOSTILE}"}]}
    view, result = looked_at(name, request)
    tokens, places = view.execution.tokens, view.execution.places
    ids = result.input_ids.tolist()
    assert [token.id for token in tokens] == ids
    assert b"".join(token.bytes or b"" for token in tokens) == katapi.load(name).decode(ids)
    assert [token.sampled for token in tokens] == result.sampled.tolist()
    for token, origin in zip(tokens, result.origins, strict=True):
        place = places[token.place]
        assert (place.kind, place.message, place.field) == (origin.kind, origin.message, origin.field)
        start, end = place.parts
        assert [part.text for part in view.execution.parts[start:end] if part.text] == [s.text for s in origin.segments]
    assert len({(place.parts, place.kind) for place in places}) == len(places)


def test_lines_of_the_template_and_places_in_the_request() -> None:
    view, result = looked_at("qwen3", TALK)
    run = view.execution
    controls = [run.places[token.place] for token in run.tokens if run.places[token.place].kind == "control"]
    sites = [site for origin in result.origins if origin.kind == "control" for site in origin.sites]
    assert [place.lines for place in controls] == [(f"spec/models/qwen.kata:{s.line}:{s.column}",) for s in sites]
    contents = {path for place in run.places for path in place.paths}
    assert contents == {f"messages[{index}].content" for index in range(4)}
    paths = [segment.path for segment in result.rendered.payload if isinstance(segment, ContentSegment)]
    assert [part.place for part in run.parts if part.kind == "content"] == [
        f"messages[{path[1]}].content" for path in paths
    ]
    assert "".join(part.text for part in run.parts) == result.text


def test_stages_and_their_digests() -> None:
    view, result = looked_at("qwen3", TALK)
    record = result.record
    stages = {stage.name: stage for stage in view.execution.stages}
    assert [*stages] == ["bytes", "request", "template", "rendered", "tokenizer", "ids", "tensors"]
    own = {
        "bytes": f"sha256:{record.request_sha256}",
        "template": record.template.digest,
        "tokenizer": record.tokenizer.digest,
    }
    of_stages = {stage.value: digest for stage, digest in record.digests().items() if stage.value in stages}
    assert {name: stage.digest for name, stage in stages.items()} == of_stages | own
    assert ("enable_thinking", "false") in stages["request"].facts
    assert stages["ids"].id == f"{len(result):,} tokens"


def test_a_request_without_bytes_has_no_digest() -> None:
    model = katapi.load("qwen3")
    typed = model.assemble(model.decode_request(json.dumps(TALK).encode()))
    [raw, *_] = view_of(model, typed).execution.stages
    assert (raw.id, raw.digest) == ("not digested", None)


def test_messages_that_a_policy_left_out() -> None:
    allotment = Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.STOP, Grouping.BY_TURN)
    view, result = looked_at("qwen3", long_talk(5, 20), Budget("small@1", 300, 20, (allotment,)))
    record = result.record
    assert record.decision is not None
    left = {at for choice in record.decision.choices if not choice.kept for at in choice.at}
    run = view.execution
    assert left
    assert {at for at, message in enumerate(run.messages) if message.index is None} == left
    assert all(bool(message.left_out) is (message.index is None) for message in run.messages)
    kept = [message for message in run.messages if message.index is not None]
    assert [message.index for message in kept] == [*range(len(kept))]
    said = record.request["messages"]
    assert isinstance(said, list | tuple)
    assert [dict(message.fields)["content"] for message in kept] == [m["content"] for m in said if isinstance(m, dict)]
    for index, token in enumerate(run.tokens):
        if run.places[token.place].message is not None:
            assert result.origins[index].message == run.places[token.place].message


def test_the_budget_counts_every_token() -> None:
    allotment = Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP)
    budget = Budget("small@1", 200, 20, (allotment,))
    view, result = looked_at("qwen3", long_talk(4, 12), budget)
    shown = view.execution.budget
    assert sum(count for _, count in shown.sections) == len(result)
    assert (shown.policy, shown.window, shown.reserve) == ("small@1", 200, 20)
    decision = result.record.decision
    assert decision is not None
    assert [(i.section, i.kept, i.before, i.after) for i in shown.items] == [
        (c.section.value, c.kept, c.before, c.after) for c in decision.choices
    ]
    assert any(not item.kept and item.why for item in shown.items)


def test_without_a_policy_there_is_no_window() -> None:
    view, result = looked_at("qwen3", TALK)
    shown = view.execution.budget
    assert (shown.policy, shown.items, shown.cut) == (None, (), "")
    assert sum(count for _, count in shown.sections) == len(result)


def test_an_input_that_was_cut() -> None:
    budget = Budget("tail@1", 60, 10, overflow=CutLeft(frozenset(Structure)))
    view, result = looked_at("qwen3", long_talk(3, 9), budget)
    assert "were cut off on the left, which breaks" in view.execution.budget.cut
    assert [token.id for token in view.execution.tokens] == result.input_ids.tolist()
    assert any(name == "cut off" for stage in view.execution.stages for name, _ in stage.facts)


@pytest.mark.parametrize(
    ("name", "placeholders"),
    [
        ("qwen3-vl", ["<|image_pad|>"]),
        ("gemma3", ["<start_of_image>"]),
        ("glm-4.5v", ["<|begin_of_image|>", "<|image|>", "<|end_of_image|>"]),
        ("llama4", ["<|image|>"]),
    ],
)
def test_each_image_has_its_placeholders(name: str, placeholders: list[str]) -> None:
    parts: list[Json] = [{"type": "image"}, {"type": "text", "text": "and"}, {"type": "image"}]
    request: dict[str, Json] = {
        "messages": [
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": parts[:1]},
        ]
    }
    view, _ = looked_at(name, request)
    run = view.execution
    assert [image.path for image in run.images] == [f"messages[{m}].content[{p}]" for m, p in ((0, 0), (0, 2), (2, 0))]
    spans = [image.tokens for image in run.images if image.tokens is not None]
    assert len(spans) == len(run.images)
    for start, end in spans:
        assert [(token.bytes or b"").decode() for token in run.tokens[start:end]] == placeholders
    assert all(before[1] <= behind[0] for before, behind in pairwise(spans))


def test_images_without_placeholders_are_not_guessed() -> None:
    allotment = CutLeft(frozenset(Structure))
    request: dict[str, Json] = {
        "messages": [
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "what is this? " * 20}]},
        ]
    }
    view, _ = looked_at("qwen3-vl", request, Budget("tail@1", 40, 0, overflow=allotment))
    assert [image.tokens for image in view.execution.images] == [None]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [((), ""), ((4,), "4"), ((0, 1, 2, 5), "0–2, 5"), ((1, 3, 4), "1, 3–4"), ((2, 4, 6), "2, 4, 6")],
)
def test_indices_as_people_write_them(numbers: tuple[int, ...], said: str) -> None:
    assert ranges(numbers) == said


def test_every_kind_is_in_the_table() -> None:
    view: View = looked_at("llama2", {"messages": TALK["messages"]})[0]
    kinds = {place.kind for place in view.execution.places}
    assert kinds == {"control", "literal", "content", "mixed"}
    assert kinds < {*LOOKS}
