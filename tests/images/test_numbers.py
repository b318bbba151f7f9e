"""The ways in which other processors make numbers of pixels, and masks of tiles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.images.libraries import tile_masks
from katapi.runtime.images.numbers import BfloatNormalization, FoldedNormalization, RealNormalization, bfloat16
from katapi.runtime.images.picture import Size
from katapi.runtime.images.pixels import Normalization
from tests.images.patterns import digest

MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (FoldedNormalization(1 / 255, MEAN, STD), "29a746f2a7d5a596"),
        (BfloatNormalization(1 / 255, MEAN, STD), "9b86197ed8e52a71"),
        (RealNormalization(255.0, MEAN, STD), "5d23c0b115c373c7"),
    ],
)
def test_a_table_is_what_the_libraries_compute(numbers: Normalization, expected: str) -> None:
    assert numbers.table.shape == (3, 256)
    assert numbers.table.dtype == np.float32
    assert digest(numbers.table) == expected


def test_orders_of_the_arithmetic_differ_in_their_last_bits_alone() -> None:
    plain = Normalization(1 / 255, MEAN, STD).table
    folded = FoldedNormalization(1 / 255, MEAN, STD).table
    assert (plain != folded).any()
    assert np.abs(plain - folded).max() < 1e-6
    assert np.abs(plain - BfloatNormalization(1 / 255, MEAN, STD).table).max() < 0.03


def test_without_mean_and_deviation_a_number_is_rescaled_alone() -> None:
    assert FoldedNormalization(1 / 255).table[0].tolist() == [np.float32(x) / np.float32(255) for x in range(256)]
    assert RealNormalization(2.0).table[2, 7] == 3.5
    assert BfloatNormalization(1.0).table[1].tolist() == list(range(256))


def test_each_way_says_what_it_is() -> None:
    said = [
        numbers.to_json()
        for numbers in (FoldedNormalization(1 / 255, MEAN, STD), BfloatNormalization(), RealNormalization())
    ]
    assert said[0] == {
        "rescale": 1 / 255,
        "mean": list(MEAN),
        "std": list(STD),
        "arithmetic": "float32, rescale folded into mean and std",
    }
    assert len({str(one["arithmetic"]) for one in said}) == 3
    assert [one.get("type") for one in said] == [None, "bfloat16, held as float32", None]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**100), max_value=2.0**100))
def test_bfloat16_is_the_nearest_with_16_bits(number: float) -> None:
    made = bfloat16(np.array([number], np.float32))[0]
    bits = int(made.view(np.uint32))
    assert bits & 0xFFFF == 0
    around = [
        np.array([bits + step], np.uint32).view(np.float32)[0] for step in (-0x10000, 0x10000) if bits + step >= 0
    ]
    error = abs(Fraction(float(made)) - Fraction(number))
    for other in around:
        if np.isfinite(other):
            farther = abs(Fraction(float(other)) - Fraction(number))
            assert error < farther or (error == farther and bits >> 16 & 1 == 0)


@given(
    height=st.integers(0, 9),
    width=st.integers(0, 9),
    rows=st.integers(1, 3),
    columns=st.integers(1, 3),
    side=st.integers(1, 3),
)
def test_masks_are_the_whole_canvas_cut_in_tiles(height: int, width: int, rows: int, columns: int, side: int) -> None:
    masks = tile_masks(Size(height, width), Size(rows, columns), side)
    assert masks.shape == (rows * columns, side, side)
    for tile, mask in enumerate(masks):
        top, left = tile // columns * side, tile % columns * side
        expected = [[float(top + y < height and left + x < width) for x in range(side)] for y in range(side)]
        assert mask.tolist() == expected
