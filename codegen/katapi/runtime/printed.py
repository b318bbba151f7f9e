"""What a renderer prints, in the form that costs least: plain tuples, whose first item is the text.

What a template always prints in one go is put together when its module is loaded; what came with the request is a tuple
of the text and its place. The segments that everyone else sees are made of these when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, NewType, TypeAlias

import numpy as np

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

if TYPE_CHECKING:  # few requests have images
    from katapi.runtime.images.placeholder import Placeholder


class Mark(Enum):
    """Where what the model itself generates begins (`SAMPLED`) and ends (`END_SAMPLED`)."""

    SAMPLED = "sampled"
    END_SAMPLED = "end of sampled"


SAMPLED = Mark.SAMPLED
"""The mark, by the name that generated code uses."""
END_SAMPLED = Mark.END_SAMPLED
"""The mark, by the name that generated code uses."""


class Encoded(NamedTuple):
    """What a tokenizer makes of a stretch."""

    tokenizer: Tokenizer
    """The tokenizer."""
    ids: bytes
    """From the first control token to the last, in the bytes of an int64 array."""
    length: int
    """How many ids there are."""
    ends: list[int]
    """How many ids there are at the end of each run of text in that."""


class _Ends(NamedTuple):
    """What a stretch has before its first control token and behind its last one, as `Stretch` says."""

    holds_control: bool
    opening: str
    closing: str
    strips_before: bool
    strips_behind: bool


class Stretch:
    """What is printed one after the other, and all that is known of it beforehand."""

    __slots__ = (
        "_marks",
        "_segments",
        "closing",
        "holds_control",
        "known",
        "opening",
        "strips_before",
        "strips_behind",
    )

    def __init__(self, ends: _Ends, segments: Sequence[Segment] = (), marks: Sequence[int] = ()) -> None:
        self._segments = tuple(segments)
        self._marks = tuple(marks)
        self.holds_control = ends.holds_control
        """Whether there is a control token."""
        self.opening = ends.opening
        """The text before the first control token: it ends a run that may have begun before."""
        self.closing = ends.closing
        """The text behind the last control token: it begins a run that may go on; without one, the whole text."""
        self.strips_before = ends.strips_before
        """Whether the first control token takes white space off the run before it."""
        self.strips_behind = ends.strips_behind
        """Whether the last one takes white space off the run behind it."""
        self.known: Encoded | None = None
        """What the tokenizer that was last asked makes of it."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """What is printed, in order."""
        return self._segments

    @property
    def marks(self) -> tuple[int, ...]:
        """Before which of the segments a sampled region begins or ends."""
        return self._marks

    def encoded(self, tokenizer: Tokenizer) -> Encoded:
        """The ids from the first to the last control token, which depend on nothing outside; remembered."""
        encoded = self.known
        if encoded is None or encoded.tokenizer is not tokenizer:
            ids: list[int] = []
            ends: list[int] = []
            run = ""
            begun = stripping = False
            for segment in self.segments:
                if not isinstance(segment, ControlSegment):
                    run += segment.text if begun else ""
                    continue
                run = without_space(run, before=stripping, behind=segment.token.strips_before)
                if run:
                    ids += tokenizer.encode(run, first=False)
                    ends.append(len(ids))
                    run = ""
                ids.append(segment.token.id)
                begun, stripping = True, segment.token.strips_behind
            encoded = self.known = Encoded(tokenizer, np.array(ids, dtype=np.int64).tobytes(), len(ids), ends)
        return encoded


class ImageStretch(Stretch):
    """What stands for an image."""

    __slots__ = ("__weakref__", "placeholder")

    def __init__(self, segments: Sequence[ControlSegment | LiteralSegment], placeholder: Placeholder) -> None:
        super().__init__(_ends_of(segments), segments)
        self.placeholder = placeholder
        """Which image it is, and what of it each segment stands for."""


class Remembered(Stretch):
    """What was printed of a value that may come again. Its segments are made when somebody asks for them."""

    __slots__ = ("_made", "printed")

    def __init__(self, printed: Sequence[Printed]) -> None:
        super().__init__(_ends_of_printed(printed))
        self.printed = tuple(printed)
        """The same in the form in which it was printed."""
        self._made: tuple[tuple[Segment, ...], tuple[int, ...]] | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        """What is printed, in order."""
        return self._taken_apart()[0]

    @property
    def marks(self) -> tuple[int, ...]:
        """Before which of the segments a sampled region begins or ends."""
        return self._taken_apart()[1]

    def _taken_apart(self) -> tuple[tuple[Segment, ...], tuple[int, ...]]:
        made = self._made
        if made is None:
            segments, marks = _segments_of(self.printed)
            made = self._made = tuple(segments), tuple(marks)
        return made


Spelled = NewType("Spelled", str)
"""What a stretch looks like, control tokens as they are spelled."""

Fixed: TypeAlias = tuple[Spelled, Stretch]
"""A stretch with its text."""

LiteralText: TypeAlias = tuple[Literal, Site]
"""Text that is written in the template, and where."""

ContentText: TypeAlias = tuple[Content, Path, int | None]
"""Text that came with the request, the value it came from, and the offset in it, as `ContentSegment` has them."""


class ImageSpan(NamedTuple):
    """Where the placeholder of an image stands: its segments, from `start` up to but without `stop`."""

    start: int
    stop: int
    placeholder: Placeholder
    """Which image it is, and what of it each segment stands for."""


class Pieces:
    """The pieces of a text that a block of the template printed, in order."""

    __slots__ = ("pieces",)

    def __init__(self, pieces: Iterable[LiteralText | ContentText]) -> None:
        self.pieces = tuple(pieces)
        """The pieces; a text of parts stands here as its pieces."""


KeptText: TypeAlias = tuple[Content, Pieces]
"""Text that a block of the template printed, and its pieces, of which each knows where it came from."""

PrintedText: TypeAlias = LiteralText | ContentText | KeptText
"""Text from any source; the functions of `text.py` keep the source."""
Printed: TypeAlias = Fixed | LiteralText | ContentText | KeptText
"""All that a renderer prints."""


STRIPPED = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What control tokens strip: the characters that Unicode calls White_Space."""


