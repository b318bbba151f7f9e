"""Cubic interpolation of float32 pixels without antialiasing, as torch and as OpenCV do it on a CPU.

Both take Keys' cubic with a = -0.75 over four pixels a side, repeat the pixels of the border, and clip nothing. They
differ in how the weights are rounded and in the order in which four terms are added. Both are followed here to the last
bit: torch 2 on x86 with AVX2 or AVX-512, and OpenCV 5 on x86 with the kernels that Intel's IPP has for AVX2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.images.fused import FusedMultiplyAdd, fused_multiply_add

Reals: TypeAlias = NDArray[np.float32]
"""Pixels or weights."""
Doubles: TypeAlias = NDArray[np.float64]
"""What weights are worked out in."""
Indices: TypeAlias = NDArray[np.int64]
"""Places of pixels, rows or columns."""
Sum: TypeAlias = Callable[[FusedMultiplyAdd, Sequence[Reals], Sequence[Reals]], Reals]
"""What four terms with their four weights come to: the order of the additions is what kernels differ in."""

_BLOCK = 12288
"""About how many numbers are worked on at a time, so that what lies between two steps stays in the cache."""


class _Axis(NamedTuple):
    """How the outputs of one axis are made: output `i` of the pixels at `places[:, i]` by `weights[:, i]`."""

    places: Indices
    weights: Reals
    inner: slice
    """Those for which all four places are real pixels, none of them a repeated one of the border."""


def _axis(length: int, below: Indices, weights: Sequence[Reals]) -> _Axis:
    """The axis whose outputs lie just past the pixels `below`."""
    places = np.clip(below + np.arange(-1, 3)[:, None], 0, length - 1)
    start, stop = (int(end) for end in np.searchsorted(below, (1, max(length - 2, 1))))
    return _Axis(places, np.stack(weights), slice(start, stop))


def _blocks(count: int, width: int) -> Iterator[slice]:
    step = max(_BLOCK // max(width, 1), 1)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _across(pixels: Reals, axis: _Axis, columns: Indices, total: Sum) -> Reals:
    """Pixels [rows, columns, channels] brought to the chosen columns of the result: [rows, chosen * channels]."""
    channels = pixels.shape[2]
    places = axis.places[:, columns]
    weights = list(axis.weights[:, columns].repeat(channels, axis=1))
    made = np.empty((len(pixels), len(columns) * channels), np.float32)
    fused = FusedMultiplyAdd(max(_BLOCK, made.shape[1]))
    for rows in _blocks(*made.shape):
        part = pixels[rows]
        made[rows] = total(fused, [part.take(place, axis=1).reshape(len(part), -1) for place in places], weights)
    return made


def _down(sources: Sequence[Reals], axis: _Axis, total: Sum) -> Reals:
    """Every row of the axis; `sources[k]` holds the rows from which term `k` is taken."""
    made = np.empty((axis.places.shape[1], sources[0].shape[1]), np.float32)
    fused = FusedMultiplyAdd(max(_BLOCK, made.shape[1]))
    for rows in _blocks(*made.shape):
        terms = [source.take(place, axis=0) for source, place in zip(sources, axis.places[:, rows], strict=True)]
        made[rows] = total(fused, terms, list(axis.weights[:, rows, None]))
    return made


def _rows_of(axis: _Axis, chosen: Indices) -> tuple[Indices, _Axis]:
    """The rows of the source that the chosen rows of the result need, and the axis over these alone."""
    used, places = np.unique(axis.places[:, chosen], return_inverse=True)
    return used, axis._replace(places=places.reshape(4, -1).astype(np.int64), weights=axis.weights[:, chosen])


def _chain(first: int, second: int) -> Sum:
    """One term after the other, each product added with one rounding: `first`, `second`, then 2 and 3."""

    def total(fused: FusedMultiplyAdd, terms: Sequence[Reals], weights: Sequence[Reals]) -> Reals:
        summed = terms[first] * weights[first]
        for k in (second, 2, 3):
            summed = fused(terms[k], weights[k], summed)
        return summed

    return total


_FROM_0 = _chain(0, 1)
_FROM_1 = _chain(1, 0)


# -- torch


def _torch_axis(length: int, wanted: int) -> _Axis:
    """Positions and weights in float32, all but the last step of a polynomial with one rounding a step."""
    one = np.float32(1)

    def constant(value: float | np.float32) -> Reals:
        return np.full(wanted, value, np.float32)

    def near(distance: Reals) -> Reals:
        return fused_multiply_add(constant(1.25), distance, constant(-2.25)) * distance * distance + one

    def far(distance: Reals) -> Reals:
        linear = fused_multiply_add(constant(-0.75), distance, constant(3.75))
        return fused_multiply_add(linear, distance, constant(-6.0)) * distance + np.float32(3)

    centers = np.arange(wanted).astype(np.float32) + np.float32(0.5)
    position = fused_multiply_add(centers, constant(np.float32(length) / np.float32(wanted)), constant(-0.5))
    below = np.minimum(np.floor(position), np.float32(length - 1))
    past = np.clip(position - below, np.float32(0), one)
    return _axis(length, below.astype(np.int64), (far(past + one), near(past), near(one - past), far(one - past + one)))


def torch_bicubic(planes: Reals, height: int, width: int) -> Reals:
    """Planes [channels, height, width], resized as by `torch.nn.functional.interpolate(mode="bicubic")`."""
    if planes.shape[1:] == (height, width):
        return planes
    across, down = _torch_axis(planes.shape[2], width), _torch_axis(planes.shape[1], height)
    used, down = _rows_of(down, np.arange(height))
    made = np.empty((len(planes), height, width), np.float32)
    for plane, result in zip(planes, made, strict=True):
        narrow = _across(plane[used, :, None], across, np.arange(width), _FROM_1)
        result[...] = _down([narrow] * 4, down, _FROM_1)
    return made


# -- OpenCV


def _ipp_axis(length: int, wanted: int) -> _Axis:
    """Positions in float64; a distance is rounded to float32, and its weight worked out in float64 from that."""

    def near(distance: Doubles) -> Reals:
        square = distance * distance
        return (1.25 * distance * square - 2.25 * square + 1.0).astype(np.float32)

    def far(distance: Doubles) -> Reals:
        square = distance * distance
        return (-0.75 * distance * square + 3.75 * square - 6.0 * distance + 3.0).astype(np.float32)

    position = (np.arange(wanted) + 0.5) * (length / wanted) - 0.5
    below = np.floor(position)
    behind = ((position - below).astype(np.float32) + np.float32(1)).astype(np.float64)
    weights = (far(behind), near(behind - 1.0), near(2.0 - behind), far(3.0 - behind))
    return _axis(length, below.astype(np.int64), weights)


def _ipp_across(fused: FusedMultiplyAdd, terms: Sequence[Reals], weights: Sequence[Reals]) -> Reals:
    outer = fused(terms[0], weights[0], terms[3] * weights[3])
    return outer + fused(terms[1], weights[1], terms[2] * weights[2])


def _ipp_down(fused: FusedMultiplyAdd, terms: Sequence[Reals], weights: Sequence[Reals]) -> Reals:
    upper = fused(terms[0], weights[0], terms[1] * weights[1])
    return upper + fused(terms[2], weights[2], terms[3] * weights[3])


def _ipp_edge_down(_: FusedMultiplyAdd, terms: Sequence[Reals], weights: Sequence[Reals]) -> Reals:
    return (terms[0] * weights[0] + terms[2] * weights[2]) + (terms[1] * weights[1] + terms[3] * weights[3])


def _ipp_cubic(pixels: Reals, height: int, width: int) -> Reals:
    across, down = _ipp_axis(pixels.shape[1], width), _ipp_axis(pixels.shape[0], height)
    made = np.empty((height, width, pixels.shape[2]), np.float32)
    rows, columns = np.arange(height), np.arange(width)
    inner_rows, inner_columns = rows[down.inner], columns[across.inner]
    edge_rows, edge_columns = np.delete(rows, down.inner), np.delete(columns, across.inner)

    def inner() -> Reals:
        used, of_used = _rows_of(down, inner_rows)
        narrow = _across(pixels[used], across, inner_columns, _ipp_across)
        return _down([narrow] * 4, of_used, _ipp_down).reshape(len(inner_rows), len(inner_columns), -1)

    def edge(some_rows: Indices, some_columns: Indices) -> Reals:
        """Where a term lies outside, other code runs: it begins the outer two rows with term 0, the inner with 1."""
        used, of_used = _rows_of(down, some_rows)
        outer = _across(pixels[used], across, some_columns, _FROM_0)
        inner = _across(pixels[used], across, some_columns, _FROM_1)
        return _down([outer, inner, inner, outer], of_used, _ipp_edge_down).reshape(
            len(some_rows), len(some_columns), -1
        )

    if inner_rows.size and inner_columns.size:
        made[down.inner, across.inner] = inner()
    if edge_rows.size:
        made[edge_rows] = edge(edge_rows, columns)
    if inner_rows.size and edge_columns.size:
        made[down.inner, edge_columns] = edge(inner_rows, edge_columns)
    return made


def _plain_axis(length: int, wanted: int) -> _Axis:
    """Positions and weights in float32, rounded at every step; the last weight is what the others leave of 1."""
    one, a = np.float32(1), np.float32(-0.75)
    position = ((np.arange(wanted) + 0.5) * (1.0 / (wanted / length)) - 0.5).astype(np.float32)
    below = np.floor(position)
    past = position - below
    behind, before = past + one, one - past
    first = ((a * behind - 5 * a) * behind + 8 * a) * behind - 4 * a
    second = ((a + 2) * past - (a + 3)) * past * past + one
    third = ((a + 2) * before - (a + 3)) * before * before + one
    return _axis(length, below.astype(np.int64), (first, second, third, one - first - second - third))


def _forwards(_: FusedMultiplyAdd, terms: Sequence[Reals], weights: Sequence[Reals]) -> Reals:
    total: Reals = terms[0] * weights[0]
    for k in (1, 2, 3):
        total = total + terms[k] * weights[k]
    return total


def _backwards(_: FusedMultiplyAdd, terms: Sequence[Reals], weights: Sequence[Reals]) -> Reals:
    total: Reals = terms[3] * weights[3]
    for k in (2, 1, 0):
        total = terms[k] * weights[k] + total
    return total


def _plain_cubic(pixels: Reals, height: int, width: int) -> Reals:
    across, down = _plain_axis(pixels.shape[1], width), _plain_axis(pixels.shape[0], height)
    narrow = [_across(pixels, across, np.arange(width), _forwards)] * 4
    made = _down(narrow, down, _backwards)  # four numbers at a time; what is left over of a row is summed the other way
    left = made.shape[1] // 4 * 4
    made[:, left:] = _down([source[:, left:] for source in narrow], down, _forwards)
    return made.reshape(height, width, -1)


_LEAST_OF_IPP = 4
"""IPP takes no picture with a shorter side; OpenCV's own code does these."""


def opencv_cubic(pixels: Reals, height: int, width: int) -> Reals:
    """Pixels [height, width, channels], resized as by `cv2.resize(interpolation=INTER_CUBIC)`."""
    if pixels.shape[:2] == (height, width):
        return pixels
    kernel = _ipp_cubic if min(pixels.shape[:2]) >= _LEAST_OF_IPP else _plain_cubic
    return kernel(pixels, height, width)
