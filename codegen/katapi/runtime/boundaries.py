"""What becomes of contents that spell a text by which a template parts messages.

Text that parts messages can be spelled by a content, and no id tells the two apart. A spec may say that such a content
is refused, or that the text is escaped in it. What counts is how a run of text reads: it is all the same whether one
content spells the text, or several that meet, or a content with the template's own text beside it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from katapi.runtime.errors import TemplateError
from katapi.runtime.places import json_path, quoted
from katapi.runtime.printed import ContentText, LiteralText, Pieces, Printed, Remembered, Stretch, content_segments
from katapi.runtime.segments import Content, ControlSegment


class Boundary(NamedTuple):
    """A `text` that parts messages.

    `escape` stands in its place where a content spells it; None refuses the request. `rule` is the line of the spec.
    """

    text: str
    escape: str | None
    rule: str


class _Part(NamedTuple):
    """A text in a run, and which of all that is printed it is; None where the template or the model wrote it."""

    text: str
    content: int | None


class _Edit(NamedTuple):
    """The range of a content that an escape replaces."""

    start: int
    end: int
    escape: str


def guarded(printed: list[Printed], boundaries: Sequence[Boundary]) -> list[Printed]:
    """The same, with escapes where contents spell boundaries.

    What the model itself wrote may spell them. Raises `TemplateError` T103 where a boundary is not escaped; `where` is
    the place of the content that spells it, or begins to.
    """
    pieces = [piece for part in printed for piece in _pieces(part)]
    edits: dict[int, list[_Edit]] = {}
    for run in _runs(pieces):
        whole = "".join([part.text for part in run])
        if any(boundary.text in whole for boundary in boundaries):
            _look_through(run, whole, boundaries, pieces, edits)
    if not edits:
        return printed
    return [out for at, piece in enumerate(pieces) for out in _edited(piece, edits.get(at, ()))]


def _pieces(part: Printed) -> Sequence[Printed]:
    """What was printed, texts with several origins taken apart."""
    if len(part) == 3:
        return [(segment.text, segment.path, segment.start) for segment in content_segments(part)]
    if isinstance(part[1], Remembered):
        return [piece for inner in part[1].printed for piece in _pieces(inner)]
    return part[1].pieces if isinstance(part[1], Pieces) else (part,)


def _runs(pieces: Sequence[Printed]) -> Iterator[list[_Part]]:
    """The texts between two control tokens, none of them empty."""
    run: list[_Part] = []
    sampled = False
    for at, piece in enumerate(pieces):
        if len(piece) == 3:
            run.append(_Part(piece[0], None if sampled else at))
        elif isinstance(piece[1], Stretch):
            for segment in piece[1].segments:
                if isinstance(segment, ControlSegment):
                    yield [part for part in run if part.text]
                    run = []
                else:
                    run.append(_Part(segment.text, None))
            sampled ^= len(piece[1].marks) % 2 == 1
        else:
            run.append(_Part(piece[0], None))
    yield [part for part in run if part.text]


def _look_through(
    run: Sequence[_Part],
    whole: str,
    boundaries: Sequence[Boundary],
    pieces: Sequence[Printed],
    edits: dict[int, list[_Edit]],
) -> None:
    """Notes what escapes replace in a run; raises `TemplateError` where a boundary is refused."""
    ends = list(accumulate(len(part.text) for part in run))
    replaced = (0, 0)
    for start, end, boundary in _occurrences(whole, boundaries):
        at = bisect_right(ends, start)
        while at < len(run) and run[at].content is None and ends[at] < end:
            at += 1
        part = run[at]
        first = ends[at] - len(part.text)
        if part.content is None or first >= end or (start < replaced[1] and end > replaced[0]):
            continue
        if boundary.escape is None:
            raise _refusal(boundary, pieces[part.content])
        replaced = max(start, first), min(end, ends[at])
        edits.setdefault(part.content, []).append(_Edit(replaced[0] - first, replaced[1] - first, boundary.escape))


def _occurrences(whole: str, boundaries: Sequence[Boundary]) -> list[tuple[int, int, Boundary]]:
    """Where boundaries stand in a text, from left to right, the longer first; they may overlap."""
    found: list[tuple[int, int, Boundary]] = []
    for boundary in boundaries:
        at = whole.find(boundary.text)
        while at >= 0:
            found.append((at, at + len(boundary.text), boundary))
            at = whole.find(boundary.text, at + 1)
    return sorted(found, key=lambda one: (one[0], -one[1]))


def _refusal(boundary: Boundary, piece: Printed) -> TemplateError:
    assert len(piece) == 3, "contents alone are refused"
    return TemplateError(
        f"this content spells {quoted(boundary.text)}, by which the template parts messages",
        code="T103",
        where=json_path(piece[1]),
        help=f"take it out of the content; the rule stands at {boundary.rule}",
    )


def _edited(piece: Printed, edits: Sequence[_Edit]) -> Iterator[LiteralText | ContentText | Printed]:
    """A content with its escapes, each of which comes from the content and is no stretch of it."""
    if not edits or len(piece) != 3:
        yield piece
        return
    text, path, start = piece
    at = 0
    for edit in [*edits, _Edit(len(text), len(text), "")]:
        if edit.start > at:
            yield Content(text[at : edit.start]), path, None if start is None else start + at
        if edit.escape:
            yield Content(edit.escape), path, None
        at = edit.end
