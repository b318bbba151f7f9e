"""Replies of the vectors are read, and go back into the request: the same ids are printed again."""

from __future__ import annotations

import json
from functools import cache

import pytest

from katapi.runtime.json_types import JsonObject
from tests.examples import FUZZ
from tests.specs import model_named
from tests.splits import Split, conversations
from tests.vectors.test_chat_models import MODELS, OWN

MOST = None if FUZZ else 8
"""How many conversations of a model are looked at."""

TEXT_ONLY = {"hermes-3-llama-3.1"}
"""Models whose closing token is text here, and runs on into what the template prints behind it."""
UNCLOSED = {"command-r-plus"}
"""Models whose template leaves out the closing token behind calls, with which the model ends its reply."""


@cache
def of_model(name: str) -> list[Split]:
    """The replies of some conversations of the vectors of a model."""
    model = model_named(name)
    found = conversations(model, OWN / f"{name}.jsonl.gz", MOST)
    return [split for conversation in found for split in conversation]


@pytest.mark.parametrize("name", [name for name in MODELS if name not in TEXT_ONLY | UNCLOSED])
def test_a_reply_that_is_read_is_printed_again_as_it_was(name: str) -> None:
    model = model_named(name)
    for case, _, prompt, completion, reply, _, _ in of_model(name):
        given = {**prompt.record.request, "add_generation_prompt": False}
        whole = with_last(name, given, reply)
        goes_on = whole[: len(prompt)] == prompt.input_ids.tolist()
        # Some histories show a reply without the thought that its own prompt had begun.
        message = model.parse(completion, prompt if goes_on else None)
        assert (message.faults, message.complete) == ((), True), case
        assert with_last(name, given, message.message) == whole, case


def with_last(name: str, given: JsonObject, last: JsonObject) -> list[int]:
    """The ids of a conversation with one more message."""
    messages = given["messages"]
    assert isinstance(messages, list)
    ids: list[int] = (
        model_named(name).assemble(json.dumps({**given, "messages": [*messages, last]}).encode()).input_ids.tolist()
    )
    return ids


@pytest.mark.parametrize("name", MODELS)
def test_ids_that_come_one_by_one_give_the_same_message(name: str) -> None:
    model = model_named(name)
    for case, _, prompt, completion, _, _, _ in of_model(name)[:8]:
        parser = model.parser(prompt)
        deltas = [parser.push(token) for token in completion]
        message = parser.finish()
        assert message == model.parse(completion, prompt), case
        assert message.content.startswith("".join(delta.content for delta in deltas)), case
        assert (message.reasoning or "").startswith("".join(delta.reasoning for delta in deltas)), case
        calls = tuple(call for delta in deltas for call in delta.tool_calls)
        assert message.tool_calls[: len(calls)] == calls, case
