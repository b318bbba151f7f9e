"""Ids of text, cut in any way, give back their text, and each of them its place in it."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

import katapi
from katapi.runtime.completion import SampledRun, controls_of, items_of
from katapi.runtime.model import Model
from katapi.runtime.origins import covered
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlToken
from tests.examples import examples
from tests.extension.completions import CUTS, TEXT, cut
from tests.vectors.test_chat_models import has_tokenizer

BYTES = ("qwen2.5", "gpt-oss", "phi-4")
"""Models whose tokens stand for bytes."""
STAGES = ("llama2", "mistral-v3", "phi-3-mini", "gemma2", "gemma4")
"""Models whose tokens are decoded by stages: marks for spaces, and bytes of their own."""

PUT_IN = ("llama2", "phi-3-mini")
"""Those that put one in front of every run."""


@cache
def model_of(name: str) -> Model[RequestModel]:
    model = katapi.load(name)
    if not has_tokenizer(model):
        pytest.skip("the vocabulary is not at hand")
    return model


@cache
def controls(name: str) -> dict[int, ControlToken]:
    clock = {"now": "2025-03-09"} if "now" in model_of(name).request_type.model_fields else {}
    request = {"messages": [{"role": "user", "content": "a"}], **clock}
    return dict(controls_of(model_of(name).assemble(json.dumps(request).encode()).rendered.payload))


def run_of(name: str, ids: list[int], *, behind_control: bool) -> SampledRun:
    (run,) = items_of(ids, controls(name), model_of(name).tokenizer, behind_control=behind_control)
    assert isinstance(run, SampledRun)
    return run


def spans_of(name: str, run: SampledRun) -> list[tuple[int, int]]:
    found = run.spans(model_of(name).tokenizer, [*controls(name)][:1])
    return [(first, end) for first, end in found.tolist()]


@pytest.mark.parametrize("name", BYTES)
@examples(40, 1000)
@given(st.data())
def test_a_text_that_is_cut_anywhere_is_read_back(name: str, data: DataObject) -> None:
    text = data.draw(TEXT.filter(lambda text: text.isascii() and bool(text)) | st.sampled_from(["天空", "👩‍👩‍👧"]))
    ids = cut(model_of(name), text, data.draw(CUTS), in_bytes=data.draw(st.booleans()))
    run = run_of(name, ids, behind_control=data.draw(st.booleans()))
    assert (run.text, run.whole, run.put_in) == (text, True, "")
    spans = spans_of(name, run)
    sizes = [len(model_of(name).decode([token])) for token in ids]
    assert [end - first for first, end in spans] == sizes
    assert [first for first, _ in spans] == [0, *(end for _, end in spans)][: len(spans)]


@pytest.mark.parametrize("name", [*BYTES, *STAGES])
@examples(40, 1000)
@given(st.data())
def test_the_places_of_the_usual_ids_are_those_of_the_tokenizer(name: str, data: DataObject) -> None:
    """Which segments a token covers does not depend on how its place was found."""
    tokenizer = model_of(name).tokenizer
    text = data.draw(TEXT.filter(bool))
    ids = tokenizer.encode(text, first=False)
    run = run_of(name, ids, behind_control=True)
    if run.text != text:
        return  # the tokenizer's normalizer changed it
    bounds = sorted({0, len(text), *(at % len(text) for at in data.draw(CUTS))})
    parts = [text[a:b] for a, b in pairwise(bounds)]
    widths = [len(part.encode()) for part in parts]
    places = [*range(len(parts))]
    assert spans_of(name, run)[-1][1] == len(text.encode())
    own = covered(places, widths, run.spans(tokenizer, [*controls(name)][:1]))
    usual = covered(places, widths, tokenizer.spans(text, ids, first=False))
    assert own.tolist() == usual.tolist()


@pytest.mark.parametrize("name", STAGES)
def test_a_space_that_was_put_in_front_is_no_text(name: str) -> None:
    model = model_of(name)
    ids = model.tokenizer.encode("Hello", first=False)
    assert run_of(name, ids, behind_control=True).text == "Hello"
    inside = run_of(name, ids, behind_control=False)
    assert inside.text == (" Hello" if name in PUT_IN else "Hello")


@pytest.mark.parametrize("name", [*BYTES, *STAGES])
def test_a_character_that_breaks_off_is_not_whole(name: str) -> None:
    model = model_of(name)
    ids = model.tokenizer.encode("\U000e0001", first=False)
    part = run_of(name, ids[:-1], behind_control=False)
    assert (part.whole, part.text.strip(" \ufffd")) == (False, "")
    assert run_of(name, ids, behind_control=False).whole