def without_space(run: str, *, before: bool, behind: bool) -> str:
    """A run of text as it is encoded: without the white space that the control tokens at its ends strip."""
    if before:
        run = run.lstrip(STRIPPED)
    return run.rstrip(STRIPPED) if behind else run


def fixed(*printed: ControlSegment | LiteralSegment | Mark) -> Fixed:
    """What a template prints in one go, put together."""
    segments: list[ControlSegment | LiteralSegment] = []
    marks: list[int] = []
    for item in printed:
        if isinstance(item, Mark):
            marks.append(len(segments))
        else:
            segments.append(item)
    return Spelled(text_of_segments(segments)), Stretch(_ends_of(segments), segments, marks)


def _ends_of(segments: Sequence[ControlSegment | LiteralSegment]) -> _Ends:
    controls = [i for i, segment in enumerate(segments) if isinstance(segment, ControlSegment)]
    if not controls:
        return _Ends(False, "", text_of_segments(segments), False, False)
    first, last = segments[controls[0]], segments[controls[-1]]
    return _Ends(
        True,
        text_of_segments(segments[: controls[0]]),
        text_of_segments(segments[controls[-1] + 1 :]),
        isinstance(first, ControlSegment) and first.token.strips_before,
        isinstance(last, ControlSegment) and last.token.strips_behind,
    )


def _ends_of_printed(printed: Iterable[Printed]) -> _Ends:
    opening = ""
    first: Stretch | None = None
    last: Stretch | None = None
    texts: list[str] = []
    for part in printed:
        stretch = part[1]
        if not isinstance(stretch, Stretch) or not stretch.holds_control:
            texts.append(part[0])
            continue
        if first is None:
            first = stretch
            opening = "".join(texts) + stretch.opening
        last = stretch
        texts = [stretch.closing]
    closing = "".join(texts)
    if first is None or last is None:
        return _Ends(False, "", closing, False, False)
    return _Ends(True, opening, closing, first.strips_before, last.strips_behind)


def remembered(printed: Sequence[Printed]) -> Fixed:
    """What was printed of a value, put together."""
    return Spelled(text_of(printed)), Remembered(printed)


