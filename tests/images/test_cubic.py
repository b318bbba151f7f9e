"""Cubic resizing of float32 pixels: near the exact cubic, and to the bit what torch 2.13 and OpenCV 5 made."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from katapi.runtime.images.cubic import opencv_cubic, torch_bicubic
from katapi.runtime.images.fused import fused_multiply_add
from katapi.runtime.images.libraries import planes_by_opencv, view_by_torch
from katapi.runtime.images.numbers import FoldedNormalization, RealNormalization
from katapi.runtime.images.picture import Picture, Size, Trace, outline
from tests.images.patterns import digest, harsh

Reals = NDArray[np.float32]
lengths = st.integers(1, 24)

BOUND = 0.05
"""Of pixels from 0 to 255: positions are float32 in torch and in OpenCV's own code."""


def exactly(pixels: Reals, height: int, width: int) -> NDArray[np.float64]:
    """Keys' cubic with a = -0.75 over pixels [height, width, channels], with the pixels of the border repeated."""

    def matrix(length: int, wanted: int) -> NDArray[np.float64]:
        made = np.zeros((wanted, length))
        for output in range(wanted):
            position = Fraction(2 * output + 1, 2) * Fraction(length, wanted) - Fraction(1, 2)
            below = floor(position)
            for place in range(below - 1, below + 3):
                x = abs(float(position - place))
                near = (1.25 * x - 2.25) * x * x + 1.0
                far = ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0
                made[output, min(max(place, 0), length - 1)] += near if x <= 1.0 else far
        return made

    wide = np.moveaxis(np.tensordot(matrix(pixels.shape[1], width), pixels.astype(np.float64), (1, 1)), 0, 1)
    made: NDArray[np.float64] = np.tensordot(matrix(pixels.shape[0], height), wide, (1, 0))
    return made


def pixels_of(height: int, width: int) -> Reals:
    return np.ascontiguousarray(harsh(height, width).transpose(1, 2, 0)).astype(np.float32)


def normalised(height: int, width: int) -> Reals:
    return (harsh(height, width).astype(np.float32) - np.float32(127.5)) / np.float32(127.5)


@given(height=lengths, width=lengths, to_height=lengths, to_width=lengths)
@example(height=4, width=4, to_height=24, to_width=3)
@example(height=3, width=24, to_height=24, to_width=7)
def test_both_are_the_exact_cubic_within_the_bound(height: int, width: int, to_height: int, to_width: int) -> None:
    pixels = pixels_of(height, width)
    expected = exactly(pixels, to_height, to_width)
    assert np.abs(opencv_cubic(pixels, to_height, to_width) - expected).max() < BOUND
    by_torch = torch_bicubic(np.ascontiguousarray(pixels.transpose(2, 0, 1)), to_height, to_width)
    assert np.abs(by_torch.transpose(1, 2, 0) - expected).max() < BOUND


def test_pixels_of_the_same_size_are_left_alone() -> None:
    pixels = pixels_of(9, 12)
    assert opencv_cubic(pixels, 9, 12) is pixels
    assert torch_bicubic(pixels.transpose(2, 0, 1), 9, 12).base is pixels


def test_nothing_is_clipped() -> None:
    made = opencv_cubic(pixels_of(20, 20), 61, 61)
    assert made.min() < 0.0
    assert made.max() > 255.0


@pytest.mark.parametrize("size", [(1, 1), (2, 9), (5, 3), (12, 10)])
def test_one_colour_stays_one_colour(size: tuple[int, int]) -> None:
    grey = np.full((*size, 3), 200.0, np.float32)
    assert np.abs(opencv_cubic(grey, 17, 23) - 200.0).max() < 1e-3
    assert np.abs(torch_bicubic(grey.transpose(2, 0, 1), 17, 23) - 200.0).max() < 1e-3


@pytest.mark.parametrize(
    ("size", "to", "expected"),
    [
        ((37, 53), (20, 90), "6641ff59f9321f89"),
        ((100, 75), (17, 75), "6f7ad23dad99596c"),
        ((64, 48), (64, 31), "eb7ef859d87422c2"),
        ((1, 1), (8, 5), "39df35efc786da72"),
        ((90, 110), (40, 40), "65e2e454b7c81a05"),
        ((3, 2), (30, 41), "8fea7b9d8a8e7d8e"),
    ],
)
def test_it_is_what_torch_made(size: tuple[int, int], to: tuple[int, int], expected: str) -> None:
    assert digest(torch_bicubic(normalised(*size), *to)) == expected


