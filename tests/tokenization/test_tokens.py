"""Tokens in one piece of memory: bytes, texts, gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import ArtifactError, TokenizerError
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


@given(st.dictionaries(st.integers(0, 30), st.binary(max_size=4)))
def test_bytes_by_id(spelled: dict[int, bytes]) -> None:
    tokens = Tokens.by_id(spelled)
    assert len(tokens) == max(spelled, default=-1) + 1
    assert [*tokens] == [*tokens[:]] == [spelled.get(token, b"") for token in range(len(tokens))]
    assert [token for token in range(-1, 32) if tokens.has(token)] == sorted(spelled)


@given(st.lists(st.text(max_size=4)))
def test_texts(texts: list[str]) -> None:
    read = Tokens.of(text.encode() for text in texts).texts()
    assert read.lengths().tolist() == [*map(len, texts)]
    chosen = np.arange(len(texts)) % 2 == 0
    assert read.ids(chosen) == {text: token for token, text in enumerate(texts) if token % 2 == 0}


@given(st.text(st.sampled_from("a\x7f\x80\xff߿ࠀ▁�\U00010000\U0010ffff"), max_size=20))
def test_code_points_by_place(text: str) -> None:
    read = Tokens.of(character.encode() for character in text).texts()
    codes, following = read.codes_at(read.bounds[:-1])
    assert codes.tolist() == read.codes_before(read.bounds[1:]).tolist() == [*map(ord, text)]
    assert following.tolist() == read.bounds[1:].tolist()


def test_a_token_far_behind_is_no_text() -> None:
    with pytest.raises(ArtifactError, match="A110: the token 5000 "):
        Tokens.of([b"a"] * 5000 + [b"\xff"]).texts()


@pytest.mark.parametrize(
    ("tokens", "wrong"),
    [
        ([b"a", b"\xc3"], 1),
        ([b"a", b"", b"\xff", b"b"], 2),
        (["é".encode()[:1], "é".encode()[1:]], 1),  # a character that two tokens share
    ],
)
def test_tokens_that_are_no_text(tokens: list[bytes], wrong: int) -> None:
    with pytest.raises(ArtifactError, match=f"A110: the token {wrong} "):
        Tokens.of(tokens).texts()
    assert [*Tokens.of(tokens).letters().ids(np.ones(len(tokens), dtype=np.bool_))] == [
        token.decode("latin-1") for token in tokens
    ]


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_out_of_range(index: int) -> None:
    with pytest.raises(IndexError):
        Tokens.of([b"a", b"b"])[index]


def test_byte_tokens() -> None:
    data = VocabularyData(Tokens.of([b"<0x41>", b"x<0x42", b"<0x4a>", b"<0x41>", b"<0x0A>"]))
    assert {byte: token for byte, token in enumerate(data.byte_tokens) if token is not None} == {0x41: 3, 0x0A: 4}


def test_a_vocabulary_knows_gaps_and_control_tokens_of_the_table() -> None:
    vocabulary = Vocabulary(table=Tokens.by_id({0: b"a", 1: b"<s>", 3: b""}), control={1: "<s>", 5: "<x>"})
    assert [vocabulary.bytes_of(token) for token in (0, 1, 3, 5)] == [b"a", b"<s>", b"", b"<x>"]
    assert vocabulary.size == 6
    for token in (2, 4, 6):
        with pytest.raises(TokenizerError, match="V102"):
            vocabulary.bytes_of(token)
