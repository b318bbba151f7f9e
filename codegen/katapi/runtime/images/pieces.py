"""What stands for an image among the tokens of an input: control tokens and texts, in runs of the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from katapi.runtime.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A control token or a text, so many times in a row.

    `indices` says for what it stands: the loops of the declaration around it, from outside inwards, each by its name
    and where it is: `(("tile", 3), ("row", 0))`.
    """

    spelling: str
    """Of the control token, or the text."""
    control: bool
    """Whether `spelling` is that of a control token, and not a text."""
    count: int = 1
    """How many times it stands there, one behind the other."""
    indices: tuple[tuple[str, int], ...] = ()

    @property
    def text(self) -> str:
        """The whole run, spelled out."""
        return self.spelling * self.count


Pieces: TypeAlias = tuple[Piece, ...]
"""All that stands for one image, in order; no piece stands there 0 times."""


def control(spelling: str, count: int = 1, /, **indices: int) -> Piece:
    """A control token, `count` times; `indices` names the loops around it and says where each is."""
    return Piece(spelling, True, count, tuple(indices.items()))


def text(spelling: str, count: int = 1, /, **indices: int) -> Piece:
    """A text, `count` times; `indices` as for `control`."""
    return Piece(spelling, False, count, tuple(indices.items()))


def standing(pieces: Iterable[Piece]) -> Pieces:
    """Those of the pieces that stand there at least once, in order."""
    return tuple(piece for piece in pieces if piece.count > 0 and piece.spelling)


def spelled(pieces: Pieces) -> str:
    """The pieces as one text."""
    return "".join(piece.text for piece in pieces)
