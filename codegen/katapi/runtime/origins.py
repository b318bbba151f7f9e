"""Where each token came from: which message, field and part, or which line of the template.

A run of text is tokenized as one string, so a token can cover the seam between two segments; it then knows both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.printed import without_space
from katapi.runtime.segments import NOWHERE, ContentSegment, ControlSegment, LiteralSegment, Path, Segment, Site
from katapi.runtime.tokenization.interface import Tokenizer

if TYPE_CHECKING:  # few inputs have images
    from katapi.runtime.images.assembled import ImagePlace

Kind = Literal["control", "literal", "content", "mixed"]
"""What a token is made of; `mixed` where a merge joined literal and content."""


@dataclass(frozen=True, slots=True)
class ImageOrigin:
    """What of an image or a video a token stands for."""

    index: int
    """The number of the image among those of the input, or of the video, counted from 0 in the order of the ids."""
    path: Path
    """The part of the request that shows it: `("messages", 0, "content", 1)`."""
    indices: tuple[tuple[str, int], ...]
    """The tile, row of patches or group of frames, as its placeholder counts them: `(("tile", 2), ("row", 0))`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The segments that a token covers, in order; more than one where a merge crossed a seam."""

    segments: tuple[Segment, ...]
    """Each with the place that it came from."""
    image: ImageOrigin | None = None
    """Which image it stands for, where it does that for one whose bytes were at hand, and what of it."""
    video: ImageOrigin | None = None
    """The same of a video."""

    @property
    def kind(self) -> Kind:
        """What the token is made of."""
        kinds: set[Kind] = {kind_of(s) for s in self.segments}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def paths(self) -> tuple[Path, ...]:
        """The places in the request that the token came from, image or video too; empty for what the template wrote."""
        shown = tuple(one.path for one in (self.image, self.video) if one is not None)
        return (*shown, *(s.path for s in self.segments if isinstance(s, ContentSegment)))

    @property
    def message(self) -> int | None:
        """The index of the message that the token came from, None where there is none or several."""
        found = {p[1] for p in self.paths if p[:1] == ("messages",)}
        index = found.pop() if len(found) == 1 else None
        return index if isinstance(index, int) else None

    @property
    def field(self) -> str | None:
        """The field of that message, or the parameter of the request; None where a message as a whole stands there."""
        for path in self.paths:
            name = next(iter(path[2:] if path[:1] == ("messages",) else path), None)
            if isinstance(name, str):
                return name
        return None

    @property
    def sites(self) -> tuple[Site, ...]:
        """The places in the template that wrote the token; empty for content, and for what the model alone wrote."""
        written = (s.site for s in self.segments if isinstance(s, ControlSegment | LiteralSegment))
        return tuple(site for site in written if site != NOWHERE)


def kind_of(segment: Segment) -> Kind:
    """A segment's kind in a word."""
    match segment:
        case ControlSegment():
            return "control"
        case LiteralSegment():
            return "literal"
        case ContentSegment():
            return "content"


class Origins(Sequence[Origin]):
    """The origin of each token of an input; `ranges` is int64 of shape [n, 2], half-open ranges of segment indices."""

    def __init__(
        self, segments: Sequence[Segment], ranges: NDArray[np.int64], images: Sequence[ImagePlace] = ()
    ) -> None:
        self._segments = segments
        self._images = images
        self._stops = [place.span.stop for place in images]
        self.ranges = ranges

    def __len__(self) -> int:
        return len(self.ranges)

    @overload
    def __getitem__(self, index: int) -> Origin: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Origin]: ...
    def __getitem__(self, index: int | slice) -> Origin | Sequence[Origin]:
        if isinstance(index, slice):
            return Origins(self._segments, self.ranges[index], self._images)
        first, end = self.ranges[index].tolist()
        return self._origin(first, end)

    def __iter__(self) -> Iterator[Origin]:
        for first, end in self.ranges.tolist():
            yield self._origin(first, end)

    def _origin(self, first: int, end: int) -> Origin:
        """The origin of a token; empty segments between others are no part of it."""
        segments = tuple(self._segments[first:end])
        there = segments if end - first == 1 else tuple(s for s in segments if s.text)
        place = self._place(first, end) if self._images else None
        if place is None:
            return Origin(there)
        origin = place.origin(max(first, place.span.start))
        return Origin(there, None, origin) if place.is_video else Origin(there, origin)

    def _place(self, first: int, end: int) -> ImagePlace | None:
        """The first image or video of which one of the segments is a part."""
        at = bisect_right(self._stops, first)
        if at == len(self._images) or self._images[at].span.start >= end:
            return None
        return self._images[at]


