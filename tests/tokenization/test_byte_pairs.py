"""Byte-pair encoding by ranks, against its definition in its slowest form."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.byte_pairs import BytePairs
from katapi.runtime.tokenization.merge_queue import SHORT
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

BYTES = [bytes([byte]) for byte in range(256)]


def engine(*words: bytes) -> BytePairs:
    """The 256 bytes, then `words` in order of rank."""
    return BytePairs(VocabularyData(Tokens.of([*BYTES, *words])))


def by_definition(piece: str, words: list[bytes]) -> list[bytes]:
    ranks = {token: rank for rank, token in enumerate([*BYTES, *words])}
    data = piece.encode()
    if data in ranks:
        return [data]
    parts = [bytes([byte]) for byte in data]
    while True:
        pairs = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not pairs:
            return parts
        _, left = min(pairs)
        parts[left : left + 2] = [parts[left] + parts[left + 1]]


@st.composite
def vocabularies(draw: st.DrawFn) -> list[bytes]:
    """Words over three letters, in any order: shorter ones need not have the lower rank, as they do after training."""
    words = draw(st.lists(st.text("abé", min_size=2, max_size=5).map(str.encode), unique=True, max_size=30))
    return words if draw(st.booleans()) else sorted(words, key=len)


@given(vocabularies(), st.text("abé", min_size=1, max_size=40))
def test_short_pieces(words: list[bytes], piece: str) -> None:
    segmented = [[*BYTES, *words][token] for token in engine(*words).segment(piece)]
    assert segmented == by_definition(piece, words)


@given(vocabularies(), st.text("abé", min_size=60, max_size=200))
def test_long_pieces(words: list[bytes], piece: str) -> None:
    segmented = [[*BYTES, *words][token] for token in engine(*words).segment(piece)]
    assert segmented == by_definition(piece, words)


def test_the_leftmost_of_equal_pairs_goes_first() -> None:
    assert engine(b"aa").segment("aaa") == (256, ord("a"))
    assert engine(b"aa").segment("a" * 201) == (256,) * 100 + (ord("a"),)


@given(vocabularies(), st.text("abé中", min_size=1, max_size=40))
def test_ranges_are_the_characters_that_a_token_touches(words: list[bytes], piece: str) -> None:
    pairs = engine(*words)
    ranges = pairs.segment_ranges(piece)
    assert tuple(token for token, _, _ in ranges) == pairs.segment(piece)
    place = 0  # in bytes
    for token, start, end in ranges:
        place_behind = place + len([*BYTES, *words][token])
        touched = [
            at
            for at in range(len(piece))
            if len(piece[:at].encode()) < place_behind and len(piece[: at + 1].encode()) > place
        ]
        assert [*range(start, end)] == touched
        place = place_behind


def test_a_piece_that_was_cut_inside_a_character() -> None:
    assert engine("é".encode()).segment_ranges("\udca9é") == [(0xA9, 0, 1), (256, 1, 2)]


def test_a_piece_that_is_a_token_needs_no_merges() -> None:
    assert engine(b"abc").segment("abc") == (256,)  # neither ab nor bc is a token
    assert engine(b"abc").segment("abcd") == tuple(b"abcd")


@pytest.mark.parametrize(
    "piece", ["a" * 200_000, "ab" * 100_000, "中" * 60_000, "".join(random.Random(5).choices("ab", k=200_000))]
)
def test_long_pieces_take_no_quadratic_time(piece: str) -> None:
    words = [b"aa", b"aaaa", b"aaaaaaaa", b"ab", b"abab", "中".encode()[:2], "中".encode(), "中中".encode()]
    tokens = [*BYTES, *words]
    assert b"".join(tokens[token] for token in engine(*words).segment(piece)) == piece.encode()


def test_all_bytes_are_needed() -> None:
    with pytest.raises(ArtifactError, match=r"A105.*0x07"):
        BytePairs(VocabularyData(Tokens.by_id({byte: bytes([byte]) for byte in range(256) if byte != 7})))


def test_the_limit_of_the_short_method_is_crossed_by_these_tests() -> None:
    assert 40 * len("é".encode()) < SHORT < 200
