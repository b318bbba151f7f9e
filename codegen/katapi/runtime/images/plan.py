"""What a declaration says of one picture; generated packages hold such plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from katapi.runtime.images.arrays import Array
from katapi.runtime.images.pieces import Piece
from katapi.runtime.images.pixels import Normalization

Outputs: TypeAlias = Mapping[str, Array]
"""The arrays of a model, by the names of the official processor: float32, int32 or int64."""


class Plan(Protocol):
    """What becomes of one picture. It is made of the picture, or of its outline, and refuses it then, if it does."""

    def arrays(self, numbers: Normalization) -> Outputs:
        """The arrays, by their official names; those of an outline have shapes alone."""

    def tokens(self) -> int:
        """How many tokens of the model the picture takes."""

    def placeholder(self) -> Iterable[Piece]:
        """What stands for the picture among the tokens of the input."""