def token_segments(
    segments: Sequence[Segment],
    run_ends: Sequence[int],
    ids: Sequence[int],
    tokenizer: Tokenizer,
    within: tuple[int, int] | None = None,
) -> NDArray[np.int64]:
    """For each token the half-open range of segments that it covers, int64 of shape [n, 2].

    Empty segments are never covered. `run_ends` are those of `assemble_ids`. A token that stands for nothing but what
    the tokenizer put in belongs to the segment that it was put in front of. `within` is the range of segments that the
    ids are of, where they are not those of all.
    """
    within = within or (0, len(segments))
    out = np.zeros((len(ids), 2), dtype=np.int64)
    token = 0
    for begin, stop, count in portions(segments, run_ends, within):
        end = token + count
        filled = [i for i in range(begin, stop) if segments[i].text]
        if count and len(filled) > 1:
            spans = portion_spans(segments, (begin, stop), ids[token:end], tokenizer, within)
            out[token:end] = covered(filled, [len(segments[i].text.encode()) for i in filled], spans)
        elif count:
            out[token:end] = filled[0], filled[0] + 1
        token = end
    return out


def portion_spans(
    segments: Sequence[Segment],
    portion: tuple[int, int],
    ids: Sequence[int],
    tokenizer: Tokenizer,
    within: tuple[int, int],
) -> NDArray[np.int64]:
    """Which bytes of a run of text each of its tokens covers, int64 of shape [n, 2]: of all that its segments hold."""
    before, run = _stripped(segments, *portion, within)
    return tokenizer.spans(run, ids, first=portion[0] == 0) + len(before.encode())


def portions(
    segments: Sequence[Segment], run_ends: Sequence[int], within: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """The control tokens and the runs of text in a range of segments: the range of segments of each, and its ids.

    Ranges are half-open, ids are counted. `run_ends` are those of `assemble_ids`.
    """
    ends = iter(run_ends)
    index, stop = within
    token = 0
    while index < stop:
        begin = index
        index += 1
        if isinstance(segments[begin], ControlSegment):
            token += 1
            yield begin, index, 1
            continue
        while index < stop and not isinstance(segments[index], ControlSegment):
            index += 1
        end = next(ends) if _stripped(segments, begin, index, within)[1] else token
        yield begin, index, end - token
        token = end


def _stripped(segments: Sequence[Segment], begin: int, end: int, within: tuple[int, int]) -> tuple[str, str]:
    """What control tokens strip off the beginning of a run, and the run without what they strip off both its ends."""
    opening = segments[begin - 1] if begin else None
    closing = segments[end] if end < within[1] else None
    text = "".join([segment.text for segment in segments[begin:end]])
    behind = isinstance(closing, ControlSegment) and closing.token.strips_before
    left = without_space(text, before=isinstance(opening, ControlSegment) and opening.token.strips_behind, behind=False)
    return text[: len(text) - len(left)], without_space(left, before=False, behind=behind)


def covered(segments: list[int], widths: list[int], spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """The segments under each of `spans`, which are int64 of shape [n, 2], as ranges in int64 of the same shape.

    Spans count bytes; `segments` are the indices of segments that stand in a row, and `widths` their lengths in bytes.
    """
    ends = np.fromiter(accumulate(widths), np.int64, len(widths))
    begins = np.concatenate(([0], ends[:-1]))
    index = np.array(segments, dtype=np.int64)
    first = np.minimum(np.searchsorted(ends, spans[:, 0], side="right"), len(segments) - 1)
    last = np.searchsorted(begins, spans[:, 1], side="left") - 1
    return np.stack([index[first], index[np.maximum(first, last)] + 1], axis=1)
