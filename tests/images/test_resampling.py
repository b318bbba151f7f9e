"""8-bit resizing as torchvision does it: against a slow direct definition, and against what torchvision 0.28 made."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from katapi.runtime.images.libraries import resize_by_torchvision
from katapi.runtime.images.picture import Picture, Size, Trace, outline
from katapi.runtime.images.resampling import Kernel, fixed_point_taps, resize_bytes
from tests.images.patterns import Bytes, digest, harsh, smooth

lengths = st.integers(1, 40)


def weight(kernel: Kernel, distance: float) -> float:
    x = abs(distance)
    if kernel is Kernel.BILINEAR:
        return max(1.0 - x, 0.0)
    if x < 1.0:
        return (1.5 * x - 2.5) * x * x + 1.0
    return ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 if x < 2.0 else 0.0


def weights_of(length: int, wanted: int, kernel: Kernel) -> list[dict[int, float]]:
    """For each output the weight of each input that counts, one number at a time."""
    scale = length / wanted
    stretch = max(scale, 1.0)
    support = stretch * (1.0 if kernel is Kernel.BILINEAR else 2.0)
    made = []
    for output in range(wanted):
        center = scale * (output + 0.5)
        first = max(int(center - support + 0.5), 0)
        stop = min(int(center + support + 0.5), length, first + ceil(support) * 2 + 1)
        raw = {place: weight(kernel, (place - center + 0.5) / stretch) for place in range(first, stop)}
        total = 0.0
        for value in raw.values():
            total += value
        made.append({place: value / total for place, value in raw.items()})
    return made


def resized_line(line: list[int], wanted: int, kernel: Kernel) -> list[int]:
    """One line of pixels, in Python's whole numbers."""
    weights = weights_of(len(line), wanted, kernel)
    largest = max(value for row in weights for value in row.values())
    precision = 0
    while precision < 22 and int(0.5 + largest * 2 ** (precision + 1)) < 2**15:
        precision += 1
    made = []
    for row in weights:
        fixed = {place: int(value * 2**precision + (0.5 if value >= 0 else -0.5)) for place, value in row.items()}
        total = 2 ** (precision - 1) + sum(line[place] * value for place, value in fixed.items())
        made.append(min(max(total >> precision, 0), 255))
    return made


def slowly(plane: Bytes, height: int, width: int, kernel: Kernel) -> list[list[int]]:
    rows = [[int(value) for value in row] for row in plane]
    if width != len(rows[0]):
        rows = [resized_line(row, width, kernel) for row in rows]
    if height != len(rows):
        columns = [resized_line(list(column), height, kernel) for column in zip(*rows, strict=True)]
        rows = [list(row) for row in zip(*columns, strict=True)]
    return rows


@given(height=lengths, width=lengths, to_height=lengths, to_width=lengths, kernel=st.sampled_from(Kernel))
def test_it_is_the_slow_definition(height: int, width: int, to_height: int, to_width: int, kernel: Kernel) -> None:
    planes = harsh(height, width)
    made = resize_bytes(planes, to_height, to_width, kernel)
    assert made.shape == (3, to_height, to_width)
    assert made[1].tolist() == slowly(planes[1], to_height, to_width, kernel)


@pytest.mark.parametrize("kernel", Kernel)
@pytest.mark.parametrize(("length", "wanted"), [(700, 30), (1300, 100), (90, 700), (70, 71)])
def test_long_lines_in_several_bands_are_the_slow_definition(kernel: Kernel, length: int, wanted: int) -> None:
    planes = harsh(2, length)
    assert resize_bytes(planes, 2, wanted, kernel)[2].tolist() == slowly(planes[2], 2, wanted, kernel)
    upright = np.ascontiguousarray(planes.transpose(0, 2, 1))
    assert resize_bytes(upright, wanted, 2, kernel)[2].tolist() == slowly(upright[2], wanted, 2, kernel)


def test_sums_that_a_float32_does_not_hold_are_exact() -> None:
    first, weights, precision = fixed_point_taps(64, 2, Kernel.BILINEAR)
    lines = np.random.default_rng(1).integers(100, 256, (200_000, 64), np.uint8)
    exact = lines.astype(np.float64)  # which holds every sum
    sums = np.empty((len(lines), 2), np.int64)
    for output, (at, row) in enumerate(zip(first, weights, strict=True)):
        sums[:, output] = exact[:, at : at + len(row)] @ row[: 64 - at].astype(np.float64)
    sums += 1 << precision - 1
    assert sums.max() > 1 << 24
    assert np.count_nonzero(sums % (1 << precision) >= (1 << precision) - 1)  # here, to round up gives the next value
    made = resize_bytes(lines.reshape(1, -1, 64), len(lines), 2, Kernel.BILINEAR)[0]
    assert np.array_equal(made, sums >> precision)


