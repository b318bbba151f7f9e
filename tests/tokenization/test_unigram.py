"""Unigram segmentation: the highest score, ties, unknown characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import TokenizerError
from tests.vocabularies import unigram

TOKENS = [("?", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5), ("ba", -2.0), ("é", -3.0), ("bab", -3.5)]
SEGMENTER = unigram(TOKENS, unknown=0, unreachable={0})


def segmentations(text: str) -> list[tuple[float, tuple[int, ...]]]:
    """Every way to cut `text` into tokens, each with its score."""
    if not text:
        return [(0.0, ())]
    return [
        (total + score, (*ids, token))
        for token, (spelling, score) in enumerate(TOKENS)
        if token and text.endswith(spelling)
        for total, ids in segmentations(text.removesuffix(spelling))
    ]


@given(st.text("abé", max_size=12))
def test_no_segmentation_scores_higher(text: str) -> None:
    ids = SEGMENTER.segment(text)
    assert "".join(TOKENS[token][0] for token in ids) == text
    assert sum(TOKENS[token][1] for token in ids) == max(segmentations(text))[0]


@given(st.text("abé😀中?", max_size=12))
def test_ranges_follow_one_another(text: str) -> None:
    position = 0
    for token, start, end in SEGMENTER.segment_ranges(text):
        assert start == position < end
        assert token == 0 or text[start:end] == TOKENS[token][0]
        position = end
    assert position == len(text)


def test_of_equal_scores_the_one_whose_last_token_begins_first_stays() -> None:
    tokens = [("?", 0.0), ("a", -1.0), ("aa", -2.0), ("aaa", -3.0)]
    assert unigram(tokens, unknown=0).segment("aaaa") == (1, 3)


def test_unknown_neighbours_are_one_token() -> None:
    assert SEGMENTER.segment_ranges("x中a?y") == [(0, 0, 2), (1, 2, 3), (0, 3, 5)]


def test_a_token_that_is_reachable_by_its_spelling_counts() -> None:
    assert unigram(TOKENS, unknown=0).segment_ranges("a?") == [(1, 0, 1), (0, 1, 2)]
    hidden = unigram(TOKENS, unknown=0, unreachable={0, 4})
    assert hidden.segment("ba") == (2, 1)


def test_an_unknown_character_costs_ten_more_than_the_worst_token() -> None:
    """So `a` and an unknown `x` score 12 - 10 here."""
    worse, better = (unigram([("?", 0.0), ("a", 12.0), ("ax", score)], unknown=0) for score in (1.5, 2.5))
    assert worse.segment("ax") == (1, 0)
    assert better.segment("ax") == (2,)


def test_unknown_characters_that_spell_a_token_together_are_that_token() -> None:
    assert unigram([("?", 30.0), ("xy", 30.0)], unknown=0).segment("xy") == (1,)


def test_byte_fallback_takes_a_whole_run_or_nothing() -> None:
    tokens = [("?", 0.0), ("a", -1.0), ("<0xC3>", 0.0), ("<0xA9>", 0.0)]
    segmenter = unigram(tokens, unknown=0, byte_fallback=True)
    assert segmenter.segment_ranges("aéé") == [(1, 0, 1), (2, 1, 2), (3, 1, 2), (2, 2, 3), (3, 2, 3)]
    assert segmenter.segment_ranges("aéèa") == [(1, 0, 1), (0, 1, 3), (1, 3, 4)]


def test_the_later_of_two_equal_tokens_counts() -> None:
    assert unigram([("?", 0.0), ("a", 1.0), ("a", -1.0)], unknown=0).segment("a") == (2,)


def test_without_an_unknown_token_an_unknown_character_is_an_error() -> None:
    segmenter = unigram([("a", -1.0)], unknown=None)
    assert segmenter.segment("aa") == (0, 0)
    with pytest.raises(TokenizerError, match=r"V107.*U\+4E2D"):
        segmenter.segment("a中")


@pytest.mark.parametrize("text", ["a" * 200_000, "ab" * 100_000, "x" * 200_000])
def test_long_pieces_take_linear_time(text: str) -> None:
    assert SEGMENTER.segment_ranges(text)[-1][2] == len(text)
