"""What a renderer prints, in the form that costs least: plain tuples, whose first item is the text.

What a template always prints in one go is put together when its module is loaded; what came with the request is a tuple
of the text and its place. The segments that everyone else sees are made of these when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NewType, TypeAlias

from katapi.runtime.parts import MergedText, Piece
from katapi.runtime.segments import (
    Content,
    ContentSegment,
    ControlSegment,
    Literal,
    LiteralSegment,
    Path,
    Rendering,
    Segment,
    Site,
)
from katapi.runtime.tokenization.interface import Tokenizer


class Mark(Enum):
    """Where what the model itself generates begins and ends."""

    SAMPLED = "sampled"
    END_SAMPLED = "end of sampled"


SAMPLED = Mark.SAMPLED
END_SAMPLED = Mark.END_SAMPLED


class Stretch:
    """Control tokens and literals that are printed one after the other, and all that is known of them beforehand."""

    __slots__ = ("_encoded", "_inner", "closing", "holds_control", "marks", "opening", "segments")

    def __init__(self, printed: Sequence[ControlSegment | LiteralSegment | Mark]) -> None:
        segments: list[ControlSegment | LiteralSegment] = []
        marks: list[int] = []
        for item in printed:
            if isinstance(item, Mark):
                marks.append(len(segments))
            else:
                segments.append(item)
        self.segments = tuple(segments)
        self.marks = tuple(marks)
        """Before which of the segments a sampled region begins or ends."""
        controls = [i for i, segment in enumerate(segments) if isinstance(segment, ControlSegment)]
        first, last = (controls[0], controls[-1]) if controls else (0, -1)
        self.holds_control = bool(controls)
        self.opening = text_of_segments(segments[:first])
        """The text before the first control token: it ends a run that may have begun before."""
        self.closing = text_of_segments(segments[last + 1 :])
        """The text behind the last control token: it begins a run that may go on; without one, the whole text."""
        self._inner = segments[first : last + 1]
        self._encoded: Encoded | None = None

    def encoded(self, tokenizer: Tokenizer) -> Encoded:
        """The ids from the first to the last control token, which depend on nothing outside; remembered."""
        encoded = self._encoded
        if encoded is None or encoded[0] is not tokenizer:
            ids: list[int] = []
            ends: list[int] = []
            run = ""
            for segment in self._inner:
                if isinstance(segment, LiteralSegment):
                    run += segment.text
                    continue
                if run:
                    ids += tokenizer.encode(run, first=False)
                    ends.append(len(ids))
                    run = ""
                ids.append(segment.token.id)
            encoded = self._encoded = tokenizer, ids, ends
        return encoded


Encoded: TypeAlias = tuple[Tokenizer, list[int], list[int]]
"""A tokenizer, what it makes of a stretch, and how many ids there are at the end of each run of text in that."""

Spelled = NewType("Spelled", str)
"""What a stretch looks like, control tokens as they are spelled."""

Fixed: TypeAlias = tuple[Spelled, Stretch]
"""A stretch with its text."""

LiteralText: TypeAlias = tuple[Literal, Site]
"""Text that is written in the template, and where."""

ContentText: TypeAlias = tuple[Content, Path, int | None]
"""Text that came with the request, the value it came from, and the offset in it, as `ContentSegment` has them."""

PrintedText: TypeAlias = LiteralText | ContentText
Printed: TypeAlias = Fixed | LiteralText | ContentText


def fixed(*printed: ControlSegment | LiteralSegment | Mark) -> Fixed:
    """What a template prints in one go, put together."""
    stretch = Stretch(printed)
    return Spelled(text_of_segments(stretch.segments)), stretch


def text_of(printed: Iterable[Printed]) -> str:
    """The rendered string, control tokens as they are spelled."""
    return "".join([part[0] for part in printed])


def text_of_segments(segments: Iterable[Segment]) -> str:
    """The same of segments."""
    return "".join([segment.text for segment in segments])


def _content(part: ContentText) -> list[ContentSegment]:
    """The segments of a content: one, or one for each part that the text was merged from."""
    text, path, _ = part
    if not isinstance(text, MergedText):
        return [ContentSegment(*part)]
    pieces = text.pieces or (Piece("", (), None),)
    return [ContentSegment(Content(piece.text), (*path, *piece.steps), piece.start) for piece in pieces]


def rendering_of(printed: Iterable[Printed]) -> Rendering:
    """The segments that were printed, and the ranges of them that are sampled."""
    segments: list[Segment] = []
    bounds: list[int] = []
    for part in printed:
        if len(part) == 3:
            segments += _content(part)
        elif isinstance(part[1], Stretch):
            bounds += [len(segments) + mark for mark in part[1].marks]
            segments += part[1].segments
        else:
            segments.append(LiteralSegment(*part))
    regions = zip(bounds[::2], bounds[1::2], strict=True)
    return Rendering(segments, [(start, end) for start, end in regions if start < end])
