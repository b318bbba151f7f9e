"""A declared pipeline: from the bytes of an image to arrays, tokens and placeholder. Generated packages make these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import joined
from katapi.runtime.images.declared import DeclaredPipeline
from katapi.runtime.images.decoding import Header
from katapi.runtime.images.picture import Picture, Size, Step, Trace, outline
from katapi.runtime.images.pieces import Pieces, standing
from katapi.runtime.images.plan import Outputs, Plan, plan_for
from katapi.runtime.images.record import (
    ImageRecord,
    digest_of_file,
    digest_of_pixels,
    digests_of_arrays,
    libraries_of,
)
from katapi.runtime.record import Identity

_SIZE = "send an image of another size"
"""A plan sees the size of a picture alone, so that there is no other remedy."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What the header of an image tells: how large the image arrives, and what will stand for it."""

    size: Size
    """Of the image as it will arrive."""
    tokens: int
    """How many tokens of the model the image takes."""
    placeholder: Pieces
    """What stands for it among the tokens of the input."""
    shapes: Mapping[str, tuple[int, ...]]
    """The shape of each array, by its name."""


@dataclass(frozen=True, eq=False)
class ProcessedImage:
    """One image, processed: its arrays, and what stands for it among the tokens of the input."""

    pipeline: ImagePipeline
    """By which it was processed."""
    data: bytes
    """The bytes of the file."""
    media_type: str | None
    """What the caller said that they are."""
    arrays: Outputs
    """By name, in the order of the declaration."""
    size: Size
    """Of the image as it arrived."""
    steps: tuple[Step, ...]
    """What was done with it."""
    tokens: int
    """How many tokens of the model it takes."""
    placeholder: Pieces
    """What stands for it."""

    @cached_property
    def record(self) -> ImageRecord:
        """The record, put together when it is first asked for: the image is decoded once more for the digest of its
        pixels, so that they need not be kept. Raises `MediaError` M100 to M108 if that fails."""
        header, picture = self.pipeline.source(self.data, media_type=self.media_type, orientation=True)
        return ImageRecord(
            pipeline=Identity(f"{self.pipeline.name}@{self.pipeline.version}", self.pipeline.digest),
            length=len(self.data),
            sha256=digest_of_file(self.data),
            media_type=self.media_type,
            header=header,
            way=self.pipeline.way,
            arrival=self.pipeline.arrival,
            reading=self.pipeline.reading,
            size=self.size,
            pixels=digest_of_pixels(picture.pixels),
            steps=self.steps,
            numbers=self.pipeline.numbers,
            tokens=self.tokens,
            arrays=digests_of_arrays(self.arrays),
            libraries=libraries_of(header.format),
        )


@dataclass(frozen=True, eq=False)
class Processed:
    """The images of one call: the arrays of all together, and each by itself."""

    arrays: Outputs
    """By name, joined as the pipeline declares."""
    images: tuple[ProcessedImage, ...]
    """Each by itself, in order."""

    @property
    def tokens(self) -> int:
        """How many tokens of the model all images take."""
        return sum(image.tokens for image in self.images)

    @property
    def record(self) -> tuple[ImageRecord, ...]:
        """The record of each image. Raises `MediaError` M100 to M108 as that of an image does."""
        return tuple(image.record for image in self.images)


@dataclass(frozen=True, eq=False, kw_only=True)
class ImagePipeline(DeclaredPipeline[Picture]):
    """A declared pipeline of images: `process` and `measure`."""

    def process(self, data: bytes, *more: bytes, media_type: str | None = None) -> Processed:
        """The images of one call, each from the bytes of its file; `media_type` is what all of them are said to be.

        Raises `MediaError` M100 to M109; its place says which of several images is at fault.
        """
        files = (data, *more)
        where = ["" if not more else f"images[{index}]" for index in range(len(files))]
        return self.together(
            [self.process_one(file, media_type=media_type, where=at) for file, at in zip(files, where, strict=True)]
        )

    def process_one(self, data: bytes, *, media_type: str | None = None, where: str = "") -> ProcessedImage:
        """One image; `where` is the place that an error names. Raises `MediaError` M100 to M109."""
        try:
            _, source = self.source(data, media_type=media_type, orientation=False)
            plan = self.planned(source)
            arrays = plan.arrays(self.numbers)
            steps = tuple(source.trace.steps)
            return ProcessedImage(
                self,
                bytes(data),
                media_type,
                arrays,
                source.size,
                steps,
                plan.tokens(),
                standing(plan.placeholder()),
            )
        except MediaError as error:
            error.where = error.where or where
            raise

    def measure(self, data: bytes, *, media_type: str | None = None, where: str = "") -> Measure:
        """What stands for an image, from the header of its file: no pixel is decoded, but in a PNG whose orientation
        may stand behind its pixels.

        Raises `MediaError` M100 to M109 as `process_one` does; that pixels are damaged, or of colours that cannot be
        converted, is seen by `process_one` alone.
        """
        try:
            seen = outline(self.size_of(data, self.reading, media_type=media_type), self.reading.limits.pixels)
            plan = self.planned(seen)
            shapes = {name: array.shape for name, array in plan.arrays(self.numbers).items()}
            return Measure(seen.size, plan.tokens(), standing(plan.placeholder()), shapes)
        except MediaError as error:
            error.where = error.where or where
            raise

    def together(self, images: Sequence[ProcessedImage]) -> Processed:
        """Images of this pipeline, at least one, with their arrays joined as it declares."""
        return Processed(joined([image.arrays for image in images], self.joins), tuple(images))

    def planned(self, picture: Picture) -> Plan:
        """The plan for a picture. Raises `MediaError` M109 where it has no answer for one of this size."""
        return plan_for(self.plan, picture, by=self.name, what=f"an image of {picture.size}", help=_SIZE)

    def source(self, data: bytes, *, media_type: str | None, orientation: bool) -> tuple[Header, Picture]:
        """The header of a file and the picture that it holds, as it arrives; `orientation` as in `read_header`.

        Raises `MediaError` M100 to M108.
        """
        trace = Trace(self.reading.limits.pixels)
        return self.picture_of(data, trace, self.reading, media_type=media_type, orientation=orientation)
