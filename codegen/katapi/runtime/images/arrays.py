"""Arrays besides the pixels, how arrays are filled up, and how those of several images are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError

Array: TypeAlias = NDArray[np.float32 | np.int32 | np.int64]
"""An array that a model receives: float32, int32 or int64."""

Integers: TypeAlias = Sequence["int | Integers"]
"""Whole numbers in lists in lists, as deep as the array has axes."""

Reals: TypeAlias = Sequence["float | Reals"]
"""Numbers in lists in lists, likewise."""


def integers(values: Integers) -> Array:
    """The numbers as int64, of the shape that the lists have."""
    return np.array(values, np.int64)


def short_integers(values: Integers) -> Array:
    """The numbers as int32, of the shape that the lists have."""
    return np.array(values, np.int32)


def reals(values: Reals) -> Array:
    """The numbers as float32, of the shape that the lists have."""
    return np.array(values, np.float32)


def filled(value: int, shape: Sequence[int]) -> Array:
    """An int64 array of this shape with one number everywhere."""
    return np.full(tuple(shape), value, np.int64)


def extended(array: Array, length: int, value: int = 0) -> Array:
    """The array with `value` behind it, up to `length` along its first axis."""
    if len(array) >= length:
        return array
    out = np.full((length, *array.shape[1:]), value, array.dtype)
    out[: len(array)] = array
    return out


def chained(*arrays: Array) -> Array:
    """The arrays behind each other along their first axis."""
    return np.concatenate(arrays)


def within(array: Array, axes: int = 1) -> Array:
    """The array with so many axes of length 1 before its own."""
    return array.reshape(*[1] * axes, *array.shape)


@dataclass(frozen=True, slots=True)
class Join:
    """How the arrays of several images of one call become one: along an axis.

    Along the others they have one length; where `fill` is given, shorter ones are filled up with it at their ends.
    """

    axis: int = 0
    """Counted from 0."""
    fill: int | None = None
    """None where the others have one length in any case."""
    alone: bool = False
    """Whether the arrays of several images stay apart, so that there is none of all together."""

    def __call__(self, arrays: Sequence[Array]) -> Array:
        """The arrays as one; a single one is given as it is. Raises `MediaError` M109 for several that stay apart."""
        if len(arrays) == 1:
            return arrays[0]
        if self.alone:
            message = "the arrays of several images stay apart"
            raise MediaError(message, code="M109", help="process each image by itself")
        if self.fill is not None:
            longest = np.max([array.shape for array in arrays], axis=0)
            arrays = [_filled_up(array, self._shape(array, longest), self.fill) for array in arrays]
        return np.concatenate(arrays, axis=self.axis)

    def _shape(self, array: Array, longest: NDArray[np.int64]) -> tuple[int, ...]:
        return tuple(length if axis == self.axis else int(longest[axis]) for axis, length in enumerate(array.shape))


_ALONG_FIRST = Join()


def joined(several: Sequence[Mapping[str, Array]], joins: Mapping[str, Join]) -> dict[str, Array]:
    """The arrays of several images, films or recordings of one call, at least one, each name joined as `joins` says.

    A name that is not there is joined along the first axis. Raises `MediaError` M109 for several that stay apart.
    """
    return {name: joins.get(name, _ALONG_FIRST)([arrays[name] for arrays in several]) for name in several[0]}


def make_read_only(arrays: Mapping[str, Array]) -> None:
    """Whoever writes into one of the arrays from now on gets numpy's ValueError."""
    for array in arrays.values():
        array.setflags(write=False)


def _filled_up(array: Array, shape: tuple[int, ...], value: int) -> Array:
    if array.shape == shape:
        return array
    out = np.full(shape, value, array.dtype)
    out[tuple(slice(length) for length in array.shape)] = array
    return out
