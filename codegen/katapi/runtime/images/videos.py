"""A declared pipeline of videos: from the frames of a film to arrays, tokens and placeholder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import joined
from katapi.runtime.images.declared import DeclaredPipeline
from katapi.runtime.images.film import Film
from katapi.runtime.images.footage import Footage, film_of, opened
from katapi.runtime.images.frames import Decode, Frames
from katapi.runtime.images.picture import Size, Step
from katapi.runtime.images.pieces import Pieces, standing
from katapi.runtime.images.plan import Outputs, Plan, plan_for
from katapi.runtime.images.record import digest_of_array, digests_of_arrays, libraries_of
from katapi.runtime.record import Identity

if TYPE_CHECKING:
    from katapi.runtime.json_types import JsonObject

_OTHER = "send a film of another size or length"


@dataclass(frozen=True, slots=True)
class VideoMeasure:
    """What a film tells without its pixels: how large and long it is, and what will stand for it."""

    size: Size
    """Of every frame as it will arrive."""
    frames: int
    """How many frames it has."""
    tokens: int
    """How many tokens of the model the film takes."""
    placeholder: Pieces
    """What stands for it among the tokens of the input."""
    shapes: Mapping[str, tuple[int, ...]]
    """The shape of each array, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoRecord:
    """The record of one film: what came in, which frames were taken, by what, and the digests of what came out."""

    pipeline: Identity
    """The declaration: its name and version, and the digest of its meaning."""
    film: JsonObject
    """Where the frames come from, how many there are, and how fast and when they are shown: the digest of the times."""
    frames: tuple[JsonObject, ...]
    """Each frame that was taken: its number and its time, and the digests of its file and its pixels."""
    way: str
    """The name of the way in which the frames came in."""
    arrival: JsonObject
    """What that way does."""
    reading: JsonObject
    """Which files are read."""
    size: Size
    """Of every frame as it arrived."""
    steps: tuple[Step, ...]
    """What was done with the frames, in order."""
    numbers: JsonObject
    """How a pixel became a number."""
    tokens: int
    """How many tokens of the model the film takes."""
    arrays: tuple[tuple[str, str], ...]
    """The name and the digest of each array, as `digest_of_array` has it."""
    libraries: tuple[tuple[str, str], ...]
    """The versions of Pillow and numpy, and of the libraries that decode the frames."""

    def as_json(self) -> JsonObject:
        """The record as plain JSON."""
        return {
            "pipeline": {"id": self.pipeline.id, "digest": self.pipeline.digest},
            "film": self.film,
            "frames": list(self.frames),
            "arrival": {"way": self.way, **self.arrival},
            "reading": self.reading,
            "source": {"size": list(self.size)},
            "steps": [step.to_json() for step in self.steps],
            "numbers": self.numbers,
            "tokens": self.tokens,
            "arrays": dict(self.arrays),
            "libraries": dict(self.libraries),
        }


@dataclass(frozen=True, eq=False)
class ProcessedVideo:
    """One film, processed: its arrays, and what stands for it among the tokens of the input."""

    pipeline: VideoPipeline
    """By which it was processed."""
    footage: Footage
    """The film."""
    arrays: Outputs
    """By name, in the order of the declaration."""
    size: Size
    """Of every frame as it arrived."""
    sampled: tuple[int, ...]
    """The numbers of the frames that were taken, in order."""
    steps: tuple[Step, ...]
    """What was done with them."""
    tokens: int
    """How many tokens of the model it takes."""
    placeholder: Pieces
    """What stands for it."""

    @cached_property
    def record(self) -> VideoRecord:
        """The record, put together when it is first asked for: the frames that were taken are decoded once more for
        the digests of their pixels. Raises `MediaError` M100 to M108 if that fails."""
        footage, pipeline = self.footage, self.pipeline
        times = np.array(footage.times, np.float64)
        frames = tuple(footage.frame_to_json(index) for index in dict.fromkeys(self.sampled))
        shown: JsonObject = {"frames": len(times), "fps": footage.fps, "times": digest_of_array(times)}
        versions = [pair for format in footage.formats for pair in libraries_of(format)]
        return VideoRecord(
            pipeline=Identity(f"{pipeline.name}@{pipeline.version}", pipeline.digest),
            film={**footage.to_json(), **shown},
            frames=frames,
            way=pipeline.way,
            arrival=pipeline.arrival.to_json(),
            reading=pipeline.reading.to_json(),
            size=self.size,
            steps=self.steps,
            numbers=pipeline.numbers.to_json(),
            tokens=self.tokens,
            arrays=digests_of_arrays(self.arrays),
            libraries=tuple(dict.fromkeys(versions or libraries_of(None))),
        )


