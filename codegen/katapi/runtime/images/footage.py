"""Opens films: the files of frames, or one animated file, with the times at which frames are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrival import arrive, size_on_arrival
from katapi.runtime.images.decoding import load
from katapi.runtime.images.delays import delays_of, first_is_shown
from katapi.runtime.images.film import Film
from katapi.runtime.images.frames import Decode, Frames
from katapi.runtime.images.frames_file import is_frames_file, read_frames, write_frames
from katapi.runtime.images.media import Format, format_of, looks_like
from katapi.runtime.images.picture import Size, Trace, check_pixels
from katapi.runtime.images.record import digest_of_file, digest_of_pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    from katapi.runtime.images.declared import DeclaredPipeline
    from katapi.runtime.json_types import JsonObject


class Footage(Protocol):
    """A film that can be read, frame by frame."""

    @property
    def fps(self) -> float:
        """How many frames are shown in a second."""

    @property
    def times(self) -> Sequence[float]:
        """When each frame is shown, in seconds."""

    @property
    def size(self) -> Size:
        """The size of every frame as it arrives. Raises `MediaError` M100 to M108."""

    def frame(self, index: int) -> Image:
        """A frame as it arrives. Raises `MediaError` M100 to M108, and M116 for one of another size."""

    def frame_to_json(self, index: int) -> JsonObject:
        """Which frame it is: its number, its time, and the digests of its file and its pixels."""

    def to_json(self) -> JsonObject:
        """Where the frames come from, as plain JSON."""

    def kept(self, indices: Sequence[int]) -> bytes:
        """A file from which the same is made, as long as no other frames are asked for: `frames_file`."""

    @property
    def formats(self) -> tuple[Format, ...]:
        """The formats of the files, as far as there are any."""


def film_of(footage: Footage, most_pixels: int, *, outline: bool) -> Film:
    """A film at the beginning of a run, or its outline. Raises `MediaError` M105 as for a picture."""
    check_pixels(footage.size, most_pixels, "a frame of the film")
    return Film(footage.size, footage.fps, footage.times, Trace(most_pixels), None if outline else footage.frame)


def opened(
    film: bytes | Frames, pipeline: DeclaredPipeline[Film], *, media_type: str | None, decode: Decode | None
) -> Footage:
    """A film, opened for a pipeline.

    Raises `MediaError` M100 to M108 for an animated file, M106 for too many frames, M114 where there is no film that
    can be taken apart, and M115 where it does not say when its frames are shown.
    """
    if isinstance(film, Frames):
        return _Listed(film, pipeline)
    if not isinstance(film, bytes | bytearray | memoryview):
        raise TypeError(f"a film is given by katapi.Frames or the bytes of a file, not by a {type(film).__name__}")
    data = bytes(film)
    if is_frames_file(data):
        return _Listed(read_frames(data), pipeline)
    if not data or format_of(data) is not None:
        return _Animation(data, pipeline, media_type)
    if decode is None:
        raise MediaError(
            f"the bytes are {looks_like(data)}, which is not decoded here",
            code="M114",
            help="pass `decode`, a function from the bytes to katapi.Frames, or send the frames",
        )
    taken_apart: object = decode(data)
    if not isinstance(taken_apart, Frames):
        kind = type(taken_apart).__name__
        message = f"`decode` gave no katapi.Frames, but a value of type {kind}"
        raise MediaError(message, code="M114", help="return katapi.Frames")
    return _Listed(replace(taken_apart, file=digest_of_file(data)), pipeline)


class _Listed:
    """The frames of a film, one after the other."""

    def __init__(self, frames: Frames, pipeline: DeclaredPipeline[Film]) -> None:
        self._frames = frames
        self._files = frames.files
        self._pipeline = pipeline
        limits = pipeline.reading.limits
        self._reading = replace(pipeline.reading, limits=replace(limits, frames=None))
        if not len(self._files):
            raise MediaError("the film has no frames", code="M114", help="send all of it")
        _check_count(len(self._files), limits.frames)
        self.fps, self.times = _shown(frames, len(self._files))
        self._formats: dict[str, Format] = {}

    @property
    def formats(self) -> tuple[Format, ...]:
        return tuple(self._formats.values())

    @property
    def size(self) -> Size:
        file = self._files[0]
        if isinstance(file, np.ndarray):
            return _size_of(file, 0)
        return self._pipeline.size_of(file, self._reading, media_type=None)

    def frame(self, index: int) -> Image:
        from PIL import Image  # Pillow is an extra

        file = self._files[index]
        if isinstance(file, np.ndarray):
            size = _size_of(file, index)
            image = Image.fromarray(file)
        else:
            trace = Trace(self._reading.limits.pixels)
            header, picture = self._pipeline.picture_of(file, trace, self._reading, media_type=None, orientation=False)
            self._formats[header.format.name] = header.format
            size, image = picture.size, picture.image
        if size != self.size:
            raise MediaError(
                f"frame {index} of the film is {size}, and the first is {self.size}",
                code="M116",
                help="send frames of one size",
            )
        return image

    def frame_to_json(self, index: int) -> JsonObject:
        file = self._files[index]
        digest = None if isinstance(file, np.ndarray) else digest_of_file(file)
        pixels = digest_of_pixels(np.asarray(self.frame(index)))
        return {"index": index, "time": self.times[index], "sha256": digest, "pixels": pixels}

    def to_json(self) -> JsonObject:
        file = self._frames.file
        return {"from": "frames" if file is None else "decode", "sha256": file}

    def kept(self, indices: Sequence[int]) -> bytes:
        return write_frames(self._frames, indices)


class _Animation:
    """An animated file. Frames are decoded in their order, since each is made of those before it."""

    def __init__(self, data: bytes, pipeline: DeclaredPipeline[Film], media_type: str | None) -> None:
        reading = replace(pipeline.reading, frames="first")
        self._data = data
        self._arrival = pipeline.arrival
        self._header, self._image = pipeline.opened(data, reading, media_type=media_type, orientation=False)
        delays = delays_of(data, self._header.format.name)
        _check_count(len(delays), reading.limits.frames)
        if not sum(delays):
            raise MediaError(
                f"this {self._header.format.name} does not say how long its frames are shown",
                code="M115",
                help="send the frames, with `fps`",
            )
        self._before = int(self._header.format.name == "png" and not first_is_shown(data))
        self.size = size_on_arrival(self._image, self._header, self._arrival)
        self.fps = float(len(delays) / sum(delays))
        self.times = [float(time) for time in accumulate(delays[:-1], initial=Fraction())]

    @property
    def formats(self) -> tuple[Format, ...]:
        return (self._header.format,)

    def frame(self, index: int) -> Image:
        try:
            self._image.seek(index + self._before)
        except (EOFError, OSError, SyntaxError, ValueError) as error:
            raise MediaError(
                f"the film is damaged: its frame {index} cannot be decoded ({error})",
                code="M107",
                help="send the whole file, as it was made",
            ) from None
        load(self._image)
        return arrive(self._image.copy(), self._header, self._arrival)

    def frame_to_json(self, index: int) -> JsonObject:
        return {"index": index, "time": self.times[index], "pixels": digest_of_pixels(np.asarray(self.frame(index)))}

    def to_json(self) -> JsonObject:
        media_type = self._header.format.media_type
        return {"from": "animation", "sha256": digest_of_file(self._data), "media_type": media_type}

    def kept(self, indices: Sequence[int]) -> bytes:
        return self._data


def _check_count(frames: int, most: int | None) -> None:
    if most is not None and frames > most:
        message = f"the film has {frames} frames, and the limit is {most}"
        raise MediaError(message, code="M106", help="send fewer frames")


def _size_of(pixels: NDArray[np.uint8], index: int) -> Size:
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        raise MediaError(
            f"frame {index} is an array of {pixels.dtype} of shape {list(pixels.shape)}",
            code="M108",
            help="give pixels as uint8 of shape [height, width, 3]",
        )
    return Size(pixels.shape[0], pixels.shape[1])


def _shown(frames: Frames, count: int) -> tuple[float, Sequence[float]]:
    """How many frames are shown in a second, and when each is."""
    fps, times = frames.fps, frames.times
    if (fps is None) == (times is None):
        message = "a film says by `fps` or by `times` when its frames are shown"
        raise MediaError(message, code="M115", help="give one of the two")
    if fps is not None:
        if not (math.isfinite(fps) and fps > 0):
            raise MediaError(f"a film is not shown at {fps} frames in a second", code="M115", help="give another `fps`")
        return fps, [index / fps for index in range(count)]
    assert times is not None, "one of the two is given"
    rising = all(before < after for before, after in pairwise(times))
    if len(times) != count or count < 2 or not rising or not all(map(math.isfinite, times)):
        raise MediaError(
            "the `times` of a film are one for each of its frames, two at least, and rise",
            code="M115",
            help="give `fps` where frames are shown equally long",
        )
    return (count - 1) / (times[-1] - times[0]), list(times)
