"""The index of tokens and the lexicon against a dictionary of all tokens."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from katapi.runtime.tokenization.lexicon import Lexicon
from katapi.runtime.tokenization.token_index import TokenIndex
from katapi.runtime.tokenization.tokens import Texts, Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

LETTERS = "aé▁\0😀"
WORDS = st.text(LETTERS, max_size=4)


def texts_of(words: list[str]) -> Texts:
    return Tokens.of(word.encode() for word in words).texts()


def all_of(words: list[str]) -> NDArray[np.int32]:
    return np.arange(len(words), dtype=np.int32)


@given(st.lists(WORDS), st.lists(st.text(LETTERS + "x", max_size=20)), st.sampled_from(["", "#", "é#"]))
def test_every_place_of_some_texts(words: list[str], texts: list[str], prefix: str) -> None:
    ids = {word: token for token, word in enumerate(words) if word}
    lexicon = Lexicon(texts_of([prefix + word for word in words]), all_of(words), prefix=prefix)
    for text in texts:
        for place in range(len(text) + 1):
            rest = text[place:]
            fitting = {length: ids[rest[:length]] for length in range(1, len(rest) + 1) if rest[:length] in ids}
            lengths = lexicon.lengths[rest[:2]]
            found = {length: lexicon.met.get(rest[:length]) for length in lengths}
            longest = max(fitting, default=0)
            assert fitting.items() <= found.items()
            assert [*lengths] == sorted({*lengths})
            assert lexicon.longest(text, place) == ((fitting[longest], longest) if fitting else None)


@given(st.lists(WORDS), st.lists(st.text(LETTERS + "x", min_size=1, max_size=4)))
def test_texts_one_by_one(words: list[str], texts: list[str]) -> None:
    ids = {word: token for token, word in enumerate(words)}
    index = TokenIndex(texts_of(words), all_of(words))
    assert [index.get(text) for text in texts] == [ids.get(text) for text in texts]


@given(st.lists(WORDS), st.lists(st.text(LETTERS + "x", max_size=20)))
def test_all_tokens_within_a_text_have_been_met(words: list[str], texts: list[str]) -> None:
    ids = {word: token for token, word in enumerate(words) if word}
    index = TokenIndex(texts_of(words), all_of(words))
    for text in texts:
        index.meet(text)
        assert {word: token for word, token in ids.items() if word in text}.items() <= index.met.items() <= ids.items()


@given(st.binary(max_size=30), st.binary(min_size=1, max_size=3))
def test_letters_that_are_bytes(joined: bytes, text: bytes) -> None:
    tokens = [joined[place : place + 3] for place in range(0, len(joined), 3)]
    index = TokenIndex(Tokens.of(tokens).letters(), np.arange(len(tokens), dtype=np.int32))
    ids = {token: place for place, token in enumerate(tokens)}
    assert index.get(text.decode("latin-1")) == ids.get(text)


def test_what_text_cannot_yield_is_not_found() -> None:
    data = VocabularyData(Tokens.by_id({0: b"a", 2: b"ab", 3: b""})).hiding({2, 7})
    index = TokenIndex.of(data)
    assert [index.get(text) for text in ("a", "ab", "b")] == [0, None, None]


def test_texts_without_tokens_take_no_memory() -> None:
    lexicon = Lexicon(texts_of(["a", "ab"]), all_of(["a", "ab"]))
    for code in range(0x4E00, 0x9000):
        assert lexicon.longest(f"a{chr(code)}", 0) == (0, 1)
        assert lexicon.longest(chr(code), 0) is None
    assert {*lexicon.met} == {"a"}
    assert {*lexicon.lengths} == {"a"}
    assert len(lexicon._waiting) <= 1 << 13
