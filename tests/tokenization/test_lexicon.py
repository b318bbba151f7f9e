"""The lexicon against a dictionary of all tokens."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.lexicon import Lexicon
from katapi.runtime.tokenization.tokens import Texts, Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

WORDS = st.text("aé\0😀", max_size=4)


@given(st.lists(WORDS), st.text("aé\0😀x", max_size=20), st.integers(0, 2))
def test_every_place_of_a_text(words: list[str], text: str, skipped: int) -> None:
    ids = {word[skipped:]: 10 * place for place, word in enumerate(words) if len(word) > skipped}
    numbers = 10 * np.arange(len(words))
    lexicon = Lexicon(Texts.of(words), np.arange(len(words)), ids=numbers, skipped=skipped)
    for place in range(len(text) + 1):
        rest = text[place:]
        fitting = {length: ids[rest[:length]] for length in range(1, len(rest) + 1) if rest[:length] in ids}
        row = lexicon.row(text, place)
        found = {length: row.ids.get(rest[:length]) for length in row.lengths}
        longest = max(fitting, default=0)
        assert fitting.items() <= found.items()
        assert [*row.lengths] == sorted({*row.lengths})
        assert lexicon.longest(text, place) == ((fitting[longest], longest) if fitting else None)
        assert lexicon.get(text[place:]) == ids.get(text[place:])


def test_what_text_cannot_yield_is_not_found() -> None:
    data = VocabularyData(Tokens.by_id({0: b"a", 2: b"ab", 3: b""})).hiding({2, 7})
    lexicon = Lexicon.of(data)
    assert [lexicon.get(text) for text in ("a", "ab", "")] == [0, None, None]


def test_texts_without_tokens_take_no_memory() -> None:
    lexicon = Lexicon(Texts.of(["a", "ab"]), np.arange(2))
    for code in range(0x4E00, 0x5000):
        assert lexicon.longest(f"a{chr(code)}", 0) == (0, 1)
        assert lexicon.longest(chr(code), 0) is None
    assert {*lexicon._rows} == {"a"}