@pytest.mark.parametrize("kernel", Kernel)
def test_white_stays_white_and_grey_stays_grey(kernel: Kernel) -> None:
    for value in (0, 1, 127, 255):
        planes = np.full((3, 50, 31), value, np.uint8)
        for height, width in ((7, 5), (50, 100), (311, 31), (1, 1)):
            assert (resize_bytes(planes, height, width, kernel) == value).all()


def test_an_axis_that_keeps_its_length_is_left_alone() -> None:
    planes = harsh(30, 20)
    assert resize_bytes(planes, 30, 20, Kernel.BICUBIC) is planes
    upright = planes[:, :, 4:5]
    assert (
        resize_bytes(planes, 12, 20, Kernel.BICUBIC)[:, :, 4:5] == resize_bytes(upright, 12, 1, Kernel.BICUBIC)
    ).all()


@given(length=st.integers(1, 3000), wanted=st.integers(1, 3000), kernel=st.sampled_from(Kernel))
def test_weights_are_16_bits_and_sum_to_one(length: int, wanted: int, kernel: Kernel) -> None:
    first, weights, precision = fixed_point_taps(length, wanted, kernel)
    assert weights.max() < 1 << 15
    assert precision == 22 or weights.max() >= 1 << 14  # no bit is wasted
    counted = np.count_nonzero(weights, axis=1)
    assert (np.abs(weights.sum(axis=1) - (1 << precision)) <= np.maximum(counted, 1)).all()
    assert (first >= 0).all()
    assert (first < length).all()


@pytest.mark.parametrize(
    ("kernel", "size", "to", "expected"),
    [
        (Kernel.BILINEAR, (37, 53), (20, 90), "d4c648b7a46bebca"),
        (Kernel.BILINEAR, (100, 75), (17, 75), "6f347fbc8a9019c6"),
        (Kernel.BILINEAR, (64, 48), (64, 31), "37d8e27d0cc2b6c2"),
        (Kernel.BILINEAR, (300, 20), (24, 24), "610f9e11a09d2017"),
        (Kernel.BILINEAR, (1, 1), (8, 5), "6edd9f6f9cc92cde"),
        (Kernel.BILINEAR, (5, 400), (9, 64), "73e3cdf451f35b91"),
        (Kernel.BILINEAR, (130, 170), (33, 21), "a1ea1cf39db1f752"),
        (Kernel.BICUBIC, (37, 53), (20, 90), "8c568bfa5936e60d"),
        (Kernel.BICUBIC, (100, 75), (17, 75), "0a050f8ddd878b78"),
        (Kernel.BICUBIC, (64, 48), (64, 31), "f6ded45759e6c2bd"),
        (Kernel.BICUBIC, (300, 20), (24, 24), "57fefe490fb1a180"),
        (Kernel.BICUBIC, (1, 1), (8, 5), "6edd9f6f9cc92cde"),
        (Kernel.BICUBIC, (5, 400), (9, 64), "c8c2e8c740ed7487"),
        (Kernel.BICUBIC, (130, 170), (33, 21), "efbaaa46f7046fd7"),
    ],
)
def test_it_is_what_torchvision_made(kernel: Kernel, size: tuple[int, int], to: tuple[int, int], expected: str) -> None:
    planes = (smooth if kernel is Kernel.BILINEAR else harsh)(*size)
    assert digest(resize_bytes(planes, *to, kernel)) == expected


# ---- of a picture


def picture(pixels: NDArray[np.uint8]) -> Picture:
    return Picture(Size(*pixels.shape[:2]), Trace(1_000_000), array=pixels)


def test_a_picture_is_resized_and_the_step_says_by_whom() -> None:
    source = picture(np.ascontiguousarray(smooth(37, 53).transpose(1, 2, 0)))
    made = resize_by_torchvision(source, Size(20, 90), Kernel.BILINEAR)
    assert digest(made.pixels.transpose(2, 0, 1)) == "d4c648b7a46bebca"
    (step,) = source.trace.steps
    assert step.to_json() == {
        "operation": "resize",
        "made": 1,
        "of": 0,
        "before": [37, 53],
        "after": [20, 90],
        "detail": "bilinear of torchvision",
    }
    same = resize_by_torchvision(made, Size(20, 90), Kernel.BICUBIC)
    assert (same.pixels == made.pixels).all()
    assert same.number == 2


def test_an_outline_is_resized_without_pixels() -> None:
    made = resize_by_torchvision(outline(Size(37, 53), 10_000), Size(20, 90), Kernel.BICUBIC)
    assert made.is_outline
    assert made.size == (20, 90)