def kept(printed: Iterable[Printed]) -> PrintedText:
    """What a block printed, in which there is no control token, as one text."""
    pieces = [piece for part in printed for piece in _pieces_of(part)]
    return Content("".join([piece[0] for piece in pieces])), Pieces(pieces)


def _pieces_of(part: Printed) -> Iterable[LiteralText | ContentText]:
    """The pieces of a part in which there is no control token."""
    if len(part) == 3:
        return [(segment.text, segment.path, segment.start) for segment in content_segments(part)]
    match part[1]:
        case Remembered(printed=printed):
            return [piece for inner in printed for piece in _pieces_of(inner)]
        case Stretch(segments=segments):
            return [segment for segment in segments if isinstance(segment, LiteralSegment)]
        case Pieces(pieces=pieces):
            return pieces
        case site:
            return [(part[0], site)]


def text_of(printed: Iterable[Printed]) -> str:
    """The rendered string, control tokens as they are spelled."""
    return "".join([part[0] for part in printed])


def text_of_segments(segments: Iterable[Segment]) -> str:
    """The same of segments."""
    return "".join([segment.text for segment in segments])


def content_segments(part: ContentText) -> list[ContentSegment]:
    """The segments of a content: one, or one for each part that the text was merged from."""
    text, path, _ = part
    if not isinstance(text, MergedText):
        return [ContentSegment(*part)]
    pieces = text.pieces or (Piece("", (), None),)
    return [ContentSegment(Content(piece.text), (*path, *piece.steps), piece.start) for piece in pieces]


def rendering_of(printed: Iterable[Printed]) -> Rendering:
    """The segments that were printed, and the ranges of them that are sampled."""
    segments, bounds = _segments_of(printed)
    regions = zip(bounds[::2], bounds[1::2], strict=True)
    return Rendering(segments, [(start, end) for start, end in regions if start < end])


def _segments_of(printed: Iterable[Printed]) -> tuple[list[Segment], list[int]]:
    """The segments that were printed, and before which of them a sampled region begins or ends."""
    segments: list[Segment] = []
    bounds: list[int] = []
    for part in printed:
        if len(part) == 3:
            segments += content_segments(part)
        elif isinstance(part[1], Stretch):
            bounds += [len(segments) + mark for mark in part[1].marks]
            segments += part[1].segments
        elif isinstance(part[1], Pieces):
            segments += [
                ContentSegment(*piece) if len(piece) == 3 else LiteralSegment(*piece) for piece in part[1].pieces
            ]
        else:
            segments.append(LiteralSegment(*part))
    return segments, bounds


def images_of(printed: Iterable[Printed]) -> tuple[ImageSpan, ...]:
    """The placeholders of images, in order."""
    spans: list[ImageSpan] = []
    at = 0
    for part in printed:
        if len(part) == 3:
            at += len(content_segments(part)) if isinstance(part[0], MergedText) else 1
        elif isinstance(part[1], Stretch):
            stop = at + len(part[1].segments)
            if isinstance(part[1], ImageStretch):
                spans.append(ImageSpan(at, stop, part[1].placeholder))
            at = stop
        else:
            at += len(part[1].pieces) if isinstance(part[1], Pieces) else 1
    return tuple(spans)


def printed_again(
    segments: Sequence[Segment], regions: Sequence[tuple[int, int]], images: Sequence[ImageSpan]
) -> list[Printed]:
    """Segments as a renderer prints them: with the marks of what is sampled, and the placeholders of images in one."""
    opened, closed = {start for start, _ in regions}, {end for _, end in regions}
    whole = {image.start: image for image in images}
    printed: list[Printed] = []
    index = 0
    while index < len(segments):
        printed += [_CLOSING] if index in closed else []
        printed += [_OPENING] if index in opened else []
        segment, image = segments[index], whole.get(index)
        if image is not None and not isinstance(segment, ContentSegment):
            printed.append(image.placeholder.at(segment.site))
            index = image.stop
            continue
        printed.append(fixed(segment) if isinstance(segment, ControlSegment) else segment)
        index += 1
    return [*printed, _CLOSING] if len(segments) in closed else printed


_OPENING = fixed(SAMPLED)
_CLOSING = fixed(END_SAMPLED)