@pytest.mark.parametrize(
    ("size", "to", "expected"),
    [
        ((37, 53), (20, 90), "addbe205ab6778a2"),
        ((100, 75), (17, 75), "aced248762079786"),
        ((64, 48), (64, 31), "2e188f4ed9e15770"),
        ((4, 4), (50, 7), "63d6d6cf3874b677"),
        ((90, 110), (40, 40), "71f76a559cac80dc"),
        ((5, 5), (1, 1), "1cb8fa810b624c0a"),
        pytest.param((8, 4), (76, 196), "8e8722569916b942", id="a pixel that comes to lie on one of the border"),
        pytest.param((5, 328), (5, 647), "1bb4dc47be858af7", id="a weight so small that its float64 is rounded"),
        pytest.param((3, 2), (30, 41), "c2b7e47ec3453a3f", id="too small for IPP"),
        pytest.param((1, 1), (8, 5), "4b48f21a4b7a02bf", id="one pixel"),
        pytest.param((3, 200), (28, 33), "caa3a40613b05f5a", id="too low for IPP"),
        pytest.param((200, 2), (10, 7), "e21f5c59b84fbe27", id="too narrow for IPP"),
    ],
)
def test_it_is_what_opencv_made(size: tuple[int, int], to: tuple[int, int], expected: str) -> None:
    assert digest(opencv_cubic(pixels_of(*size), *to)) == expected


# ---- of a picture


def picture(height: int, width: int) -> Picture:
    return Picture(
        Size(height, width), Trace(1_000_000), array=np.ascontiguousarray(harsh(height, width).transpose(1, 2, 0))
    )


HALF = (0.5, 0.5, 0.5)


def test_a_view_by_torch_is_of_the_normalised_picture() -> None:
    source = picture(37, 53)
    made = view_by_torch(source, Size(20, 90), FoldedNormalization(1 / 255, HALF, HALF))
    assert made.shape == (1, 3, 20, 90)
    assert digest(made) == "6641ff59f9321f89"
    assert [step.detail for step in source.trace.steps] == ["bicubic of torch, of the normalised picture"]


def test_planes_by_opencv_are_normalised_after_the_resize() -> None:
    source = picture(37, 53)
    numbers = RealNormalization(255.0, HALF, (0.25, 0.25, 0.25))
    made = planes_by_opencv(source, Size(20, 90), numbers)
    expected = (opencv_cubic(pixels_of(37, 53), 20, 90) / np.float32(255) - np.float32(0.5)) / np.float32(0.25)
    assert (made == expected.transpose(2, 0, 1)).all()
    assert made.flags.c_contiguous
    assert [(step.operation, step.after) for step in source.trace.steps] == [("resize", (20, 90))]


def test_of_an_outline_there_are_zeros_of_that_shape() -> None:
    seen = outline(Size(37, 53), 10_000)
    assert view_by_torch(seen, Size(8, 9), FoldedNormalization()).shape == (1, 3, 8, 9)
    assert planes_by_opencv(seen, Size(8, 9), RealNormalization()).shape == (3, 8, 9)


# ---- the fused multiply-add

floats = st.floats(-(2.0**40), 2.0**40, width=32).map(np.float32)


def nearest(exact: Fraction) -> np.float32:
    """The float32 nearest to a number, of two the one with an even last bit."""
    guess = np.float32(float(exact))
    candidates = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(candidates, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1))


HALF_WAY = (np.float32(1 + 2.0**-23), np.float32(1 + 2.0**-1), np.float32(2.0**-60))
"""Product and addend lie just above the middle of two float32: rounded to a float64 first, they lie on it."""
JUST_BELOW = (HALF_WAY[0], HALF_WAY[1], np.float32(-(2.0**-60)))


@given(st.lists(st.tuples(floats, floats, floats), min_size=1, max_size=8))
@example([HALF_WAY])
@example([JUST_BELOW])
@example([(np.float32(1), np.float32(1), np.float32(2)), HALF_WAY, JUST_BELOW])
def test_a_fused_multiply_add_is_rounded_once(numbers: list[tuple[np.float32, np.float32, np.float32]]) -> None:
    factor, weight, addend = (np.array(column, np.float32) for column in zip(*numbers, strict=True))
    made = fused_multiply_add(factor, weight, addend)
    for a, b, c, got in zip(factor, weight, addend, made, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if exact == 0 or abs(exact) >= Fraction(1, 2**120):  # below, float32 has fewer bits
            assert got == nearest(exact)


def test_two_roundings_get_an_example_wrong() -> None:
    exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in (HALF_WAY, JUST_BELOW)]
    twice = [np.float32(float(a) * float(b) + float(c)) for a, b, c in (HALF_WAY, JUST_BELOW)]
    assert twice != [nearest(number) for number in exact]
