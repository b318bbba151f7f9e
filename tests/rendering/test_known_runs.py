"""Runs of text that were encoded before: the same ids, in bounded memory, and none of another text."""

from __future__ import annotations

import gc
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.runtime.assembly import assemble_array
from katapi.runtime.known_runs import KnownRuns
from katapi.runtime.parts import MergedText, Piece
from katapi_models import book

TOKENIZER = book.MODEL.tokenizer


class Counting:
    """The tokenizer, with a count of what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_bytes(self, text: str, first: bool = True) -> bytes:
        self.asked.append(text)
        return TOKENIZER.encode_bytes(text, first)


def known_runs(most_characters: int = 1 << 20) -> tuple[KnownRuns, Counting]:
    tokenizer = Counting()
    return KnownRuns(tokenizer, most_characters), tokenizer  # type: ignore[arg-type]  # nothing else is asked for


TEXTS = st.text(max_size=40) | st.sampled_from(["a", "天空", "a" * 50, "\n"])


@given(
    runs=st.lists(st.lists(TEXTS, max_size=4).map(tuple), max_size=30),
    most=st.sampled_from([0, 100, 1000, 1 << 20]),
    first=st.booleans(),
)
def test_the_ids_are_those_of_the_tokenizer(runs: list[tuple[str, ...]], most: int, first: bool) -> None:
    known, _ = known_runs(most)
    for texts in [*runs, *runs]:
        for at_beginning in (False, first):
            ids = known.encode_bytes(texts, at_beginning)
            assert np.frombuffer(ids, dtype=np.int64).tolist() == TOKENIZER.encode("".join(texts), at_beginning)


def test_what_was_met_is_not_encoded_again() -> None:
    known, tokenizer = known_runs()
    for _ in range(3):
        for texts in (("one",), ("two",), ("one", "two"), ("onetwo",)):
            known.encode_bytes(texts, False)
    assert tokenizer.asked == ["one", "two", "onetwo", "onetwo"]
    known.encode_bytes(("one",), True)
    known.encode_bytes(("x" * 200_000, "x" * 100_000), False)
    known.encode_bytes(("x" * 200_000, "x" * 100_000), False)
    assert len(tokenizer.asked) == 7
    assert len(known) == 4


def test_the_memory_is_bounded_and_keeps_what_is_met_again() -> None:
    known, tokenizer = known_runs(10_000)
    for number in range(1000):
        known.encode_bytes(("system prompt",), False)
        known.encode_bytes((f"message {number}",), False)
        assert len(known) * 64 <= 10_000
    assert tokenizer.asked.count("system prompt") == 1
    assert len(tokenizer.asked) == 1001


def test_a_text_of_parts_leaves_no_more_than_its_characters() -> None:
    known, tokenizer = known_runs()
    text = MergedText([Piece("one ", (0, "text"), 0), Piece("two", (1, "text"), 0)], ("one ", "two"))
    known.encode_bytes((text,), False)
    assert known.encode_bytes(("one two",), False) == TOKENIZER.encode_bytes("one two", False)
    assert tokenizer.asked == ["one two"]
    assert not any(isinstance(referred, MergedText) for referred in gc.get_referents(*gc.get_referents(known._new)))


def test_nobody_can_change_the_ids_of_an_input() -> None:
    ids = katapi.load("book").assemble(b'{"messages": [{"role": "user", "content": "hello"}]}').input_ids
    with pytest.raises(ValueError, match="read-only"):
        ids[:] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        ids.setflags(write=True)


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
