"""Extension on the conversations of the vectors: the ids of the whole conversation, or all places that differ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, takewhile

import pytest

import katapi
from katapi.runtime.model_input import ModelInput
from tests.examples import FUZZ
from tests.splits import Split, conversations
from tests.vectors.test_chat_models import MODELS, OWN, has_tokenizer

MOST = None if FUZZ else 16
"""How many conversations of a model are looked at."""

MOVED = {"deepseek-v3", "deepseek-v3.1", "deepseek-r1", "glm-4-0414"}
"""Models whose template prints later system messages before all others."""

pytestmark = pytest.mark.parametrize("name", MODELS)


@cache
def of_model(name: str) -> list[list[Split]]:
    """Conversations of the vectors of a model, each up to what nothing can be put behind."""
    model = katapi.load(name)
    if not has_tokenizer(model):
        return []
    return [
        [*takewhile(lambda split: not moved(name, split), found)]
        for found in conversations(model, OWN / f"{name}.jsonl.gz", MOST)
    ]


def moved(name: str, split: Split) -> bool:
    """Whether the template prints a message behind the reply before it."""
    return name in MOVED and any(message["role"] == "system" for message in split.new)


def replies(name: str) -> Iterator[Split]:
    """All replies of these conversations."""
    return chain.from_iterable(of_model(name))


def test_no_id_of_the_past_changes(name: str) -> None:
    model = katapi.load(name)
    for case, _, prompt, completion, reply, new, whole in replies(name):
        result = model.extend(prompt, completion, new, reply=reply, generate=bool(new))
        past = [*prompt.input_ids.tolist(), *completion]
        ids = result.input_ids.tolist()
        assert ids[: len(past)] == past, case
        behind = [False] * (len(ids) - len(past))
        assert result.sampled.tolist() == [*prompt.sampled.tolist(), *[True] * len(completion), *behind], case
        assert (result.departures == ()) == (ids == whole.input_ids.tolist()), case


def test_what_the_template_keeps_is_the_whole_conversation(name: str) -> None:
    model = katapi.load(name)
    for case, _, prompt, completion, reply, new, whole in (split for split in replies(name) if split.kept):
        result = model.extend(prompt, completion, new, reply=reply, generate=bool(new))
        assert result.input_ids.tolist() == whole.input_ids.tolist(), case
        assert [origin.kind for origin in result.origins] == [origin.kind for origin in whole.origins], case
        assert [origin.paths for origin in result.origins] == [origin.paths for origin in whole.origins], case


def test_departures_turn_the_text_into_the_official_one(name: str) -> None:
    model = katapi.load(name)
    for case, _, prompt, completion, reply, new, whole in (split for split in replies(name) if not split.kept):
        result = model.extend(prompt, completion, new, reply=reply, generate=bool(new))
        text = result.text
        for departure in reversed(result.departures):
            end = departure.start + len(departure.text)
            assert text[departure.start : end] == departure.text, case
            assert departure.text in model.decode_text(result.input_ids[slice(*departure.tokens)].tolist()), case
            text = text[: departure.start] + departure.official + text[end:]
        assert text == whole.text, case


def test_a_conversation_turn_by_turn(name: str) -> None:
    """Each turn extends what the one before gave; as long as the template keeps the past, all ids are the official."""
    model = katapi.load(name)
    for conversation in of_model(name):
        now: ModelInput | None = None
        kept = True
        for split in takewhile(lambda split: split.new, conversation):
            now = split.prompt if now is None else now
            past = [*now.input_ids.tolist(), *split.completion]
            sampled = [*now.sampled.tolist(), *[True] * len(split.completion)]
            now = model.extend(now, split.completion, split.new, reply=split.reply)
            ids = now.input_ids.tolist()
            assert ids[: len(past)] == past, split.case
            assert now.sampled.tolist() == sampled + [False] * (len(ids) - len(past)), split.case
            kept = kept and split.kept
            assert not kept or ids == split.whole.input_ids.tolist(), split.case
            assert (now.departures == ()) == (ids == split.whole.input_ids.tolist()), split.case
