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
from tests.specs import model_named

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
    """Between two regions stands a segment that is not sampled."""
    segments = [segment for region in regions for segment in (region, EMPTY)]
    assert owners_of(segments, [(i, i + 1) for i in range(0, len(segments), 2)], ROLES) == owners


@pytest.mark.parametrize(
    ("regions", "owners"),
    [
        pytest.param([content(1), EMPTY, EMPTY], [1, 1, 1], id="the header that ends a reply is the reply's"),
        pytest.param([EMPTY, content(3)], [3, 3], id="an empty thought is of the answer behind it"),
        pytest.param([EMPTY, EMPTY], [1, 1], id="parts of an empty answer"),
        pytest.param([content(1), EMPTY, content(3)], [1, 1, 3], id="another content is another message"),
        pytest.param([content(3), content(4), EMPTY], [3, 4, 4], id="answers side by side"),
    ],
)
def test_whose_a_region_is_that_follows_another_directly(regions: list[Segment], owners: list[int | None]) -> None:
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


CALL: dict[str, Json] = {"function": {"name": "f", "arguments": {"a": 1}}}
TWO_CALLS: list[Json] = [CALL, {"function": {"name": "g", "arguments": {}}}]


def marked(model: str, replies: list[dict[str, Json]], params: dict[str, Json]) -> list[str]:
    """What is sampled of each of some messages behind a question."""
    messages: list[Json] = [{"role": "user", "content": "?"}, *replies]
    raw = json.dumps({"messages": messages, "add_generation_prompt": False, **params}).encode()
    loaded = model_named(model)
    found = loaded.assemble(raw)
    masks = [found.loss_mask([index]) for index in range(1, len(messages))]
    assert np.array_equal(np.sum(masks, axis=0), found.sampled)
    return [loaded.decode_text(found.input_ids[mask].tolist()) for mask in masks]


SAID: dict[str, Json] = {"role": "assistant", "content": "A"}
THOUGHT: dict[str, Json] = {"role": "assistant", "content": "A", "reasoning_content": "T"}
CALLED: dict[str, Json] = {"role": "assistant", "content": "", "tool_calls": TWO_CALLS}
RESULT: dict[str, Json] = {"role": "tool", "content": "1"}
AGAIN: dict[str, Json] = {"role": "user", "content": "??"}
OFF: dict[str, Json] = {"enable_thinking": False}


@pytest.mark.parametrize(
    ("model", "replies", "params", "expected"),
    [
        pytest.param("qwen3", [SAID], {}, ["<think>\n\n</think>\n\nA<|im_end|>"], id="qwen3"),
        pytest.param("qwen3", [SAID], OFF, ["A<|im_end|>"], id="qwen3, not thinking"),
        pytest.param(
            "qwen3", [THOUGHT], OFF, ["<think>\nT\n</think>\n\nA<|im_end|>"], id="qwen3, a thought all the same"
        ),
        pytest.param("qwen3", [SAID, AGAIN], OFF, ["A<|im_end|>", ""], id="qwen3, asked later"),
        pytest.param("qwen3-next-thinking", [THOUGHT], {}, ["T\n</think>\n\nA<|im_end|>"], id="qwen3-next-thinking"),
        pytest.param("qwen3.5", [THOUGHT], {}, ["T\n</think>\n\nA<|im_end|>"], id="qwen3.5"),
        pytest.param("qwen3.5", [SAID], OFF, ["A<|im_end|>"], id="qwen3.5, not thinking"),
        pytest.param("minimax-m2", [THOUGHT], {}, ["T\n</think>\n\nA[e~["], id="minimax-m2"),
        pytest.param("glm-4.5", [SAID], {}, ["\n<think></think>\nA"], id="glm-4.5"),
        pytest.param("glm-4.5", [SAID], OFF, ["\nA"], id="glm-4.5, not thinking"),
        pytest.param("glm-4.5", [THOUGHT, AGAIN], {}, ["\n<think></think>\nA<|user|>", ""], id="glm-4.5, asked later"),
        pytest.param("glm-4.5v", [THOUGHT], {}, ["<think>T</think>\nA"], id="glm-4.5v"),
        pytest.param("glm-4.5v", [SAID], OFF, ["A"], id="glm-4.5v, not thinking"),
        pytest.param("glm-4.7-flash", [THOUGHT], {}, ["T</think>A"], id="glm-4.7-flash"),
        pytest.param("glm-4.7-flash", [SAID], OFF, ["A"], id="glm-4.7-flash, not thinking"),
        pytest.param(
            "glm-4.6",
            [CALLED, RESULT, RESULT, SAID, AGAIN],
            OFF,
            [
                (
                    "\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"
                    "\n<tool_call>g\n</tool_call><|observation|>"
                ),
                "",
                "",
                "\nA<|user|>",
                "",
            ],
            id="glm-4.6, calls",
        ),
        pytest.param(
            "glm-4-0414",
            [CALLED, RESULT, RESULT, {**CALLED, "content": "A"}, AGAIN, AGAIN],
            {},
            [
                'f\n{"a": 1}<|assistant|>g\n{}<|observation|>',
                "",
                "",
                '\nA<|assistant|>f\n{"a": 1}<|assistant|>g\n{}<|user|>',
                "",
                "",
            ],
            id="glm-4-0414, calls",
        ),
        pytest.param("glm-4", [SAID, AGAIN, AGAIN], {}, ["\nA<|user|>", "", ""], id="glm-4"),
    ],
)
def test_a_reply_is_what_follows_its_prompt_up_to_the_token_that_ends_it(
    model: str, replies: list[dict[str, Json]], params: dict[str, Json], expected: list[str]
) -> None:
    assert marked(model, replies, params) == expected


@pytest.mark.parametrize("params", [{}, OFF], ids=["thinking", "not thinking"])
@pytest.mark.parametrize("reply", [SAID, THOUGHT], ids=["said", "thought"])
@pytest.mark.parametrize(
    "model", ["qwen3", "qwen3-next-thinking", "qwen3.5", "minimax-m2", "glm-4.5", "glm-4.5v", "glm-4.7-flash"]
)
def test_what_is_sampled_is_read_back(model: str, reply: dict[str, Json], params: dict[str, Json]) -> None:
    """Also where it begins behind the token that opens the thought."""
    loaded = model_named(model)
    known = loaded.request_type.model_fields.keys()
    request = {"messages": [{"role": "user", "content": "?"}, reply], "add_generation_prompt": False}
    request |= {name: value for name, value in params.items() if name in known}
    found = loaded.assemble(json.dumps(request).encode())
    message = loaded.parse(found.input_ids[found.loss_mask("last")].tolist())
    assert (message.content, message.reasoning or None) == ("A", reply.get("reasoning_content"))
    assert message.complete
    assert not message.faults
