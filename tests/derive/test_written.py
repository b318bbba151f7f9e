"""`sampled { … }` of every model is what follows its prompt: told by what the template prints, without the marks."""

from __future__ import annotations

import json
from itertools import islice

import pytest

import katapi
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.model_input import ModelInput
from katapi.runtime.segments import ControlSegment
from tests.vectors.test_chat_models import MODELS, OWN, TEXT_ONLY, has_tokenizer
from tools.training_masks.kinds import Spelling, Where, faults
from tools.training_masks.models import conversations
from tools.training_masks.peer import Conversation
from tools.training_masks.written import Turn, written

AS_PROMPTED = {
    "glm-4.5": {"\n<think>"},
    "glm-4.5v": {"<think>", "\n"},
    "qwen3": {"<think>"},
}
"""What is marked as sampled though it also ends the prompt. A thought in a request with `enable_thinking=false`, whose
prompt rules it out, is marked as it was written: from `<think>` on. And the line break before a call is the call's own,
though the prompt of GLM-4.5V without thinking ends with one."""

NEVER_TOLD = {"qwq-32b"}
"""Models whose prompt ends with `<think>`, which the template leaves out of every message."""


def assembled(model: str, given: Conversation, count: int, *, generate: bool = False) -> ModelInput | None:
    """The first messages of a conversation, or nothing where the model refuses them."""
    loaded = katapi.load(model)
    clock: dict[str, Json] = {"now": "2025-03-09T14:05:07"} if "now" in loaded.request_type.model_fields else {}
    tools: dict[str, Json] = {} if given.tools is None else {"tools": given.tools}
    request = {"messages": given.messages[:count], **tools, **given.params, **clock, "add_generation_prompt": generate}
    try:
        return loaded.assemble(json.dumps(request, ensure_ascii=False).encode())
    except KatapiError:
        return None


def turn(model: str, given: Conversation, reply: int) -> Turn | None:
    """One reply of a conversation."""
    before = assembled(model, given, reply)
    prompt = assembled(model, given, reply, generate=True)
    after = assembled(model, given, reply + 1)
    if before is None or prompt is None or after is None:
        return None
    return Turn(before.input_ids.tolist(), prompt.input_ids.tolist(), after.input_ids.tolist())


@pytest.mark.parametrize("model", sorted({*MODELS} - TEXT_ONLY))
def test_what_is_sampled_begins_where_the_prompt_ends(model: str) -> None:
    loaded = katapi.load(model)
    if not has_tokenizer(loaded):
        pytest.skip(f"the vocabulary of {model} may not be passed on: `katapi fetch` and a first use make it")
    found: dict[Where, set[str]] = {Where.PROMPT: set(), Where.REPLY: set()}
    replies = 0
    for given in islice(conversations(OWN / f"{model}.jsonl.gz"), 60):
        whole = assembled(model, given, len(given.messages))
        if whole is None:
            continue
        ids = whole.input_ids.tolist()
        places = [i for i, message in enumerate(given.messages) if message["role"] == "assistant"]
        told = written(ids, [turn(model, given, place) for place in places], ())
        controls = {s.token.id for s in whole.rendered.payload if isinstance(s, ControlSegment)}
        spelling = Spelling(lambda part: loaded.decode_text([*part]), controls)
        for kind in faults(whole.sampled.tolist(), told, ids, spelling):
            if kind.where in found:  # where a reply ends, prompts alone do not tell
                found[kind.where].add(kind.text)
        replies += True in told
    assert bool(replies) != (model in NEVER_TOLD)
    assert found == {Where.PROMPT: AS_PROMPTED.get(model, set()), Where.REPLY: set()}
