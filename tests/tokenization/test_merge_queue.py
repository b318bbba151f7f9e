"""Both ways to merge a piece, against each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.merge_queue import NO_MERGE, cuts_of_short, merge_all

RANKS = st.dictionaries(st.text("abé", min_size=2, max_size=5), st.integers(0, 9), max_size=30)


@given(RANKS, st.text("abé", max_size=40))
def test_both_ways_agree(ranks: dict[str, int], piece: str) -> None:
    places = merge_all([*piece], lambda left, right: ranks.get(left + right, NO_MERGE))
    assert cuts_of_short(piece, ranks.get) == [*places, len(piece)]


def test_the_leftmost_of_the_lowest_pairs_goes_first() -> None:
    assert cuts_of_short(b"aaab", {b"aa": 1, b"ab": 1, b"aaab": 0}.get) == [0, 4]
    assert cuts_of_short("aaab", {"aa": 1, "ab": 0}.get) == [0, 2, 4]
