"""Extension on the conversations of the vectors: the ids of the whole conversation, or all places that differ."""

from __future__ import annotations

from functools import cache

import pytest

import katapi
from tests.examples import FUZZ
from tests.splits import Split, splits
from tests.vectors.test_chat_models import MODELS, OWN, has_tokenizer

MOST = None if FUZZ else 12
"""How many replies of a model are looked at."""

MOVED = {"deepseek-v3", "deepseek-v3.1", "deepseek-r1", "glm-4-0414"}
"""Models whose template prints later system messages before all others."""

pytestmark = pytest.mark.parametrize("name", MODELS)


@cache
def of_model(name: str) -> list[Split]:
    """Some replies of the vectors of a model, from all of them alike, but for those that nothing can be put behind."""
    model = katapi.load(name)
    if not has_tokenizer(model):
        return []
    found = [
        split
        for split in splits(model, OWN / f"{name}.jsonl.gz")
        if name not in MOVED or all(message["role"] != "system" for message in split.new)
    ]
    return found[:: 1 if MOST is None else -(-len(found) // MOST)]


def test_no_id_of_the_past_changes(name: str) -> None:
    model = katapi.load(name)
    for case, prompt, completion, reply, new, whole in of_model(name):
        result = model.extend(prompt, completion, new, reply=reply, generate=bool(new))
        past = [*prompt.input_ids.tolist(), *completion]
        ids = result.input_ids.tolist()
        assert ids[: len(past)] == past, case
        behind = [False] * (len(ids) - len(past))
        assert result.sampled.tolist() == [*prompt.sampled.tolist(), *[True] * len(completion), *behind], case
        assert (result.departures == ()) == (ids == whole.input_ids.tolist()), case


def test_what_the_template_keeps_is_the_whole_conversation(name: str) -> None:
    model = katapi.load(name)
    for case, prompt, completion, reply, new, whole in (split for split in of_model(name) if split.kept):
        result = model.extend(prompt, completion, new, reply=reply, generate=bool(new))
        assert result.input_ids.tolist() == whole.input_ids.tolist(), case
        assert [origin.kind for origin in result.origins] == [origin.kind for origin in whole.origins], case
        assert [origin.paths for origin in result.origins] == [origin.paths for origin in whole.origins], case


def test_departures_turn_the_text_into_the_official_one(name: str) -> None:
    model = katapi.load(name)
    for case, prompt, completion, reply, new, whole in (split for split in of_model(name) if not split.kept):
        result = model.extend(prompt, completion, new, reply=reply, generate=bool(new))
        text = result.text
        for departure in reversed(result.departures):
            end = departure.start + len(departure.text)
            assert text[departure.start : end] == departure.text, case
            assert departure.text in model.decode_text(result.input_ids[slice(*departure.tokens)].tolist()), case
            text = text[: departure.start] + departure.official + text[end:]
        assert text == whole.text, case
