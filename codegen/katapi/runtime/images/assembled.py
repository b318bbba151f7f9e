"""The images of an input: which tokens stand for each, and what a model receives of them beside the ids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.given import Medium
from katapi.runtime.images.placing import parts_of
from katapi.runtime.origins import ImageOrigin
from katapi.runtime.places import json_path
from katapi.runtime.printed import ImageSpan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from katapi.runtime.images.given import GivenImage
    from katapi.runtime.images.placeholder import Placeholder
    from katapi.runtime.images.plan import Outputs
    from katapi.runtime.images.record import ImageRecord
    from katapi.runtime.json_types import JsonObject
    from katapi.runtime.request_model import RequestModel
    from katapi.runtime.segments import Path


@dataclass(frozen=True, eq=False)
class ImagePlace:
    """Where the placeholder of an image stands among the segments of an input."""

    path: Path
    """The part of the request that shows the image."""
    span: ImageSpan
    """Its segments and its placeholder."""

    def origin(self, index: int, segment: int) -> ImageOrigin:
        """What one of the segments stands for; `index` is the number of the image in the input."""
        return ImageOrigin(index, self.path, self.span.placeholder.indices_of(segment - self.span.start))


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


def recorded(path: Path, placeholder: Placeholder, number: int) -> JsonObject:
    """Where an image of a request comes from, what was done with it and what stands for it, as plain JSON.

    `number` is that of an attached image, as `media_of` numbers them.
    """
    pieces = placeholder.image.processed.placeholder
    return {
        "path": list(path),
        **placeholder.image.to_json(number),
        "placeholder": [[piece.spelling, piece.control, piece.count, dict(piece.indices)] for piece in pieces],
        "record": placeholder.image.processed.record.as_json(),
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
    """For each image of a request how many were attached before it: the number of an attached one."""
    placeholders = [part.placeholder for _, part in parts_of(request) if part.placeholder is not None]
    attached = accumulate((one.image.kind == "attached" for one in placeholders), initial=0)
    return dict(zip(placeholders, attached, strict=False))


def media_of(request: RequestModel) -> tuple[Medium, ...]:
    """The bytes of images that came beside a request: the attached ones, numbered in their order, and others once.

    A file or an address that gave other bytes from turn to turn is there with each of them.
    """
    given = [part.placeholder.image for _, part in parts_of(request) if part.placeholder is not None]
    attached = [one.data for one in given if one.kind == "attached"]
    others = dict.fromkeys(Medium(one.kind, one.name, one.data) for one in given if one.kind in ("file", "address"))
    return (
        *(Medium("attached", str(number), data) for number, data in enumerate(attached)),
        *others,
    )


def way_of(request: RequestModel) -> str | None:
    """The way in which a request's images came in that was chosen for the last of them; None for the first way."""
    given = [part.placeholder.image for _, part in parts_of(request) if part.placeholder is not None]
    return given[-1].pipeline.chosen if given else None


def places_of(spans: Sequence[ImageSpan], request: RequestModel) -> tuple[ImagePlace, ...]:
    """The images that a template printed, in order, each with its part of the request."""
    paths = {part.placeholder: path for path, part in parts_of(request) if part.placeholder is not None}
    return tuple(ImagePlace(paths[span.placeholder], span) for span in spans)


def check_images(spans: Sequence[ImageSpan], request: RequestModel) -> None:
    """Processes the images of a request, of which the template printed `spans`.

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
            often = "nowhere" if not times else f"{times} times"
            raise MediaError(
                f"the template prints this image {often}, so that placeholders and images do not agree",
                code="M125",
                where=json_path(path),
                help="leave it out, or send it where the template shows images",
            )
        pieces = [(piece.spelling, piece.count) for piece in placeholder.image.processed.placeholder]
        if pieces != [(str(getattr(what, "spelling", what)), times) for what, times, _ in placeholder.pieces]:
            raise MediaError(
                f"the pipeline {placeholder.image.pipeline.name} says otherwise of the file than of its header",
                code="M125",
                where=json_path(path),
                help="the pipeline is at fault: what it measures is what it must process",
            )


def token_span(ranges: NDArray[np.int64], span: ImageSpan) -> tuple[int, int]:
    """The tokens that cover a segment of an image; `ranges` are those of all tokens, int64 of shape [n, 2]."""
    first = int(np.searchsorted(ranges[:, 1], span.start, side="right"))
    return first, int(np.searchsorted(ranges[:, 0], span.stop, side="left"))
