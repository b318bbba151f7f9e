"""Ten turns with completions that no encoder would produce: no id ever changes, and all that an input says agrees."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

import katapi
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.record import ExecutionRecord
from katapi.runtime.request_model import RequestModel
from tests.examples import examples
from tests.extension.completions import TEXT, closings, completions, control_ids
from tests.vectors.test_chat_models import has_tokenizer

TURNS = 10
CLOCK: dict[str, Json] = {"now": "2025-03-09"}


def of_messages(model: Model[RequestModel], messages: list[Json], *, prompted: bool) -> ModelInput:
    clock = CLOCK if "now" in model.request_type.model_fields else {}
    return model.assemble(json.dumps({"messages": messages, "add_generation_prompt": prompted, **clock}).encode())


@cache
def usual(name: str) -> tuple[frozenset[int], tuple[int, ...]]:
    """The tokens that close a reply, and ids that a completion may have in it: control tokens, and those of a text."""
    model = katapi.load(name)
    messages: list[Json] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    closing: set[int] = set()
    for count in (2, 3):
        asked: list[Json] = [*messages, {"role": "user", "content": "r"}][:count]
        closing |= closings(of_messages(model, asked, prompted=False))
    controls = control_ids(of_messages(model, messages[:1], prompted=True))
    return frozenset(closing), (*model.encode("Hello, 天空!"), *(i for i in controls if i not in closing))


@pytest.mark.parametrize("name", katapi.models())
@settings(
    examples(3, 100),
    phases=[Phase.explicit, Phase.generate],  # to shrink ten turns takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_ten_turns(name: str, data: DataObject) -> None:
    model = katapi.load(name)
    if not has_tokenizer(model):
        pytest.skip("the vocabulary is not at hand")
    ends, spoken = usual(name)
    messages: list[Json] = [{"role": "user", "content": data.draw(TEXT)}]
    now = of_messages(model, messages, prompted=True)
    ids: list[int] = now.input_ids.tolist()
    sampled = [False] * len(ids)
    for _ in range(TURNS):
        completion = data.draw(completions(model, ends, spoken))
        reply: dict[str, Json] = {"role": "assistant", "content": data.draw(st.sampled_from(["ok", "a\nb", "天"]))}
        asked: dict[str, Json] = {"role": "user", "content": data.draw(TEXT)}
        now = model.extend(now, completion, json.dumps([asked]).encode(), reply=reply)
        ids += completion
        assert now.input_ids[: len(ids)].tolist() == ids
        sampled += [True] * len(completion)
        sampled += [False] * (len(now) - len(ids))
        ids = now.input_ids.tolist()
    assert now.sampled.tolist() == sampled
    assert now.attention_mask.tolist() == [1] * len(ids)
    assert now.position_ids.tolist() == [*range(len(ids))]
    assert_origins(now)
    assert_text(model, now)
    again = repeated(model, now.record)
    assert again.input_ids.tolist() == ids
    assert again.rendered == now.rendered
    assert again.record == now.record
    assert again.departures == now.departures


def assert_origins(now: ModelInput) -> None:
    """Segments follow one another, each token has one, and what was sampled is of its reply."""
    ranges = now.origins.ranges
    assert len(now.origins) == len(now)
    assert (ranges[:, 0] < ranges[:, 1]).all()
    assert (ranges[1:, 0] >= ranges[:-1, 0]).all()
    for extension in now.record.extensions:
        found = {now.origins[at].message for at in range(extension.start, extension.end)}
        assert found <= {extension.reply, None}


def assert_text(model: Model[RequestModel], now: ModelInput) -> None:
    """The text is what the ids stand for, where that holds for the whole conversation assembled anew."""
    official = model.assemble(json.dumps(now.record.request).encode())
    if model.decode_text(official.input_ids.tolist()) == official.text:
        assert model.decode_text(now.input_ids.tolist()) == now.text


def repeated(model: Model[RequestModel], record: ExecutionRecord) -> ModelInput:
    """The input that a record is of, made again out of the record alone."""
    messages = record.request["messages"]
    assert isinstance(messages, tuple | list)
    starts = [extension.reply for extension in record.extensions]
    now = of_messages(model, list(messages[: starts[0]]), prompted=True)
    for extension, following in zip(record.extensions, [*starts[1:], len(messages)], strict=True):
        completion = record.input_ids[extension.start : extension.end]
        new = messages[extension.reply + 1 : following]
        now = model.extend(now, completion, new, reply=messages[extension.reply])
    return now
