"""What stands for an image or a video among the ids: control tokens and texts, each with the part it stands for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from weakref import ref

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.printed import Fixed, ImageStretch, Spelled, text_of_segments
from katapi.runtime.segments import ControlSegment, ControlToken, Literal, LiteralSegment, Site

if TYPE_CHECKING:
    from katapi.runtime.images.given import GivenImage, GivenVideo
    from katapi.runtime.images.pieces import Piece

Indices: TypeAlias = tuple[tuple[str, int], ...]
"""What of an image a token stands for: the counters of the loops in its declaration, such as `(("row", 3),)`."""


class Repeated(NamedTuple):
    """A control token or a text, so many times in a row."""

    what: ControlToken | Literal
    """The token, or the text."""
    times: int
    """How often it stands there."""
    indices: Indices
    """What of the image it stands for."""


@dataclass(frozen=True, eq=False)
class Placeholder:
    """The placeholder of one image or video; two of them are never the same."""

    given: GivenImage | GivenVideo
    """The image or video."""
    pieces: tuple[Repeated, ...]
    """All of the placeholder, in order."""
    _made: dict[Site, tuple[Spelled, ref[ImageStretch]]] = field(default_factory=dict, repr=False)

    def at(self, site: Site) -> Fixed:
        """The placeholder as what a template prints at a place; put together once for as long as it is printed.

        It refers to this, and would keep the pixels of the image until cycles are collected if this referred to it.
        """
        text, known = self._made.get(site, (None, None))
        stretch = known() if known is not None else None
        if text is None or stretch is None:
            segments: list[ControlSegment | LiteralSegment] = []
            for what, times, _ in self.pieces:
                segments += [_segment(what, site)] * times
            text, stretch = Spelled(text_of_segments(segments)), ImageStretch(segments, self)
            self._made[site] = text, ref(stretch)
        return text, stretch

    def indices_of(self, segment: int) -> Indices:
        """What of the image one of the segments stands for, counted from the first."""
        return self.pieces[bisect_right(self._ends, segment)].indices

    @cached_property
    def _ends(self) -> Sequence[int]:
        return [*accumulate(piece.times for piece in self.pieces)]


def pieces_of(pieces: Iterable[Piece], controls: type[ControlToken], where: str) -> tuple[Repeated, ...]:
    """The pieces of a placeholder, their control tokens those of a vocabulary.

    Raises `MediaError` M126 where the vocabulary has none of a spelling: no text becomes one.
    """
    by_spelling = {token.spelling: token for token in controls}
    out: list[Repeated] = []
    for piece in pieces:
        what: ControlToken | Literal | None = Literal(piece.spelling)
        if piece.control:
            what = by_spelling.get(piece.spelling)
        if what is None:
            raise MediaError(
                f"the vocabulary has no control token {piece.spelling!r}, which stands for the image",
                code="M126",
                where=where,
                help="declare a pipeline whose placeholder has the control tokens of this vocabulary",
            )
        out.append(Repeated(what, piece.count, piece.indices))
    return tuple(out)


def _segment(what: ControlToken | Literal, site: Site) -> ControlSegment | LiteralSegment:
    return ControlSegment(what, site) if isinstance(what, ControlToken) else LiteralSegment(what, site)
