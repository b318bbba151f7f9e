"""Packed rows: what is packed comes out again, nothing is split, and the mask joins what belongs together."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import katapi
from katapi import ModelInput, Sample, TokenizerError
from katapi.runtime.tensors.first_fit import first_fit_decreasing, in_order
from katapi.runtime.tensors.packed import Method
from tests.tensors.drawn import SAMPLES

METHODS: list[Method] = ["first_fit_decreasing", "in_order"]


@given(samples=SAMPLES)
def test_unpack_of_pack_is_the_sample(samples: list[ModelInput | Sample]) -> None:
    row = katapi.pack(samples)
    expected: list[tuple[NDArray[np.int64] | NDArray[np.int32], list[list[int]]]] = [
        (row.input_ids, [sample.input_ids.tolist() for sample in samples]),
        (row.labels, [sample.labels.tolist() for sample in samples]),
        (row.position_ids, [[*range(len(sample))] for sample in samples]),
        (row.sequence_ids, [[index] * len(sample) for index, sample in enumerate(samples)]),
    ]
    for array, parts in expected:
        assert [part.tolist() for part in row.unpack(array)] == parts
    assert row.samples == tuple(range(len(samples)))
    assert np.diff(row.cu_seqlens).tolist() == row.lengths.tolist() == [len(sample) for sample in samples]
    assert row.cu_seqlens[0] == 0
    assert row.max_length == max(map(len, samples))


@given(samples=SAMPLES)
def test_types_and_memory(samples: list[ModelInput | Sample]) -> None:
    row = katapi.pack(samples)
    for array in (row.input_ids, row.position_ids, row.labels, row.cu_seqlens, row.lengths):
        assert array.dtype == (np.int32 if array is row.cu_seqlens else np.int64)
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.owndata


@given(samples=SAMPLES)
def test_a_token_attends_to_what_stands_before_it_in_its_sample(samples: list[ModelInput | Sample]) -> None:
    row = katapi.pack(samples)
    sample, position = row.sequence_ids, row.position_ids
    mask = row.attention_mask()
    assert mask.dtype == np.bool_
    for query in range(len(row.input_ids)):
        for key in range(len(row.input_ids)):
            assert mask[query, key] == (sample[query] == sample[key] and position[key] <= position[query])


@given(samples=SAMPLES, room=st.integers(0, 20), method=st.sampled_from(METHODS))
def test_rows_hold_every_sample_once_and_whole(samples: list[ModelInput | Sample], room: int, method: Method) -> None:
    most = max(map(len, samples)) + room
    rows = katapi.pack_rows(samples, most, method)
    assert sorted(index for row in rows for index in row.samples) == [*range(len(samples))]
    for row in rows:
        assert 0 < len(row.input_ids) <= most
        expected = [samples[index].input_ids.tolist() for index in row.samples]
        assert [part.tolist() for part in row.unpack(row.input_ids)] == expected
    if method == "in_order":
        assert [index for row in rows for index in row.samples] == [*range(len(samples))]


LENGTHS = st.lists(st.integers(1, 20), max_size=30)


@given(lengths=LENGTHS, capacity=st.integers(20, 60))
def test_first_fit_is_what_looking_at_every_row_gives(lengths: list[int], capacity: int) -> None:
    rows: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        for row in rows:
            if sum(lengths[other] for other in row) + lengths[index] <= capacity:
                row.append(index)
                break
        else:
            rows.append([index])
    assert first_fit_decreasing(lengths, capacity) == sorted(sorted(row) for row in rows)


@given(lengths=LENGTHS, capacity=st.integers(20, 60))
def test_in_order_begins_a_row_only_where_the_next_does_not_fit(lengths: list[int], capacity: int) -> None:
    rows = in_order(lengths, capacity)
    assert [index for row in rows for index in row] == [*range(len(lengths))]
    sums = [sum(lengths[index] for index in row) for row in rows]
    assert all(total <= capacity for total in sums)
    assert all(total + lengths[row[0]] > capacity for total, row in zip(sums, rows[1:], strict=False))


def test_packing_takes_time_in_proportion() -> None:
    random = np.random.default_rng(1)
    lengths = random.integers(1, 4096, 50_000).tolist()
    begin = time.monotonic()
    rows = first_fit_decreasing(lengths, 8192)
    assert time.monotonic() - begin < 10  # looking at every row would take minutes
    assert len(rows) <= sum(lengths) / 8192 * 11 / 9 + 1


def test_an_example() -> None:
    samples = [Sample.of([10, 11, 12], [True] * 3), Sample.of([20], [True]), Sample.of([30, 31], [True] * 2)]
    row = katapi.pack(samples)
    assert row.input_ids.tolist() == [10, 11, 12, 20, 30, 31]
    assert row.position_ids.tolist() == [0, 1, 2, 0, 0, 1]
    assert row.labels.tolist() == [-100, 11, 12, -100, -100, 31]
    assert row.cu_seqlens.tolist() == [0, 3, 4, 6]
    assert row.attention_mask().astype(int).tolist() == [
        [1, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 1],
    ]
    assert [row.samples for row in katapi.pack_rows(samples, 4)] == [(0, 1), (2,)]
    assert [row.samples for row in katapi.pack_rows(samples, 5)] == [(0, 2), (1,)]
    assert [row.samples for row in katapi.pack_rows(samples, 5, "in_order")] == [(0, 1), (2,)]


def test_no_sample_is_split() -> None:
    with pytest.raises(TokenizerError) as caught:
        katapi.pack_rows([Sample.of([1]), Sample.of([1, 2, 3])], 2)
    assert (caught.value.code, caught.value.where) == ("V125", "input 1")
    with pytest.raises(ValueError, match="not 'best'"):
        katapi.pack_rows([Sample.of([1])], 2, "best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"shape \[2\] is expected"):
        katapi.pack([Sample.of([1, 2])]).unpack(np.zeros(3))
