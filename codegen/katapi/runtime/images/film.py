"""A film on its way through a pipeline: frames of one size, each with the time at which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import MediaError
from katapi.runtime.images.picture import Picture, Size, Trace

if TYPE_CHECKING:
    from PIL.Image import Image


class Film:
    """A film of pictures, or the outline of one: sizes and times alone, by which a pipeline can be measured."""

    __slots__ = ("_decode", "fps", "frames", "size", "taken", "times", "trace")

    def __init__(
        self,
        size: Size,
        fps: float,
        times: Sequence[float],
        trace: Trace,
        decode: Callable[[int], Image] | None = None,
    ) -> None:
        self.size = size
        """The height and width of every frame in pixels."""
        self.frames = len(times)
        """How many frames it has."""
        self.fps = fps
        """How many of them are shown in a second."""
        self.times = times
        """When each is shown, in seconds from the beginning."""
        self.trace = trace
        """The run of the pipeline that it belongs to."""
        self.taken: list[int] = []
        """The numbers of the frames that were asked for, in order."""
        self._decode = decode

    @property
    def height(self) -> int:
        """How many rows of pixels a frame has."""
        return self.size.height

    @property
    def width(self) -> int:
        """How many columns of pixels a frame has."""
        return self.size.width

    def at(self, index: int) -> Picture:
        """The frame of a number. Raises `MediaError` M109 where the film has none."""
        if not 0 <= index < self.frames:
            raise MediaError(f"the film has {self.frames} frames, and none of the number {index}", code="M109")
        self.taken.append(index)
        of = Picture(self.size, self.trace)
        made = self.trace.step("frame", of, self.size, detail=f"frame {index}")
        if self._decode is None:
            return Picture(self.size, self.trace, made)
        return _Frame(self.size, self.trace, made, index, self._decode)


class _Frame(Picture):
    """A frame that is decoded whenever its pixels are asked for, so that one at a time is in memory."""

    __slots__ = ("_decode", "_index")

    def __init__(self, size: Size, trace: Trace, number: int, index: int, decode: Callable[[int], Image]) -> None:
        super().__init__(size, trace, number)
        self._index = index
        self._decode = decode

    @property
    def is_outline(self) -> bool:
        return False

    @property
    def image(self) -> Image:
        return self._decode(self._index)

    @property
    def pixels(self) -> NDArray[np.uint8]:
        return np.asarray(self._decode(self._index))


def frames_at(film: Film, indices: Sequence[int]) -> list[Picture]:
    """The frames of these numbers, counted from 0. Raises `MediaError` M109 where the film has one of them not."""
    return [film.at(index) for index in indices]
