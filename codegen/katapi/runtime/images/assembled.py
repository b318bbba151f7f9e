"""The images and videos of an input: which tokens stand for each, and what a model receives of them beside the ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.given import GivenImage, GivenVideo, Medium
from katapi.runtime.images.placing import parts_of
from katapi.runtime.origins import ImageOrigin
from katapi.runtime.places import json_path
from katapi.runtime.printed import ImageSpan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from katapi.runtime.images.placeholder import Placeholder
    from katapi.runtime.images.plan import Outputs
    from katapi.runtime.images.record import ImageRecord
    from katapi.runtime.images.videos import VideoRecord
    from katapi.runtime.json_types import JsonObject
    from katapi.runtime.request_model import RequestModel
    from katapi.runtime.segments import Path


@dataclass(frozen=True, eq=False)
class ImagePlace:
    """Where the placeholder of an image or a video stands among the segments of an input."""

    index: int
    """The number of the image among the images of the input, or of the video among its videos."""
    path: Path
    """The part of the request that shows it."""
    span: ImageSpan
    """Its segments and its placeholder."""

    @property
    def is_video(self) -> bool:
        """Whether it is that of a video."""
        return isinstance(self.span.placeholder.given, GivenVideo)

    def origin(self, segment: int) -> ImageOrigin:
        """What one of the segments stands for."""
        return ImageOrigin(self.index, self.path, self.span.placeholder.indices_of(segment - self.span.start))


@dataclass(frozen=True, eq=False)
class AssembledImage:
    """An image of an input."""

    index: int
    """Its number, counted from 0 in the order of the ids."""
    path: Path
    """The part of the request that shows it: `("messages", 0, "content", 1)`."""
    span: tuple[int, int]
    """The tokens that stand for it, a half-open range; what its pipeline puts around it is among them."""
    given: GivenImage
    """Its bytes, and where they were."""

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that processed it."""
        return self.given.pipeline.name

    @property
    def tokens(self) -> int:
        """How many tokens of the model it takes, those around it left out."""
        return self.given.processed.tokens

    @property
    def arrays(self) -> Outputs:
        """What a model receives of it, by name."""
        return self.given.processed.arrays

    @property
    def record(self) -> ImageRecord:
        """What was done with it."""
        return self.given.processed.record