@dataclass(frozen=True, eq=False)
class ProcessedVideos:
    """The films of one call: the arrays of all together, and each by itself."""

    arrays: Outputs
    """By name, joined as the pipeline declares."""
    videos: tuple[ProcessedVideo, ...]
    """Each by itself, in order."""

    @property
    def tokens(self) -> int:
        """How many tokens of the model all films take."""
        return sum(video.tokens for video in self.videos)

    @property
    def record(self) -> tuple[VideoRecord, ...]:
        """The record of each film. Raises `MediaError` M100 to M108 as that of a film does."""
        return tuple(video.record for video in self.videos)


@dataclass(frozen=True, eq=False, kw_only=True)
class VideoPipeline(DeclaredPipeline[Film]):
    """A declared pipeline of films: `process` and `measure`.

    A film is given as `Frames`, as the bytes of an animated GIF, WebP or PNG, or as those of another file, which
    `decode` takes apart: nothing here decodes MP4 and its like.
    """

    def process(
        self, film: bytes | Frames, *more: bytes | Frames, media_type: str | None = None, decode: Decode | None = None
    ) -> ProcessedVideos:
        """The films of one call; `media_type` is what all files are said to be.

        Raises `MediaError` M100 to M109 and M114 to M116; its place says which of several films is at fault.
        """
        films = (film, *more)
        where = ["" if not more else f"videos[{index}]" for index in range(len(films))]
        return self.together(
            [
                self.process_one(one, media_type=media_type, decode=decode, where=at)
                for one, at in zip(films, where, strict=True)
            ]
        )

    def process_one(
        self, film: bytes | Frames, *, media_type: str | None = None, decode: Decode | None = None, where: str = ""
    ) -> ProcessedVideo:
        """One film; `where` is the place that an error names. Raises `MediaError` M100 to M109 and M114 to M116."""
        try:
            footage = opened(film, self, media_type=media_type, decode=decode)
            source = film_of(footage, self.reading.limits.pixels, outline=False)
            plan = self.planned(source)
            arrays = plan.arrays(self.numbers)
            return ProcessedVideo(
                self,
                footage,
                arrays,
                source.size,
                tuple(source.taken),
                tuple(source.trace.steps),
                plan.tokens(),
                standing(plan.placeholder()),
            )
        except MediaError as error:
            error.where = error.where or where
            raise

    def measure(
        self, film: bytes | Frames, *, media_type: str | None = None, decode: Decode | None = None, where: str = ""
    ) -> VideoMeasure:
        """What stands for a film, from its times and the header of its first frame: no pixel is decoded here.

        Raises `MediaError` M100 to M109, M114 and M115 as `process_one` does; what is wrong with the frames behind the
        first is seen by `process_one` alone.
        """
        try:
            footage = opened(film, self, media_type=media_type, decode=decode)
            seen = film_of(footage, self.reading.limits.pixels, outline=True)
            plan = self.planned(seen)
            shapes = {name: array.shape for name, array in plan.arrays(self.numbers).items()}
            return VideoMeasure(seen.size, seen.frames, plan.tokens(), standing(plan.placeholder()), shapes)
        except MediaError as error:
            error.where = error.where or where
            raise

    def together(self, videos: Sequence[ProcessedVideo]) -> ProcessedVideos:
        """Films of this pipeline, at least one, with their arrays joined as it declares."""
        return ProcessedVideos(joined([video.arrays for video in videos], self.joins), tuple(videos))

    def planned(self, film: Film) -> Plan:
        """The plan for a film. Raises `MediaError` M109 where it has no answer for one of this size and length."""
        return plan_for(
            self.plan, film, by=self.name, what=f"a film of {film.frames} frames of {film.size}", help=_OTHER
        )
