"""WordPiece: the longest token at each place of a word, or one unknown token."""

from __future__ import annotations

import pytest

from katapi.runtime.tokenization.wordpiece import WordPiece
from tests.vocabularies import words

IDS = {"[UNK]": 0, "ba": 1, "##na": 2, "nab": 3, "na": 4, "##nab": 5, "##u": 6, "##": 7}


def segmenter(continuing_prefix: str = "##") -> WordPiece:
    return WordPiece(words(IDS), unknown=0, continuing_prefix=continuing_prefix, longest_word=10)


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("", []),
        ("banana", [(1, 0, 2), (2, 2, 4), (2, 4, 6)]),
        ("banabu", [(1, 0, 2), (5, 2, 5), (6, 5, 6)]),
        ("banab", [(1, 0, 2), (5, 2, 5)]),
        ("nana", [(4, 0, 2), (2, 2, 4)]),
        ("##na", [(2, 0, 4)]),  # a word may spell the prefix
        ("baxna", [(0, 0, 5)]),  # a place where nothing fits makes the whole word unknown
        ("ba##", [(0, 0, 4)]),
        ("x", [(0, 0, 1)]),
        ("ba" + "na" * 4, [(1, 0, 2), *((2, at, at + 2) for at in (2, 4, 6, 8))]),
        ("ba" + "na" * 5, [(0, 0, 12)]),  # longer than the longest word
    ],
)
def test_segment(word: str, tokens: list[tuple[int, int, int]]) -> None:
    assert segmenter().segment_ranges(word) == tokens
    assert segmenter().segment(word) == tuple(token for token, _, _ in tokens)


def test_without_a_prefix_all_tokens_continue_words() -> None:
    assert segmenter("").segment("bana") == (1, 4)
