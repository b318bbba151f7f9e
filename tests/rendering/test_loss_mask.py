"""The loss mask of some messages: what the model itself wrote of them, with the token that closed it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import katapi
from katapi.runtime.json_types import Json
from katapi.runtime.model_input import ModelInput
from katapi.runtime.owners import owners_of
from katapi.runtime.segments import Content, ContentSegment, Literal, LiteralSegment, Segment, Site

MODEL = katapi.load("qwen3")
CONVERSATION: list[dict[str, Json]] = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"},
    {"role": "user", "content": "c"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "d"},
    {"role": "assistant", "content": "e"},
]


def assembled() -> ModelInput:
    request = {"messages": CONVERSATION, "add_generation_prompt": False}
    return MODEL.assemble(json.dumps(request).encode())


def text_of(found: ModelInput, messages: list[int]) -> str:
    """The text of the tokens in the mask of some messages."""
    return MODEL.decode_text(found.input_ids[found.loss_mask(messages)].tolist())


def test_the_masks_of_all_messages_together_are_that_of_the_whole() -> None:
    found = assembled()
    masks = [found.loss_mask([index]) for index in range(len(CONVERSATION))]
    assert np.array_equal(np.sum(masks, axis=0), found.sampled)
    assert np.array_equal(found.loss_mask(), found.sampled)
    assert np.array_equal(found.loss_mask([1, 3, 5]), found.sampled)


def test_a_message_has_what_was_written_of_it() -> None:
    found = assembled()
    texts = [text_of(found, [index]) for index in range(len(CONVERSATION))]
    assert texts == ["", "b<|im_end|>", "", "<|im_end|>", "", "<think>\n\n</think>\n\ne<|im_end|>"]
    assert np.array_equal(found.loss_mask("last"), found.loss_mask([5]))


def test_a_message_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="there is no message 6: the request has 6"):
        assembled().loss_mask([6])
    with pytest.raises(IndexError):
        assembled().loss_mask([-1])


def content(message: int) -> Segment:
    return ContentSegment(Content("x"), ("messages", message, "content"), 0)


EMPTY: Segment = LiteralSegment(Literal("<end>"), Site(1, 1))
ROLES = ["user", "assistant", "tool", "assistant", "assistant", "user"]


@pytest.mark.parametrize(
    ("regions", "owners"),
    [
        pytest.param([content(1), content(3)], [1, 3], id="contents"),
        pytest.param([EMPTY], [1], id="an empty answer is the first"),
        pytest.param([EMPTY, EMPTY, EMPTY], [1, 3, 4], id="empty answers in order"),
        pytest.param([content(1), EMPTY, content(3)], [1, 1, 3], id="a turn that goes on behind its results"),
        pytest.param([content(1), EMPTY, content(4)], [1, 3, 4], id="an empty answer between others"),
        pytest.param([content(4), EMPTY], [4, 4], id="no answer is left"),
    ],
)
def test_whose_a_region_is(regions: list[Segment], owners: list[int | None]) -> None:
    assert owners_of(regions, [(i, i + 1) for i in range(len(regions))], ROLES) == owners


def test_no_message_has_written_what_no_message_can_have() -> None:
    assert owners_of([EMPTY], [(0, 1)], ["user"]) == [None]


def test_gemma_4_writes_the_token_that_opens_the_first_result() -> None:
    """Its generation stops there, whether the results are there already or not."""
    calls: list[Json] = [{"id": name, "function": {"name": name, "arguments": {}}} for name in "fg"]
    asked: list[Json] = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": calls},
    ]
    results: list[Json] = [{"role": "tool", "tool_call_id": name, "content": "1"} for name in "fg"]
    reply: Json = {"role": "assistant", "content": "ok"}
    wrote = "<|tool_call>call:f{}<tool_call|><|tool_call>call:g{}<tool_call|><|tool_response>"
    for messages, more in ((asked, ""), ([*asked, *results], ""), ([*asked, *results, reply], "ok<turn|>")):
        found = katapi.load("gemma4").render(
            json.dumps({"messages": messages, "add_generation_prompt": False}).encode()
        )
        regions = (found.payload[start:end] for start, end in found.sampled)
        assert "".join(segment.text for region in regions for segment in region) == wrote + more
