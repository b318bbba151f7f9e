"""Samples drawn at random, for tests of batches."""

from __future__ import annotations

import json
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import katapi
from katapi import ModelInput, Sample

BOOK = katapi.load("book")


@cache
def conversation(roles: str, text: str, generate: bool) -> ModelInput:
    """A conversation of the fixture: a message for each of the letters s, u and a."""
    named = {"s": "system", "u": "user", "a": "assistant"}
    messages = [{"role": named[letter], "content": text} for letter in roles]
    return BOOK.assemble(json.dumps({"messages": messages, "add_generation_prompt": generate}).encode())


@st.composite
def own_samples(draw: st.DrawFn) -> Sample:
    """Ids with any of them trained on, the first included."""
    ids = draw(st.lists(st.integers(0, 2**40), min_size=1, max_size=12))
    return Sample.of(ids, draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids))))


CONVERSATIONS = st.builds(
    conversation, st.text("sua", max_size=5), st.sampled_from(["", "天空", "天空为什么是蓝色？"]), st.booleans()
)
SAMPLES: SearchStrategy[list[ModelInput | Sample]] = st.lists(CONVERSATIONS | own_samples(), min_size=1, max_size=7)
