"""A picture on its way through a pipeline: 8-bit RGB pixels, and the steps by which they came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError

if TYPE_CHECKING:
    from PIL.Image import Image

    from katapi.runtime.json_types import JsonObject

Colour: TypeAlias = tuple[int, int, int]
"""Red, green and blue, 0 to 255 each."""

WHITE: Colour = (255, 255, 255)
"""The background that most processors put a transparent picture on."""
BLACK: Colour = (0, 0, 0)
"""What most processors pad with."""


class Size(NamedTuple):
    """How high and how wide, in pixels or in any other unit: `height` and `width`."""

    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.height} × {self.width}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation of a pipeline on a picture.

    Pictures are numbered in the order in which they come about; the source, as it arrived, is 0. `made` is the number
    of the picture that the step gave, `of` that of the picture it was made of.
    """

    operation: str
    """`resize`, `crop`, `pad` or `tile`."""
    made: int
    of: int
    before: Size
    """The size of the picture it was made of."""
    after: Size
    """The size of the picture it gave."""
    top: int = 0
    """Where a crop or a tile begins in the picture before, or the picture before in a padded one: the row."""
    left: int = 0
    """Likewise the column."""
    detail: str = ""
    """The filter of a resize, `bicubic`; the colour of a pad, `0,0,0`."""

    def to_json(self) -> JsonObject:
        """The step as plain JSON; places and details only where the operation has them."""
        place: JsonObject = {} if self.operation == "resize" else {"top": self.top, "left": self.left}
        detail: JsonObject = {"detail": self.detail} if self.detail else {}
        return {
            "operation": self.operation,
            "made": self.made,
            "of": self.of,
            "before": list(self.before),
            "after": list(self.after),
            **place,
            **detail,
        }


class Trace:
    """The pictures and steps of one run of a pipeline. `most_pixels` is the limit for every picture of it."""

    def __init__(self, most_pixels: int) -> None:
        self.most_pixels = most_pixels
        """How many pixels a picture may have at most."""
        self.steps: list[Step] = []
        """The steps so far, in their order."""

    def step(self, operation: str, of: Picture, after: Size, *, top: int = 0, left: int = 0, detail: str = "") -> int:
        """Enters a step, and gives the number of the picture that it makes.

        Raises `MediaError` M105 where that picture would have no pixels, or more than the limit.
        """
        made = len(self.steps) + 1
        step = Step(
            operation=operation,
            made=made,
            of=of.number,
            before=of.size,
            after=after,
            top=top,
            left=left,
            detail=detail,
        )
        check_pixels(after, self.most_pixels, f"after the step {operation!r} the image")
        self.steps.append(step)
        return made


def check_pixels(size: Size, most: int, what: str) -> None:
    """Raises `MediaError` M105 where `size` has no pixels, or more than `most`; `what` begins the message."""
    if min(size) < 1:
        raise MediaError(f"{what} has no pixels: it is {size}", code="M105", help="send a larger or less narrow image")
    if size.height * size.width > most:
        raise MediaError(
            f"{what} has {size.height * size.width} pixels ({size}), and the limit is {most}",
            code="M105",
            help="send a smaller image, or one that is less long and narrow",
        )


class Picture:
    """A picture of 8-bit RGB pixels, or the outline of one: its size alone, by which a pipeline can be measured.

    Pixels are held as Pillow or as numpy has them, and are brought into the other form where an operation needs it.
    Nothing changes them. An array given for a picture is uint8 of shape [height, width, 3].
    """

    __slots__ = ("_array", "_image", "number", "size", "trace")

    def __init__(
        self,
        size: Size,
        trace: Trace,
        number: int = 0,
        *,
        image: Image | None = None,
        array: NDArray[np.uint8] | None = None,
    ) -> None:
        self.size = size
        """Its height and width in pixels."""
        self.trace = trace
        """The run of the pipeline that it belongs to."""
        self.number = number
        """Its number in that run."""
        self._image = image
        self._array = array

    @property
    def height(self) -> int:
        """How many rows of pixels it has."""
        return self.size.height

    @property
    def width(self) -> int:
        """How many columns of pixels it has."""
        return self.size.width

    @property
    def is_outline(self) -> bool:
        """Whether it has a size alone."""
        return self._image is None and self._array is None

    @property
    def is_array(self) -> bool:
        """Whether its pixels are at hand as an array."""
        return self._array is not None

    @property
    def image(self) -> Image:
        """Its pixels as Pillow has them, mode RGB."""
        if self._image is None:
            from PIL import Image  # Pillow is an extra

            self._image = Image.fromarray(self.pixels)
        return self._image

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """Its pixels: uint8 of shape [height, width, 3], not to be written to."""
        if self._array is None:
            if self._image is None:
                raise TypeError("the outline of a picture has no pixels")
            self._array = np.asarray(self._image)
        return self._array


def outline(size: Size, most_pixels: int) -> Picture:
    """A picture of this size without pixels, at the beginning of a run. Raises `MediaError` M105 as `Trace.step`."""
    check_pixels(size, most_pixels, "the image")
    return Picture(size, Trace(most_pixels))
