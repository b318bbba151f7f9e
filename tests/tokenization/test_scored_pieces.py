"""Byte-pair encoding by scores, against its definition in its slowest form."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.merge_queue import SHORT
from katapi.runtime.tokenization.scored_pieces import ScoredPieces
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array

UNKNOWN = 0
LETTERS = "ab▁é"


def segmenter(scores: dict[str, float], *, byte_fallback: bool = False) -> ScoredPieces:
    """The unknown token, then the tokens in the order of the dictionary."""
    data = VocabularyData(
        Tokens.of([b"<unk>", *[text.encode() for text in scores]]), scores=score_array([0.0, *scores.values()])
    )
    return ScoredPieces(data, unknown=UNKNOWN, byte_fallback=byte_fallback)


def by_definition(piece: str, scores: dict[str, float]) -> list[int]:
    ids = {text: token for token, text in enumerate(scores, 1)}
    parts = [*piece]
    while pairs := [(-scores[a + b], place) for place, (a, b) in enumerate(pairwise(parts)) if a + b in scores]:
        _, left = min(pairs)
        parts[left : left + 2] = [parts[left] + parts[left + 1]]
    found = [ids.get(part, UNKNOWN) for part in parts]
    return [token for place, token in enumerate(found) if not (token == UNKNOWN and found[:place][-1:] == [UNKNOWN])]


SCORES = st.dictionaries(
    st.text(LETTERS, min_size=1, max_size=5), st.sampled_from([0.0, -0.5, -1.0, -2.0, 3.0]), max_size=30
)


@given(SCORES, st.lists(st.text(LETTERS + "x", max_size=40), max_size=4))
def test_short_pieces(scores: dict[str, float], pieces: list[str]) -> None:
    pieces_of = segmenter(scores)
    for piece in pieces:
        expected = by_definition(piece, scores)
        assert [*pieces_of.segment(piece)] == expected
        assert [token for token, _, _ in pieces_of.segment_ranges(piece)] == expected


@given(SCORES, st.text(LETTERS + "x", min_size=SHORT - 2, max_size=2 * SHORT))
def test_long_pieces(scores: dict[str, float], piece: str) -> None:
    assert [*segmenter(scores).segment(piece)] == by_definition(piece, scores)


@pytest.mark.parametrize("letters", [257, 70_000])
def test_ranks_of_many_tokens(letters: int) -> None:
    """Of vocabularies whose ranks take one byte, two, or more."""
    singles = [chr(code) for code in range(0x400, 0x400 + letters) if not 0xD800 <= code < 0xE000]
    pairs = [left + right for left, right in pairwise(singles[:200])]
    scores = {text: float(-place) for place, text in enumerate([*singles, *reversed(pairs)])}
    first, second, third = singles[:3]
    ids = {text: token for token, text in enumerate(scores, 1)}
    assert segmenter(scores).segment(first + second + third) == (ids[first], ids[second + third])
