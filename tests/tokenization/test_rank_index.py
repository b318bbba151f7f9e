"""The ranks of tokens: the same before and after the whole dictionary is made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.rank_index import RankIndex
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

TOKENS = st.lists(st.binary(min_size=1, max_size=4), unique=True, max_size=60)
ASKED = st.lists(st.binary(min_size=1, max_size=4), max_size=30)


@given(TOKENS, ASKED, st.sets(st.integers(0, 59)))
def test_it_finds_what_is_there_and_nothing_else(tokens: list[bytes], asked: list[bytes], hidden: set[int]) -> None:
    data = VocabularyData(Tokens.of(tokens), unreachable=frozenset(hidden))
    index = RankIndex(data)
    expected = {token: number for number, token in enumerate(tokens) if number not in hidden}
    for token in [*asked, *tokens]:
        assert index.getter()(token, -1) == expected.get(token, -1)
    singles = {token[0] for token in expected if len(token) == 1}
    assert data.missing_bytes() == [byte for byte in range(256) if byte not in singles]


def test_after_many_rows_there_is_one_dictionary() -> None:
    tokens = [bytes([first, second]) for first in range(2) for second in range(256)]
    index = RankIndex(VocabularyData(Tokens.of(tokens)))
    assert [index.getter()(token, -1) for token in tokens] == [*range(512)]
    assert index.getter()(b"absent", -1) == -1
    assert index.getter() == index._data.ranks.get
