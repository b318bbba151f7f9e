"""What a declaration says of one picture, and the pipeline that it makes; generated packages hold such plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeVar

from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import Join
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.decoding import Reading
from katapi.runtime.images.picture import Picture
from katapi.runtime.images.pieces import Piece
from katapi.runtime.images.pipeline import ImagePipeline, Outputs
from katapi.runtime.images.pixels import Normalization

_SIZE = "send an image of another size"
"""A plan sees the size of a picture alone, so that there is no other remedy."""

N = TypeVar("N", bound=Normalization)
N_contra = TypeVar("N_contra", bound=Normalization, contravariant=True)


class Plan(Protocol[N_contra]):
    """What becomes of one picture. It is made of the picture, or of its outline, and refuses it then, if it does."""

    def arrays(self, numbers: N_contra) -> Outputs:
        """The arrays, by their official names."""

    def tokens(self) -> int:
        """How many tokens of the model the picture takes."""

    def placeholder(self) -> Iterable[Piece]:
        """What stands for the picture among the tokens of the input."""


def planned(
    plan: Callable[[Picture], Plan[N]],
    *,
    name: str,
    version: str,
    digest: str,
    reading: Reading,
    ways: Mapping[str, Arrival],
    numbers: N,
    joins: Mapping[str, Join],
) -> ImagePipeline:
    """The pipeline that does what a plan says; the fields are those of `ImagePipeline`.

    Where a plan comes to no number for a picture, the pipeline raises `MediaError` M109.
    """

    def planned_for(picture: Picture) -> Plan[N]:
        try:
            return plan(picture)
        except MediaError as error:
            error.help = error.help or _SIZE
            raise
        except (ArithmeticError, IndexError, ValueError) as error:
            raise MediaError(
                f"{name} has no answer for an image of {picture.size} ({error})",
                code="M109",
                help=_SIZE,
            ) from None

    return ImagePipeline(
        name=name,
        version=version,
        digest=digest,
        reading=reading,
        ways=ways,
        numbers=numbers,
        compute=lambda picture: planned_for(picture).arrays(numbers),
        count=lambda picture: planned_for(picture).tokens(),
        expand=lambda picture: planned_for(picture).placeholder(),
        joins=joins,
    )
