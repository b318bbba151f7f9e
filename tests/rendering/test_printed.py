"""What is printed and the segments that it stands for are one rendering: the same text, ids and sampled regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.assembly import assemble_ids
from katapi.runtime.model_input import RenderedInput
from katapi.runtime.origins import token_segments
from katapi.runtime.printed import (
    END_SAMPLED,
    SAMPLED,
    ContentText,
    LiteralText,
    Mark,
    Printed,
    PrintedText,
    fixed,
    rendering_of,
    text_of,
)
from katapi.runtime.record import Identity
from katapi.runtime.segments import Content, ContentSegment, ControlSegment, Literal, LiteralSegment, Segment, Site
from katapi.runtime.text import after, after_last, before, before_last, trim, trim_end, trim_start
from katapi_models import book, qwen3
from katapi_models.book.vocabulary import Control as BookControl
from katapi_models.qwen.vocabulary import Control

SITE = Site(3, 5)
PATH = ("messages", 1, "content")
TOKENIZER = qwen3.MODEL.tokenizer
Thing = ControlSegment | LiteralSegment | ContentSegment | Mark

texts = st.sampled_from(["", "a", " b", "\n", "<think>", "天空", "x y "])
controls = st.sampled_from(list(Control)).map(lambda token: ControlSegment(token, SITE))
literals = texts.map(lambda text: LiteralSegment(Literal(text), SITE))
contents = texts.map(lambda text: ContentSegment(Content(text), PATH, 2))


@st.composite
def printed(draw: st.DrawFn) -> list[Thing]:
    """What a template prints, one thing at a time, with sampled regions that are opened and closed in turn."""
    out: list[Thing] = []
    sampled = False
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 4)) == 0:
            sampled = not sampled
            out.append(SAMPLED if sampled else END_SAMPLED)
        else:
            out.append(draw(controls | literals | contents))
    return [*out, END_SAMPLED] if sampled else out


def in_one_go(things: Sequence[Thing], cuts: Sequence[bool]) -> list[Printed]:
    """Neighbours that never change put together, except where there is a cut; some literals as texts by themselves."""
    out: list[Printed] = []
    held: list[ControlSegment | LiteralSegment | Mark] = []
    for index, thing in enumerate(things):
        if held and (cuts[index % len(cuts)] or isinstance(thing, ContentSegment)):
            out.append(fixed(*held))
            held.clear()
        if isinstance(thing, ContentSegment):
            out.append((thing.text, thing.path, thing.start))
        elif isinstance(thing, LiteralSegment) and not held and cuts[(index + 1) % len(cuts)]:
            out.append((thing.text, thing.site))
        else:
            held.append(thing)
    return [*out, fixed(*held)] if held else out


def one_by_one(segments: Sequence[Segment]) -> list[Printed]:
    """Each segment printed by itself."""
    return [(s.text, s.path, s.start) if isinstance(s, ContentSegment) else fixed(s) for s in segments]


@given(things=printed(), cuts=st.lists(st.booleans(), min_size=1, max_size=7))
def test_whatever_is_put_together_the_rendering_is_the_same(things: list[Thing], cuts: list[bool]) -> None:
    segments = [thing for thing in things if not isinstance(thing, Mark)]
    parts = in_one_go(things, cuts)
    rendering = rendering_of(parts)
    assert rendering.segments == segments
    assert rendering.sampled == regions(things)
    assert text_of(parts) == "".join(segment.text for segment in segments)
    ids, run_ends = assemble_ids(parts, TOKENIZER)
    assert (ids, run_ends) == assemble_ids(one_by_one(segments), TOKENIZER)
    assert (ids, run_ends) == by_runs(segments)
    ranges = token_segments(segments, run_ends, ids, TOKENIZER)
    assert all("".join(s.text for s in segments[first:end]) for first, end in ranges.tolist())


def regions(things: Sequence[Thing]) -> list[tuple[int, int]]:
    """The ranges of segments between the marks that hold any."""
    found: list[tuple[int, int]] = []
    count = start = 0
    for thing in things:
        if thing is SAMPLED:
            start = count
        elif thing is END_SAMPLED:
            found += [(start, count)] if start < count else []
        else:
            count += 1
    return found


def by_runs(segments: Sequence[Segment]) -> tuple[list[int], list[int]]:
    """The ids of segments by the definition: a control token is its id, all text between two is encoded as one."""
    ids: list[int] = []
    ends: list[int] = []
    run = ""
    for segment in [*segments, None]:
        if isinstance(segment, LiteralSegment | ContentSegment):
            run += segment.text
            continue
        if run:
            ids += TOKENIZER.encode(run)
            ends.append(len(ids))
            run = ""
        if segment is not None:
            ids.append(segment.token.id)
    return ids, ends


def test_a_stretch_is_encoded_for_the_tokenizer_that_asks() -> None:
    token = BookControl.SYSTEM
    stretch = fixed(ControlSegment(token, SITE), LiteralSegment(Literal("天空是"), SITE), ControlSegment(token, SITE))
    for tokenizer in (book.MODEL.tokenizer, TOKENIZER, book.MODEL.tokenizer):
        ids, ends = assemble_ids([stretch, stretch], tokenizer)
        inner = [token.id, *tokenizer.encode("天空是", first=False), token.id]
        assert ids == inner * 2
        assert ends == [len(inner) - 1, 2 * len(inner) - 1]


CONTENT: ContentText = (Content("  a=b=c\n"), PATH, 10)
MADE: ContentText = (Content("  a=b=c\n"), PATH, None)
WRITTEN: LiteralText = (Literal("  a=b=c\n"), SITE)


@pytest.mark.parametrize(
    ("left", "start", "text"),
    [
        (trim, 2, "a=b=c"),
        (trim_start, 2, "a=b=c\n"),
        (trim_end, 0, "  a=b=c"),
        (lambda source: trim(source, " a"), 3, "=b=c\n"),
        (lambda source: trim_start(source, "x"), 0, "  a=b=c\n"),
        (lambda source: before(source, "="), 0, "  a"),
        (lambda source: after(source, "="), 4, "b=c\n"),
        (lambda source: before_last(source, "="), 0, "  a=b"),
        (lambda source: after_last(source, "="), 6, "c\n"),
        (lambda source: after_last(source, "#"), 0, "  a=b=c\n"),
        (lambda source: trim(source, " \nabc="), 8, ""),
    ],
)
def test_a_cut_knows_where_it_stood(left: Callable[[PrintedText], PrintedText], start: int, text: str) -> None:
    assert left(CONTENT) == (text, PATH, 10 + start)
    assert left(MADE) == (text, PATH, None)
    assert left(WRITTEN) == (text, SITE)


def test_renderings_are_equal_by_what_they_print_and_the_template() -> None:
    template = Identity("T@1", "sha256:0")
    end = ControlSegment(Control.IM_END, SITE)
    literal = LiteralSegment(Literal("a"), SITE)
    one = RenderedInput([fixed(end, literal)], template)
    assert one == RenderedInput([fixed(end), (Literal("a"), SITE)], template)
    assert one != RenderedInput([fixed(end, literal)], Identity("T@2", "sha256:0"))
    assert one != RenderedInput([fixed(end), (Content("a"), PATH, 0)], template)
    assert one.payload is one.payload
    assert one.text == "<|im_end|>a"
