"""Byte-pair encoding by a list of merges: each rule by small examples, and long pieces against short ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.configuration import BytePairMerges
from katapi.runtime.tokenization.merge_queue import SHORT
from katapi.runtime.tokenization.merges import Merges
from tests.vocabularies import merges_of_bytes, merges_of_characters

BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]


PLAIN = BytePairMerges(over_bytes=False)
RULES = BytePairMerges(over_bytes=False, byte_fallback=True)


def characters(tokens: str, merges: str, rules: BytePairMerges = PLAIN, unknown: int | None = None) -> Merges:
    """Tokens have ids from 0 on; a merge is written as its two parts with a `+` between them."""
    ids = {token: number for number, token in enumerate(tokens.split())}
    return merges_of_characters(ids, pairs(merges), rules, unknown)


def pairs(merges: str) -> list[tuple[str, str]]:
    return [(left, right) for left, _, right in (merge.partition("+") for merge in merges.split())]


def test_merges_go_in_the_order_of_the_list_not_of_the_ids() -> None:
    segmenter = characters("a b c ab bc", "b+c a+b")
    assert segmenter.segment("abc") == (0, 4)
    assert characters("a b c ab bc", "a+b b+c").segment("abc") == (3, 2)


def test_a_merge_that_stands_twice_counts_where_it_stands_last() -> None:
    assert characters("a b c ab bc", "a+b b+c a+b").segment("abc") == (0, 4)


def test_a_token_that_no_merge_makes_is_not_made() -> None:
    assert characters("a b c ab abc", "a+b").segment("abc") == (3, 2)


def test_ignore_merges_takes_a_piece_that_is_a_token() -> None:
    segmenter = characters("a b c ab abc", "a+b", BytePairMerges(over_bytes=False, ignore_merges=True))
    assert segmenter.segment("abc") == (4,)
    assert segmenter.segment_ranges("abc") == [(4, 0, 3)]
    assert segmenter.segment("abcc") == (3, 2, 2)


def test_without_an_unknown_token_unknown_characters_are_left_out() -> None:
    segmenter = characters("a b ab", "a+b")
    assert segmenter.segment("axb") == (2,)  # what they stood between then stands side by side
    assert segmenter.segment_ranges("axb") == [(2, 0, 3)]


def test_unknown_characters_alone_and_fused() -> None:
    alone = characters("a ?", "", unknown=1)
    assert alone.segment_ranges("xyaz") == [(1, 0, 1), (1, 1, 2), (0, 2, 3), (1, 3, 4)]
    fused = characters("a ?", "", BytePairMerges(over_bytes=False, fuse_unknown=True), unknown=1)
    assert fused.segment_ranges("xyaz") == [(1, 0, 2), (0, 2, 3), (1, 3, 4)]


def test_byte_fallback_needs_every_byte_of_the_character() -> None:
    segmenter = characters("? <0xC3> <0xA9>", "", RULES, unknown=0)
    assert segmenter.segment_ranges("éè") == [(1, 0, 1), (2, 0, 1), (0, 1, 2)]


def test_bytes_pass_an_unknown_character_that_stands_before_them() -> None:
    segmenter = characters(
        "? <0x41> a", "", BytePairMerges(over_bytes=False, byte_fallback=True, fuse_unknown=True), unknown=0
    )
    assert segmenter.segment("xAya") == (1, 0, 2)
    assert segmenter.segment_ranges("xAya") == [(1, 0, 2), (0, 0, 3), (2, 3, 4)]  # starts and ends never decrease


def test_continuing_prefix_and_word_suffix() -> None:
    rules = BytePairMerges(over_bytes=False, continuing_prefix="##", word_suffix="</w>")
    segmenter = characters("a ##b ##c </w> ##c</w> ##bc</w> a</w> ab", "##b+##c</w> a+##b", rules)
    assert segmenter.segment("abc") == (0, 5)
    assert segmenter.segment("abb") == (7,)  # the last character is ##b</w>, which is no token
    assert segmenter.segment("a") == (6,)


def test_over_bytes() -> None:
    vocabulary = {bytes([byte]): byte for byte in range(256)} | {"é".encode(): 256, b"\xa9a": 257}
    segmenter = merges_of_bytes(vocabulary, [(b"\xa9", b"a"), (b"\xc3", b"\xa9")])
    assert segmenter.segment("éa") == (0xC3, 257)
    assert segmenter.segment_ranges("xéa") == [(ord("x"), 0, 1), (0xC3, 1, 2), (257, 1, 3)]


def test_over_bytes_of_a_piece_that_was_cut_inside_a_character() -> None:
    vocabulary = {bytes([byte]): byte for byte in range(256)} | {"é".encode(): 256}
    segmenter = merges_of_bytes(vocabulary, [(b"\xc3", b"\xa9")])
    assert segmenter.segment("\udcc3a\udca9é") == (0xC3, ord("a"), 0xA9, 256)
    assert segmenter.segment_ranges("\udcc3a\udca9é") == [(0xC3, 0, 1), (ord("a"), 1, 2), (0xA9, 2, 3), (256, 3, 4)]


def test_bytes_that_are_no_tokens_are_left_out() -> None:
    assert merges_of_bytes({b"a": 0, b"b": 1}, []).segment_ranges("aéb") == [(0, 0, 1), (1, 2, 3)]


SPACES = "▁ ▁▁ ▁▁▁▁ a b ab ▁a ▁▁a ▁ab b▁ b▁a".split()
SPACE_MERGES = pairs("▁+▁ ▁▁+▁▁ a+b ▁+a ▁+▁a ▁▁+a ▁+ab ▁a+b b+▁ b▁+a")


def cutting_and_whole(merges: list[tuple[str, str]]) -> tuple[Merges, Merges]:
    """Two of the same tokens and merges: one that may cut pieces, and one that never may, for it lacks a byte."""
    ids = {text: number for number, text in enumerate([*SPACES, *BYTE_TOKENS])}
    lacking = {text: number for text, number in ids.items() if text != "<0x00>"}
    return merges_of_characters(ids, merges, RULES), merges_of_characters(lacking, merges, RULES)


@given(
    st.lists(st.sampled_from(SPACE_MERGES), unique=True),
    st.text("▁▁abé", max_size=40) | st.text("ab▁", min_size=100, max_size=140),
)
def test_cuts_change_nothing(merges: list[tuple[str, str]], piece: str) -> None:
    cutting, whole = cutting_and_whole(merges)
    assert cutting.segment(piece) == whole.segment(piece)
    assert [token for token, _, _ in cutting.segment_ranges(piece)] == list(whole.segment(piece))


def test_nothing_is_cut_where_bytes_take_part_in_merges() -> None:
    """Then a character that no merge has can still be part of one."""
    tokens = ["a", "<0x61>", *BYTE_TOKENS, "▁", "<0xA9>▁"]
    ids = {text: number for number, text in enumerate(tokens)}
    segmenter = merges_of_characters(ids, [("<0xA9>", "▁")], RULES)
    assert segmenter.segment("é▁") == (ids["<0xC3>"], ids["<0xA9>▁"])


@pytest.mark.parametrize(
    "piece",
    ["a" * 200_000, "ab" * 100_000, "▁" * 200_000, "é" * 200_000, "".join(random.Random(5).choices("ab▁", k=200_000))],
)
def test_long_pieces_take_no_quadratic_time(piece: str) -> None:
    cutting, whole = cutting_and_whole(SPACE_MERGES)
    ids = cutting.segment(piece)
    assert ids == whole.segment(piece)
    assert ids[:20] == cutting.segment(piece[:1000])[:20]


def test_merges_that_make_earlier_pairs_take_no_quadratic_time() -> None:
    """Longer tokens come first here, so almost every merge interrupts the merges of a shorter one."""
    tokens = ["a" * length for length in range(1, 33)]
    merges = [("a" * left, "a" * (length - left)) for length in range(32, 1, -1) for left in range(1, length)]
    segmenter = merges_of_bytes(
        {token.encode(): len(token) for token in tokens},
        [(left.encode(), right.encode()) for left, right in merges],
    )
    assert segmenter.segment("a" * 100_000) == (32,) * 3125


def test_the_limit_of_the_short_method_is_crossed_by_these_tests() -> None:
    assert 40 < SHORT < 100
