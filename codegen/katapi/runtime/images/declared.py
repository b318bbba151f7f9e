"""What a declared pipeline of images or videos is, whatever its source: files, ways, numbers, and the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, Self

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError, MediaError
from katapi.runtime.images.arrays import Join
from katapi.runtime.images.arrival import Arrival, arrive, size_on_arrival
from katapi.runtime.images.decoding import Header, Reading, load, read_header
from katapi.runtime.images.picture import Picture, Size, Trace
from katapi.runtime.images.pixels import Normalization
from katapi.runtime.images.plan import Plan, SourceT

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile


@dataclass(frozen=True, eq=False, kw_only=True)
class DeclaredPipeline(Generic[SourceT]):
    """A declared pipeline of what arrives as a `SourceT`. Nothing of it changes, so that threads can share it."""

    name: str
    """By which it is found."""
    version: str
    """Of its declaration."""
    digest: str
    """Of the meaning of its declaration, `sha256:…`."""
    reading: Reading
    """Which files it reads."""
    ways: Mapping[str, Arrival]
    """The ways in which an image can come in, by name; the first is the one that is taken unless another is named."""
    numbers: Normalization
    """How a pixel becomes a number."""
    plan: Callable[[SourceT], Plan]
    """What becomes of a source, or of its outline."""
    joins: Mapping[str, Join]
    """How the arrays of several of one call become one, by the name of the array."""
    chosen: str | None = None
    """The name of the way that was chosen; None for the first."""

    @property
    def way(self) -> str:
        """The name of the way in which images come in."""
        return next(iter(self.ways)) if self.chosen is None else self.chosen

    @property
    def arrival(self) -> Arrival:
        """The way in which images come in."""
        return self.ways[self.way]

    def loading(self, way: str | None) -> Self:
        """The same pipeline for images that come in another way; None is the first one.

        Raises `ArtifactError` A145 where no way has this name.
        """
        if way == self.chosen:
            return self
        if way is not None and way not in self.ways:
            raise ArtifactError(
                f"images do not come into {self.name} by a way {way!r}",
                code="A145",
                where=self.name,
                help=f"ways: {', '.join(self.ways)}",
            )
        return replace(self, chosen=way)

    def picture_of(
        self, data: bytes, trace: Trace, reading: Reading, *, media_type: str | None, orientation: bool
    ) -> tuple[Header, Picture]:
        """The header of the file of one picture and the picture as it arrives; `orientation` as in `read_header`.

        Raises `MediaError` M100 to M108.
        """
        header, image = self.opened(data, reading, media_type=media_type, orientation=orientation)
        size = size_on_arrival(image, header, self.arrival)
        load(image)
        arrived = arrive(image, header, self.arrival)
        if (arrived.height, arrived.width) != size:
            raise MediaError(
                f"the image is damaged: its header says {size}", code="M107", help="send it as it was made"
            )
        return header, Picture(size, trace, image=arrived)

    def size_of(self, data: bytes, reading: Reading, *, media_type: str | None) -> Size:
        """The size of a picture as it arrives, from the header of its file. Raises `MediaError` M100 to M108."""
        header, image = self.opened(data, reading, media_type=media_type, orientation=False)
        return size_on_arrival(image, header, self.arrival)

    def opened(
        self, data: bytes, reading: Reading, *, media_type: str | None, orientation: bool
    ) -> tuple[Header, ImageFile]:
        """The header of a file, and the file as Pillow opened it. Raises `MediaError` M100 to M107."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"an image is given by the bytes of its file, not by a {type(data).__name__}")
        needed = orientation or self.arrival.orientation != "ignore"
        return read_header(bytes(data), reading, media_type=media_type, orientation=needed)