@dataclass(frozen=True, eq=False)
class AssembledVideo:
    """A video of an input."""

    index: int
    """Its number, counted from 0 in the order of the ids."""
    path: Path
    """The part of the request that shows it: `("messages", 0, "content", 1)`."""
    span: tuple[int, int]
    """The tokens that stand for it, a half-open range; what its pipeline puts around it is among them."""
    given: GivenVideo
    """Its frames, and where they were."""

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that processed it."""
        return self.given.pipeline.name

    @property
    def tokens(self) -> int:
        """How many tokens of the model it takes, those around and between its frames left out."""
        return self.given.processed.tokens

    @property
    def sampled(self) -> tuple[int, ...]:
        """The numbers of the frames that were taken."""
        return self.given.processed.sampled

    @property
    def arrays(self) -> Outputs:
        """What a model receives of it, by name."""
        return self.given.processed.arrays

    @property
    def record(self) -> VideoRecord:
        """What was done with it."""
        return self.given.processed.record


def assembled(places: Sequence[ImagePlace], ranges: NDArray[np.int64]) -> tuple[AssembledImage | AssembledVideo, ...]:
    """The images and videos of an input, in the order of their tokens.

    `ranges` are the segments of all tokens, int64 of shape [n, 2].
    """
    found: list[AssembledImage | AssembledVideo] = []
    for place in places:
        given = place.span.placeholder.given
        span = token_span(ranges, place.span)
        if isinstance(given, GivenVideo):
            found.append(AssembledVideo(place.index, place.path, span, given))
        else:
            found.append(AssembledImage(place.index, place.path, span, given))
    return tuple(found)


def recorded(path: Path, placeholder: Placeholder, number: int) -> JsonObject:
    """Where an image or video of a request comes from, what was done with it and what stands for it, as plain JSON.

    `number` is that of an attached one, as `media_of` numbers them.
    """
    pieces = placeholder.given.processed.placeholder
    return {
        "path": list(path),
        **placeholder.given.to_json(number),
        "placeholder": [[piece.spelling, piece.control, piece.count, dict(piece.indices)] for piece in pieces],
        "record": placeholder.given.processed.record.as_json(),
    }


def recorded_of(request: RequestModel) -> tuple[JsonObject, ...]:
    """The same of all images of a request whose bytes are at hand."""
    parts, numbers = parts_of(request), numbers_of(request)
    return tuple(
        recorded(path, part.placeholder, numbers[part.placeholder])
        for path, part in parts
        if part.placeholder is not None
    )


def numbers_of(request: RequestModel) -> dict[Placeholder, int]:
    """For each image or video of a request how many of its kind were attached before it: its number, if it was."""
    attached = {GivenImage: 0, GivenVideo: 0}
    numbers: dict[Placeholder, int] = {}
    for _, part in parts_of(request):
        if part.placeholder is not None:
            given = part.placeholder.given
            numbers[part.placeholder] = attached[type(given)]
            attached[type(given)] += given.kind == "attached"
    return numbers


def media_of(request: RequestModel) -> tuple[Medium, ...]:
    """The bytes that came beside a request: attached images and films, each numbered in their order, and others once.

    A file or an address that gave other bytes from turn to turn is there with each of them.
    """
    given = [part.placeholder.given for _, part in parts_of(request) if part.placeholder is not None]
    images = [one.data for one in given if isinstance(one, GivenImage) and one.kind == "attached"]
    films = [one.data for one in given if isinstance(one, GivenVideo) and one.kind == "attached"]
    others = dict.fromkeys(medium for one in given for medium in one.media if medium.kind != "attached")
    return (
        *(Medium("attached", str(number), data) for number, data in enumerate(images)),
        *(Medium("attached", f"video {number}", data) for number, data in enumerate(films)),
        *others,
    )


def way_of(request: RequestModel) -> str | None:
    """The way in which a request's images came in that was chosen for the last of them; None for the first way."""
    given = [part.placeholder.given for _, part in parts_of(request) if part.placeholder is not None]
    return given[-1].pipeline.chosen if given else None


def places_of(spans: Sequence[ImageSpan], request: RequestModel) -> tuple[ImagePlace, ...]:
    """The images and videos that a template printed, in order, each with its part of the request."""
    paths = {part.placeholder: path for path, part in parts_of(request) if part.placeholder is not None}
    counts = {True: 0, False: 0}
    places: list[ImagePlace] = []
    for span in spans:
        kind = isinstance(span.placeholder.given, GivenVideo)
        places.append(ImagePlace(counts[kind], paths[span.placeholder], span))
        counts[kind] += 1
    return tuple(places)


def check_images(spans: Sequence[ImageSpan], request: RequestModel) -> None:
    """Processes the images and videos of a request, of which the template printed `spans`.

    Raises `MediaError` M125 where that is not each of them once, or where its pixels give another placeholder than its
    header, and M100 to M109 for an image that cannot be processed.
    """
    printed = [span.placeholder for span in spans]
    for path, part in parts_of(request):
        placeholder = part.placeholder
        if placeholder is None:
            continue
        times = sum(one is placeholder for one in printed)
        if times != 1:
            what = "video" if isinstance(placeholder.given, GivenVideo) else "image"
            often = "nowhere" if not times else f"{times} times"
            raise MediaError(
                f"the template prints this {what} {often}, so that placeholders and {what}s do not agree",
                code="M125",
                where=json_path(path),
                help="leave it out, or send it where the template shows images",
            )
        pieces = [(piece.spelling, piece.count) for piece in placeholder.given.processed.placeholder]
        if pieces != [(str(getattr(what, "spelling", what)), times) for what, times, _ in placeholder.pieces]:
            raise MediaError(
                f"the pipeline {placeholder.given.pipeline.name} says otherwise of the file than of its header",
                code="M125",
                where=json_path(path),
                help="the pipeline is at fault: what it measures is what it must process",
            )


def token_span(ranges: NDArray[np.int64], span: ImageSpan) -> tuple[int, int]:
    """The tokens that cover a segment of an image; `ranges` are those of all tokens, int64 of shape [n, 2]."""
    first = int(np.searchsorted(ranges[:, 1], span.start, side="right"))
    return first, int(np.searchsorted(ranges[:, 0], span.stop, side="left"))
