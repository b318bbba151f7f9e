"""Segmentation by the longest token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.longest_match import LongestMatch
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

UNKNOWN = 0
WORDS = {1: "a", 2: "ab", 3: "abcd", 4: "天空", 5: "天", 6: "<unk>!"}
ENGINE = LongestMatch(VocabularyData.of_texts({UNKNOWN: "<unk>", **WORDS}), unknown=UNKNOWN)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", ()),
        ("abcd", (3,)),
        ("abc", (2, 0)),
        ("天空天", (4, 5)),
        ("空é😀", (0, 0, 0)),  # one unknown token for each character, however many bytes it takes
        ("<unk>", (0,) * 5),  # the spelling of the unknown token is no token
        ("<unk>!", (6,)),
    ],
)
def test_segment(text: str, ids: tuple[int, ...]) -> None:
    assert ENGINE.segment(text) == ids


@given(st.text(st.sampled_from("abcd天空é😀")))
def test_ranges_lie_on_what_the_tokens_spell(text: str) -> None:
    position = 0
    for token, start, end in ENGINE.segment_ranges(text):
        assert start == position
        assert end - start == 1 if token == UNKNOWN else text[start:end] == WORDS[token]
        position = end
    assert position == len(text)


@given(st.text(st.sampled_from("abcd天空")))
def test_no_longer_token_would_fit(text: str) -> None:
    position = 0
    for token in ENGINE.segment(text):
        taken = 1 if token == UNKNOWN else len(WORDS[token])
        fitting = [len(word) for word in WORDS.values() if text.startswith(word, position)]
        assert (max(fitting) if fitting else 1) == taken
        assert bool(fitting) == (token != UNKNOWN)
        position += taken
