"""Runs of text that were encoded before: the same ids, in bounded memory, and none of another text."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import katapi
from katapi.runtime.assembly import assemble_array
from katapi.runtime.known_runs import KnownRuns
from katapi_models import book

TOKENIZER = book.MODEL.tokenizer


class Counting:
    """The tokenizer, with a count of what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_array(self, text: str, first: bool = True) -> NDArray[np.int32]:
        self.asked.append(text)
        return TOKENIZER.encode_array(text, first)


def known_runs(most_characters: int = 1 << 20) -> tuple[KnownRuns, Counting]:
    tokenizer = Counting()
    return KnownRuns(tokenizer, most_characters), tokenizer  # type: ignore[arg-type]  # nothing else is asked for


TEXTS = st.text(max_size=40) | st.sampled_from(["a", "天空", "a" * 50, "\n"])


@given(texts=st.lists(TEXTS, max_size=30), most=st.sampled_from([0, 100, 1000, 1 << 20]), first=st.booleans())
def test_the_ids_are_those_of_the_tokenizer(texts: list[str], most: int, first: bool) -> None:
    known, _ = known_runs(most)
    for text in [*texts, *texts]:
        for at_beginning in (False, first):
            ids = known.encode_bytes(text, at_beginning)
            assert np.frombuffer(ids, dtype=np.int64).tolist() == TOKENIZER.encode(text, at_beginning)


def test_what_was_met_is_not_encoded_again() -> None:
    known, tokenizer = known_runs()
    for _ in range(3):
        for text in ("one", "two", "one "):
            known.encode_bytes(text, False)
    assert tokenizer.asked == ["one", "two", "one "]
    known.encode_bytes("one", True)
    known.encode_bytes("x" * 300_000, False)
    known.encode_bytes("x" * 300_000, False)
    assert len(tokenizer.asked) == 6
    assert len(known) == 3


def test_the_memory_is_bounded_and_keeps_what_is_met_again() -> None:
    known, tokenizer = known_runs(10_000)
    for number in range(1000):
        known.encode_bytes("system prompt", False)
        known.encode_bytes(f"message {number}", False)
        assert len(known) * 64 <= 10_000
    assert tokenizer.asked.count("system prompt") == 1
    assert len(tokenizer.asked) == 1001


def test_an_input_owns_its_ids() -> None:
    model = katapi.load("book")
    raw = b'{"messages": [{"role": "user", "content": "hello"}]}'
    first, second = model.assemble(raw), model.assemble(raw)
    expected = first.input_ids.tolist()
    first.input_ids.setflags(write=True)
    first.input_ids[:] = 0
    assert second.input_ids.tolist() == expected
    assert model.assemble(raw).input_ids.tolist() == expected


def test_one_changed_character_in_a_long_conversation_is_seen() -> None:
    model = katapi.load("qwen3")
    tokenizer = model.tokenizer
    long = "The sky is blue, and grass is green. " * 20

    def raw(content: str) -> bytes:
        return json.dumps({"messages": [{"role": "user", "content": content}]}).encode()

    before = model.assemble(raw(long)).input_ids.tolist()
    for at in range(0, len(long), 7):
        changed = raw(f"{long[:at]}#{long[at + 1 :]}")
        ids = model.assemble(changed).input_ids.tolist()
        assert ids == assemble_array(model.render(changed).printed, tokenizer)[0].tolist()
        assert ids != before
    assert model.assemble(raw(long)).input_ids.tolist() == before
