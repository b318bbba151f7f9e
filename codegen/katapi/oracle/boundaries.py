"""Contents that spell what parts messages: every character of a run is looked at.

A boundary counts where at least one of its characters is of a content that the model did not write. The first stretch
of such characters that lie in one content makes way for the escape; a boundary that has lost a character is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from katapi.language.source import Source
from katapi.model import template as t
from katapi.model.sites import cited
from katapi.runtime.errors import TemplateError
from katapi.runtime.places import json_path
from katapi.runtime.segments import Content, ContentSegment, ControlSegment, Path, Rendering, Segment


@dataclass(frozen=True, slots=True)
class _Letter:
    """A character of a run, of which segment it is and where in it; `path` where a content spells it."""

    text: str
    segment: int
    offset: int
    path: Path | None


def guarded(rendering: Rendering, boundaries: Sequence[t.Boundary], source: Source) -> Rendering:
    """The rendering with escapes. Raises `TemplateError` T103 where a boundary is refused: it has no escape."""
    wanted = sorted(boundaries, key=lambda one: len(one.text), reverse=True)
    replaced: dict[tuple[int, int], str] = {}
    for run in _runs(rendering):
        text = "".join(letter.text for letter in run)
        for start in range(len(run)):
            for boundary in wanted:
                if text.startswith(boundary.text, start):
                    _answer(boundary, run[start : start + len(boundary.text)], replaced, source)
    segments: list[Segment] = []
    begins: list[int] = []
    for number, segment in enumerate(rendering.segments):
        begins.append(len(segments))
        segments += _escaped(segment, {at: new for (owner, at), new in replaced.items() if owner == number})
    begins.append(len(segments))
    return Rendering(segments, [(begins[start], begins[end]) for start, end in rendering.sampled])


def _runs(rendering: Rendering) -> list[list[_Letter]]:
    sampled = {at for start, end in rendering.sampled for at in range(start, end)}
    runs: list[list[_Letter]] = [[]]
    for number, segment in enumerate(rendering.segments):
        if isinstance(segment, ControlSegment):
            runs.append([])
            continue
        path = segment.path if isinstance(segment, ContentSegment) and number not in sampled else None
        runs[-1] += [_Letter(text, number, at, path) for at, text in enumerate(segment.text)]
    return runs


def _answer(
    boundary: t.Boundary, letters: Sequence[_Letter], replaced: dict[tuple[int, int], str], source: Source
) -> None:
    """Does what the spec says of one place where the text of a boundary stands."""
    spelled = [letter for letter in letters if letter.path is not None]
    if not spelled or any((letter.segment, letter.offset) in replaced for letter in letters):
        return
    if boundary.escape is None:
        raise TemplateError(
            f"a content spells {boundary.text!r}",
            code="T103",
            where=json_path(spelled[0].path or ()),
            help=f"{cited(boundary.span, source)} refuses it",
        )
    stretch = [letter for letter in spelled if letter.segment == spelled[0].segment]
    for letter in stretch:
        replaced[letter.segment, letter.offset] = boundary.escape if letter is stretch[0] else ""


def _escaped(segment: Segment, replaced: dict[int, str]) -> list[Segment]:
    """A segment with other text at some offsets."""
    if not replaced or not isinstance(segment, ContentSegment):
        return [segment]
    out: list[Segment] = []
    text, start = "", 0
    for at, letter in enumerate(segment.text):
        if at not in replaced:
            start = start if text else at
            text += letter
            continue
        if text:
            out.append(_stretch(segment, text, start))
        text = ""
        if replaced[at]:
            out.append(ContentSegment(Content(replaced[at]), segment.path, None))
    return [*out, _stretch(segment, text, start)] if text else out


def _stretch(segment: ContentSegment, text: str, start: int) -> ContentSegment:
    return ContentSegment(Content(text), segment.path, None if segment.start is None else segment.start + start)
