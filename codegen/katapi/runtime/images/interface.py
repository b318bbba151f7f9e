"""What a model asks of the pipeline that its template names; `pipeline.ImagePipeline` is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from katapi.runtime.json_types import JsonObject

Array: TypeAlias = NDArray[np.float32] | NDArray[np.int32] | NDArray[np.int64]
"""What a model receives of images."""


class Piece(Protocol):
    """A control token or a text, `count` times in a row."""

    @property
    def spelling(self) -> str:
        """The text, or how the control token is spelled."""
        ...

    @property
    def control(self) -> bool:
        """Whether it is a control token."""
        ...

    @property
    def count(self) -> int:
        """How often it stands there."""
        ...

    @property
    def indices(self) -> tuple[tuple[str, int], ...]:
        """For what of the image it stands, from outside inwards: `(("tile", 3), ("row", 0))`."""
        ...


class Standing(Protocol):
    """What stands for an image, known before its pixels are."""

    @property
    def tokens(self) -> int:
        """How many tokens of the model the image takes."""
        ...

    @property
    def placeholder(self) -> Sequence[Piece]:
        """All that stands for it, in order."""
        ...


class Record(Protocol):
    """What was done with an image."""

    def as_json(self) -> JsonObject:
        """As plain JSON."""
        ...


class Processed(Standing, Protocol):
    """An image, processed."""

    @property
    def arrays(self) -> Mapping[str, Array]:
        """What the model receives, by name."""
        ...

    @property
    def record(self) -> Record:
        """What was done with it."""
        ...


class Together(Protocol):
    """Several images, their arrays joined."""

    @property
    def arrays(self) -> Mapping[str, Array]:
        """What the model receives, by name."""
        ...


class Pipeline(Protocol):
    """A declared pipeline; each of these raises `MediaError` M100 to M109."""

    @property
    def name(self) -> str:
        """The name of its declaration."""
        ...

    def loading(self, way: str | None) -> Pipeline:
        """The same for images that come in another way."""
        ...

    def measure(self, data: bytes, *, media_type: str | None = None, where: str = "") -> Standing:
        """What stands for an image, from the header of its file."""
        ...

    def process_one(self, data: bytes, *, media_type: str | None = None, where: str = "") -> Processed:
        """An image; `where` is the place that an error names."""
        ...

    def together(self, images: Sequence[Processed]) -> Together:
        """Images of this pipeline, at least one, their arrays joined as it declares."""
        ...
