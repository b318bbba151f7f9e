"""The table of merges against a dictionary of pairs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.merge_table import MergeTable
from katapi.runtime.tokenization.vocabulary_data import merge_array

IDS = st.integers(0, 5) | st.just(2**31 - 1)


@given(st.lists(st.tuples(st.integers(0, 5), IDS, IDS)))
def test_every_pair(merges: list[tuple[int, int, int]]) -> None:
    ranks = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
    table = MergeTable(merge_array(merges))
    for left in [*range(8), 2**40]:
        for right in [*range(8), 2**31 - 1, 2**40]:
            assert table[left].get(right) == ranks.get((left, right))
    assert [*table.merged] == [result for _, _, result in merges]
