"""Pictures within a budget: each one that is kept has its placeholder, each one that is left out has none."""

from __future__ import annotations

import json
from random import Random

import pytest

from katapi.runtime.budget.policy import Allotment, Budget, Grouping, Misfit, Order, Section
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.messages import items_of, messages_of
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlSegment
from tests.specs import model_named

#: Models whose templates show pictures, and the control token that stands for one.
PLACEHOLDERS = {
    "qwen2.5-vl": "<|image_pad|>",
    "qwen3-vl": "<|image_pad|>",
    "qwen3.5": "<|image_pad|>",
    "glm-4.5v": "<|image|>",
    "gemma3": "<start_of_image>",
    "gemma4": "<|image|>",
    "llama4": "<|image|>",
}
POLICIES = [
    Allotment(Section.HISTORY, order, misfit, grouping)
    for order in (Order.NEWEST_FIRST, Order.OLDEST_FIRST)
    for misfit in Misfit
    for grouping in Grouping
]


def talk(random: Random) -> list[Json]:
    """Turns in which the user shows up to three pictures at once, among words."""
    messages: list[Json] = []
    for turn in range(10):
        parts: list[JsonObject] = [{"type": "image"} for _ in range(random.choice((0, 1, 1, 3)))]
        parts.insert(
            random.randrange(len(parts) + 1), {"type": "text", "text": f"question {turn} " * random.choice((1, 9))}
        )
        messages.append({"role": "user", "content": [*parts]})
        if turn < 9:
            messages.append({"role": "assistant", "content": f"answer {turn} " * random.choice((1, 9))})
    return messages


def pictures(request: RequestModel) -> int:
    """How many pictures stand in the messages of a request."""
    parts = [part for message in messages_of(request) for part in items_of(message, "content")]
    return sum(getattr(part, "type", None) == "image" for part in parts)


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_each_picture_that_is_kept_has_its_placeholder(name: str) -> None:
    model = model_named(name)
    spelling = PLACEHOLDERS[name]
    kept_of: set[int] = set()
    for seed, allotment in enumerate(POLICIES):
        raw = json.dumps({"messages": talk(Random(seed))}).encode()
        whole = model.assemble(raw)
        budget = Budget("pictures@1", len(whole) // 2, 4, (allotment,))
        result = model.assemble(raw, budget)
        controls = [one.token for one in whole.rendered.payload if isinstance(one, ControlSegment)]
        [token] = {one.id for one in controls if one.spelling == spelling}
        assert result.input_ids.tolist().count(token) == pictures(result.request)
        assert len(result) + 4 <= budget.window
        decision = result.record.decision
        assert decision is not None
        assert decision.offered is not None
        assert pictures(decision.offered) == whole.input_ids.tolist().count(token)
        kept_of.add(pictures(whole.request) - pictures(result.request))
    assert kept_of - {0}
