"""Where a text can be cut because no merge crosses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.seams import Seams, character_pairs


def seams(meeting: set[str]) -> Seams:
    left, right = (np.array([ord(pair[side]) for pair in meeting], dtype=np.int32) for side in (0, 1))
    return Seams(character_pairs(left, right))


ALPHABET = "ab▁]^-\\é\n"


@given(st.sets(st.text(ALPHABET, min_size=2, max_size=2)), st.text(ALPHABET, max_size=100))
def test_no_pair_that_meets_in_a_merge_is_cut(meeting: set[str], text: str) -> None:
    parts = seams(meeting).cut(text)
    assert "".join(parts) == text
    assert all(parts)
    assert not {left[-1] + right[0] for left, right in pairwise(parts)} & meeting


def test_words_are_cut_before_spaces() -> None:
    assert seams({"▁▁", "▁a", "aa"}).cut("aa▁▁aa▁b\n▁") == ["aa", "▁▁aa", "▁b\n", "▁"]
    assert seams({"▁a", "aa", "b▁"}).cut("▁▁a▁ab▁▁") == ["▁", "▁a", "▁ab▁", "▁"]


def test_long_words_are_cut_inside() -> None:
    assert seams({"ab"}).cut("ab" * 40) == ["ab"] * 40
    assert seams({"ab", "ba"}).cut("ab" * 40) == ["ab" * 40]
