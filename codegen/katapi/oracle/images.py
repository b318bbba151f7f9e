"""Images and videos, interpreted: arrays, tokens and placeholder, straight from the declaration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from katapi.model.formulas import Filter, Operation, Quantity
from katapi.model.images import (
    ArrayType,
    ControlMark,
    EachMark,
    IfMark,
    Image,
    ImageControl,
    Mark,
    Marks,
    NumberMark,
    Output,
    RepeatMark,
    TextMark,
)
from katapi.oracle.rasters import (
    Array,
    Pixels,
    Raster,
    blocks,
    cropped,
    cut,
    normal,
    padded,
    resized,
    resized_by_torchvision,
)
from katapi.oracle.reels import Reel, printed, temporal
from katapi.oracle.sounds import Sound, filled_up
from katapi.oracle.terms import Extent, Names, Numbers, TermOracle, Value
from katapi.runtime.errors import MediaError
from katapi.runtime.images.cubic import opencv_cubic, torch_bicubic
from katapi.runtime.images.decoding import Reading


class Token(NamedTuple):
    """One control token or text of a placeholder, and where the loops around it are."""

    spelling: str
    control: bool
    indices: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ImageOracle:
    """What a declaration says of one picture, one film or one recording.

    Raises `MediaError` M105 and M109 as a pipeline does, when something is first asked for.
    """

    image: Image
    source: Raster | Reel | Sound

    @classmethod
    def of_picture(cls, image: Image, height: int, width: int, pixels: Pixels | None = None) -> ImageOracle:
        """Of a picture: `pixels` are uint8 [height, width, 3]; without them its size alone counts."""
        return cls(image, Raster(height, width, pixels, _most_pixels(image)))

    @classmethod
    def of_film(
        cls, image: Image, size: tuple[int, int], fps: float, times: Sequence[float], pixels: Sequence[Pixels] | None
    ) -> ImageOracle:
        """Of a film of frames of a size; without pixels its size and its times alone count."""
        height, width = size
        frames = None if pixels is None else tuple(pixels)
        Raster(height, width, None, _most_pixels(image))  # which refuses a size that no frame may have
        return cls(image, Reel(height, width, fps, tuple(times), _most_pixels(image), frames))

    @cached_property
    def _names(self) -> Names:
        """The values of all names of the declaration."""
        terms = self._terms
        names: dict[Quantity, Value] = {self.image.source: self.source}
        names |= {param.variable: terms.value(param.value, {}) for param in self.image.params}
        terms.steps(self.image.steps, names)
        return names

    @cached_property
    def _terms(self) -> TermOracle:
        return TermOracle(self.image.formulas, self._operate)

    @property
    def tokens(self) -> int:
        """How many visual tokens the declaration counts."""
        return self._terms.whole(self.image.tokens, self._names)

    def arrays(self) -> dict[str, Array]:
        """The arrays by their names."""
        return {one.name: _array(self._terms.value(one.value, self._names), one.type) for one in self.image.outputs}

    def placeholder(self) -> list[Token]:
        """What stands for the picture, one token or text after the other."""
        return self._marks(self.image.placeholder, self._names, ())

    # ---- placeholders

    def _marks(self, marks: Marks, names: Names, indices: tuple[tuple[str, int], ...]) -> list[Token]:
        return [token for mark in marks for token in self._mark(mark, names, indices)]

    def _mark(self, mark: Mark, names: Names, indices: tuple[tuple[str, int], ...]) -> list[Token]:
        terms = self._terms
        match mark:
            case ControlMark(control, arguments):
                values = [terms.whole(one, names) for one in arguments]
                return [Token(_spelled(control, values), True, indices)]
            case TextMark(text):
                return [Token(text, False, indices)] if text else []
            case NumberMark(value, digits):
                return [Token(printed(terms.number(value, names), digits), False, indices)]
            case EachMark(variable, source, body):
                found: list[Token] = []
                for item in terms.items(source, names):
                    assert isinstance(item, int)
                    found += self._marks(body, {**names, variable: item}, (*indices, (variable.name, item)))
                return found
            case RepeatMark(count, body):
                return self._marks(body, names, indices) * terms.whole(count, names)
            case IfMark(test, then, otherwise):
                return self._marks(then if terms.truth(test, names) else otherwise, names, indices)
            case _:
                assert_never(mark)

    # ---- pictures and arrays

    def _operate(self, operation: Operation, values: list[Value]) -> Value:
        match operation, values:
            case Operation.RESIZE, [Raster() as raster, Extent() as goal, Filter() as filter]:
                return resized(raster, goal.height, goal.width, filter.value)
            case Operation.CROP, [Raster() as raster, int(top), int(left), Extent() as part]:
                return cropped(raster, top, left, part.height, part.width)
            case Operation.PAD, [Raster() as raster, Extent() as canvas, int(top), int(left), list(colour)]:
                return padded(raster, canvas.height, canvas.width, top, left, [n for n in colour if isinstance(n, int)])
            case Operation.TILES, [Raster() as raster, Extent() as tile]:
                return [*cut(raster, tile.height, tile.width)]
            case Operation.RESCALING, [int() | float() as scale]:
                return Numbers(operation, scale)
            case _, [int() | float() as scale, list(mean), list(std)]:
                return Numbers(operation, scale, _reals(mean), _reals(std))
            case Operation.RESIZE_BY_TORCHVISION, [Raster() as raster, Extent() as goal, Filter() as filter]:
                return resized_by_torchvision(raster, goal.height, goal.width, filter.value)
            case Operation.VIEW_BY_TORCH, [Raster() as raster, Extent() as goal]:
                resized_numbers = torch_bicubic(self._normal(raster).transpose(2, 0, 1), *self._goal(raster, goal))
                return resized_numbers[np.newaxis]
            case Operation.PLANES_BY_OPENCV, [Raster() as raster, Extent() as goal]:
                assert raster.pixels is not None, "arrays are made of pixels"
                reals = opencv_cubic(raster.pixels.astype(np.float32), *self._goal(raster, goal))
                return self._numbers_of(reals).transpose(2, 0, 1)
            case Operation.TILE_MASKS, [Extent() as shown, Extent() as grid, int(side)]:
                cells = np.zeros((grid.height * side, grid.width * side), np.float32)
                cells[: shown.height, : shown.width] = 1
                rows = np.split(cells, grid.height)
                return np.stack([tile for row in rows for tile in np.split(row, grid.width, axis=1)])
            case Operation.FRAMES_AT, [Reel() as reel, list(indices)]:
                return [reel.frame(index) for index in indices if isinstance(index, int)]
            case Operation.TEMPORAL_PATCHES, [list(pictures), int(side), int(merge), int(frames)]:
                normal_ones = [self._normal(one) for one in pictures if isinstance(one, Raster)]
                return temporal(normal_ones, side, merge, frames)
            case Operation.WAVEFORM, [Sound() as sound, int(length)]:
                return filled_up(sound, length)
            case Operation.CHAINED, [first, second]:
                return np.concatenate([_array(first, None), _array(second, None)])
            case Operation.FILLED, [int(number), list(shape)]:
                return np.zeros([n for n in shape if isinstance(n, int)], np.int64) + number
            case Operation.EXTENDED, [array, int(length), *rest]:
                return _extended(_array(array, None), length, rest)
            case Operation.WITHIN, [array, *rest]:
                axes = rest[0] if rest else 1
                assert isinstance(axes, int)
                found = _array(array, None)
                for _ in range(axes):
                    found = found[np.newaxis]
                return found
            case _, [Raster() as raster, *rest]:
                return self._of_patches(operation, raster, [n for n in rest if isinstance(n, int)])
            case _, [list(pictures), *rest]:
                return self._of_pictures(operation, [one for one in pictures if isinstance(one, Raster)], rest)
            case _:
                raise AssertionError(f"{operation} of {values}")

    def _normal(self, raster: Raster) -> NDArray[np.float32]:
        assert raster.pixels is not None, "arrays are made of pixels"
        return self._numbers_of(raster.pixels)

    def _numbers_of(self, pixels: Pixels | NDArray[np.float32]) -> NDArray[np.float32]:
        assert self.image.numbers is not None, "a declaration with pictures has them"
        numbers = self._terms.value(self.image.numbers, self._names)
        assert isinstance(numbers, Numbers)
        return normal(pixels, numbers.order, numbers.scale, numbers.mean, numbers.std)

    @staticmethod
    def _goal(raster: Raster, goal: Extent) -> Extent:
        """A size that a picture may have."""
        raster.like(goal.height, goal.width, None)
        return goal

    def _of_patches(self, operation: Operation, raster: Raster, sides: list[int]) -> Array:
        """The patches of a picture, one below the other."""
        side, *rest = sides
        rows = blocks(self._normal(raster), side)
        match operation:
            case Operation.PATCHES:
                return np.stack([block.transpose(2, 0, 1) for row in rows for block in row])
            case Operation.FLAT_PATCHES:
                return np.stack([block.reshape(-1) for row in rows for block in row])
            case Operation.MERGED_PATCHES:
                merge, frames = rest
                if len(rows) % merge or len(rows[0]) % merge:
                    raise ValueError(f"{len(rows)} × {len(rows[0])} patches are no blocks of {merge}")
                order = [
                    rows[top + row][left + column]
                    for top in range(0, len(rows), merge)
                    for left in range(0, len(rows[0]), merge)
                    for row in range(merge)
                    for column in range(merge)
                ]
                return np.stack([np.stack([block.transpose(2, 0, 1)] * frames, axis=1).reshape(-1) for block in order])
            case _:
                raise AssertionError(operation)

    def _of_pictures(self, operation: Operation, pictures: list[Raster], rest: list[Value]) -> Array:
        match operation, rest:
            case Operation.PLANES, []:
                return np.stack([self._normal(one).transpose(2, 0, 1) for one in pictures])
            case Operation.STRIPS, [int(side)]:
                found = [block for one in pictures for row in blocks(self._normal(one), side) for block in row]
                return np.concatenate([block.transpose(2, 0, 1) for block in found], axis=2)
            case _:
                raise AssertionError(operation)


def _most_pixels(image: Image) -> int:
    assert isinstance(image.reading, Reading), "a declaration with pictures has it"
    return image.reading.limits.pixels


def together(image: Image, several: list[dict[str, Array]]) -> dict[str, Array]:
    """The arrays of several pictures of one call, joined as the declaration says."""
    return {one.name: _joined(one, [arrays[one.name] for arrays in several]) for one in image.outputs}


def _joined(output: Output, arrays: list[Array]) -> Array:
    axis, fill = output.join.axis, output.join.fill
    if output.join.alone and len(arrays) > 1:
        raise MediaError("there is no array of several pictures", code="M109")
    if fill is not None and len(arrays) > 1:
        for other in range(arrays[0].ndim):
            longest = max(array.shape[other] for array in arrays)
            if other != axis:
                arrays = [_extended(array.swapaxes(0, other), longest, [fill]).swapaxes(0, other) for array in arrays]
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    whole = np.zeros(shape, arrays[0].dtype)
    begin = 0
    for array in arrays:
        end = begin + array.shape[axis]
        whole.swapaxes(0, axis)[begin:end] = array.swapaxes(0, axis)
        begin = end
    return whole


def _spelled(control: ImageControl, values: list[int]) -> str:
    spelling = control.spelling
    for name, value in zip(control.parameters, values, strict=True):
        spelling = spelling.replace(f"{{{name}}}", str(value))
    return spelling


def _reals(values: list[Value]) -> tuple[float, ...]:
    return tuple(value for value in values if isinstance(value, int | float))


def _array(value: Value, of: ArrayType | None) -> Array:
    """A value as an array, of the items that are wanted."""
    if isinstance(value, np.ndarray):
        return value.astype(np.int32) if of is ArrayType.INT32 else value
    assert isinstance(value, int | list | Extent)
    if of is ArrayType.FLOAT32:
        return np.array(value, np.float32)
    return np.array(value, np.int32) if of is ArrayType.INT32 else np.array(value, np.int64)


def _extended(array: Array, length: int, rest: list[Value]) -> Array:
    fill = rest[0] if rest else 0
    assert isinstance(fill, int)
    missing = length - len(array)
    if missing <= 0:
        return array
    behind = np.zeros((missing, *array.shape[1:]), array.dtype) + array.dtype.type(fill)
    return np.concatenate([array, behind], axis=0)
