"""What a declaration says of one picture; generated packages hold such plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias, TypeVar

from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import Array
from katapi.runtime.images.pieces import Piece
from katapi.runtime.images.pixels import Normalization

SourceT = TypeVar("SourceT")
PlanT = TypeVar("PlanT")

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


def plan_for(plan: Callable[[SourceT], PlanT], source: SourceT, *, by: str, what: str, help: str) -> PlanT:
    """The plan for a source, which messages call `what`; `by` is the name of the pipeline, `help` the only remedy.

    Raises `MediaError` M109 where the plan comes to no number, and what it raises itself.
    """
    try:
        return plan(source)
    except MediaError as error:
        error.help = error.help or help
        raise
    except (ArithmeticError, IndexError, ValueError) as error:
        raise MediaError(f"{by} has no answer for {what} ({error})", code="M109", help=help) from None
