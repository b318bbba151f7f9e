"""Numbers and layouts, held against the slow definitions of both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from katapi.runtime.images.arrays import Join, extended, filled, integers, short_integers, within
from katapi.runtime.images.picture import Picture, Size, outline
from katapi.runtime.images.pixels import Normalization, flat_patches, merged_patches, patches, planes, strips
from tests.images.pictures import PLAIN, noise, picture

CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
parameters = st.tuples(*[st.floats(0.1, 0.9)] * 3)
grids = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5))


@given(mean=parameters, std=parameters)
def test_the_table_is_that_of_the_arithmetic_step_by_step(
    mean: tuple[float, float, float], std: tuple[float, float, float]
) -> None:
    table = Normalization(1 / 255, mean, std).table
    assert table.dtype == np.float32
    for channel in range(3):
        for value in (0, 1, 77, 254, 255):
            number = (np.float32(value * (1 / 255)) - np.float32(mean[channel])) / np.float32(std[channel])
            assert table[channel, value] == number


def test_without_mean_and_deviation_the_product_is_all() -> None:
    assert np.array_equal(PLAIN.table[1], np.arange(256))
    assert Normalization(1 / 255).table[2, 51] == np.float32(0.2)


def _numbers(pictures: list[Picture]) -> list[NDArray[np.float32]]:
    table = Normalization(1 / 255, *CLIP).table
    channels = np.arange(3)[:, None, None]
    return [table[channels, each.pixels.transpose(2, 0, 1)] for each in pictures]


NUMBERS = Normalization(1 / 255, *CLIP)


@given(count=st.integers(1, 3), height=st.integers(1, 9), width=st.integers(1, 9))
def test_planes(count: int, height: int, width: int) -> None:
    pictures = [picture(noise(height, width) + np.uint8(i)) for i in range(count)]
    assert np.array_equal(planes(pictures, NUMBERS), np.stack(_numbers(pictures)))


@given(grids)
def test_patches_row_by_row(grid: tuple[int, int, int]) -> None:
    rows, columns, side = grid
    source = picture(noise(rows * side, columns * side))
    numbers = _numbers([source])[0]
    cut = [
        numbers[:, row * side : (row + 1) * side, column * side : (column + 1) * side]
        for row in range(rows)
        for column in range(columns)
    ]
    assert np.array_equal(patches(source, side, NUMBERS), np.stack(cut))
    flat = [patch.transpose(1, 2, 0).reshape(-1) for patch in cut]
    assert np.array_equal(flat_patches(source, side, NUMBERS), np.stack(flat))


@given(grids, st.integers(1, 3), st.integers(1, 3))
def test_merged_patches_stand_block_by_block(grid: tuple[int, int, int], merge: int, frames: int) -> None:
    rows, columns, side = grid
    source = picture(noise(rows * side * merge, columns * side * merge))
    numbers = _numbers([source])[0]
    expected = []
    for row in range(rows):
        for column in range(columns):
            for inner in range(merge * merge):
                top = (row * merge + inner // merge) * side
                left = (column * merge + inner % merge) * side
                patch = numbers[:, top : top + side, left : left + side]
                expected.append(np.repeat(patch[:, None], frames, axis=1).reshape(-1))
    assert np.array_equal(merged_patches(source, side, merge, frames, NUMBERS), np.stack(expected))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=3), st.integers(1, 4))
def test_strips_are_patches_side_by_side(shapes: list[tuple[int, int]], side: int) -> None:
    pictures = [picture(noise(rows * side, columns * side)) for rows, columns in shapes]
    all_patches = np.concatenate([patches(each, side, NUMBERS) for each in pictures])
    assert np.array_equal(strips(pictures, side, NUMBERS), np.concatenate(list(all_patches), axis=2))


def test_outlines_give_arrays_of_the_same_shape() -> None:
    source, shape = picture(noise(12, 24)), outline(Size(12, 24), 10**6)
    for real, seen in (
        (planes([source], NUMBERS), planes([shape], NUMBERS)),
        (patches(source, 6, NUMBERS), patches(shape, 6, NUMBERS)),
        (flat_patches(source, 6, NUMBERS), flat_patches(shape, 6, NUMBERS)),
        (merged_patches(source, 3, 2, 2, NUMBERS), merged_patches(shape, 3, 2, 2, NUMBERS)),
        (strips([source, source], 6, NUMBERS), strips([shape, shape], 6, NUMBERS)),
    ):
        assert (seen.shape, seen.dtype) == (real.shape, real.dtype)
        assert not seen.any()


def test_what_does_not_fit_is_an_error_of_the_one_who_wrote_the_pipeline() -> None:
    with pytest.raises(ValueError, match="no grid of squares of 5"):
        patches(picture(noise(10, 12)), 5, NUMBERS)
    with pytest.raises(ValueError, match="one size, not 2 × 2, 2 × 3"):
        planes([picture(noise(2, 2)), picture(noise(2, 3))], NUMBERS)
    with pytest.raises(ValueError, match="one size, not none"):
        planes([], NUMBERS)


def test_whole_numbers_and_filling_up() -> None:
    assert (integers([[1, 2]]).dtype.name, integers([[1, 2]]).tolist()) == ("int64", [[1, 2]])
    assert (short_integers([3]).dtype.name, short_integers([3]).tolist()) == ("int32", [3])
    assert filled(1, [2, 1]).tolist() == [[1], [1]]
    rows = integers([[1, 2], [3, 4]])
    assert extended(rows, 4, -1).tolist() == [[1, 2], [3, 4], [-1, -1], [-1, -1]]
    assert extended(rows, 2) is rows
    assert within(rows, 2).shape == (1, 1, 2, 2)


def test_joining_along_an_axis() -> None:
    one, two = integers([[1, 2]]), integers([[3, 4]])
    assert Join()([one, two]).tolist() == [[1, 2], [3, 4]]
    assert Join(1)([one, two]).tolist() == [[1, 2, 3, 4]]
    assert Join()([one]) is one
    with pytest.raises(ValueError, match="match exactly"):
        Join()([one, integers([[5]])])


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4))
def test_joining_with_filling_up(shapes: list[tuple[int, int, int]]) -> None:
    arrays = [np.full(shape, number + 1, np.int64) for number, shape in enumerate(shapes)]
    joined = Join(0, fill=-1)(arrays)
    assert joined.shape == (sum(s[0] for s in shapes), max(s[1] for s in shapes), max(s[2] for s in shapes))
    at = 0
    for array in arrays:
        part = joined[at : at + len(array)]
        assert np.array_equal(part[:, : array.shape[1], : array.shape[2]], array)
        assert (part == -1).sum() == part.size - array.size
        at += len(array)
