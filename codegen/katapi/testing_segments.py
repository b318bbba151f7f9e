"""What generated property tests ask of segments: one generation prefix, and a placeholder for each picture."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from katapi.runtime.budget.cut import CutInput
from katapi.runtime.budget.policy import Structure
from katapi.runtime.messages import items_of, messages_of
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ContentSegment, ControlSegment, Segment, Site

Way: TypeAlias = tuple[Site, ...]
"""The places of what is printed on one way through a part of a template; texts that are empty are left out."""


class Prefix(NamedTuple):
    """What a template prints where a generation prefix is asked for."""

    ways: tuple[Way, ...]
    """Each way through it; an empty one where the prefix can be nothing."""
    own: frozenset[Site]
    """The places that print nothing else."""


class Placeholder(NamedTuple):
    """What a template prints for parts of one kind: a picture, a video, a sound."""

    tag: str
    """The field of a part that tells its kind."""
    kind: str
    ways: tuple[Way, ...]
    """Each way through what is printed for one; an empty one where it can be nothing."""


def check_prefix(request: RequestModel, segments: Sequence[Segment], prefix: Prefix) -> None:
    """Asserts that the prefix stands once and last where it is asked for, and nowhere otherwise."""
    own = [site for site in sites_of(segments) if site in prefix.own]
    if getattr(request, "add_generation_prompt", False):
        written = sites_of(segments)
        assert any(
            written[len(written) - len(way) :] == way and own == [site for site in way if site in prefix.own]
            for way in prefix.ways
        )
    else:
        assert not own


def check_placeholders(result: ModelInput, placeholders: Collection[Placeholder]) -> None:
    """Asserts that each picture of a request has its placeholder, in order, and that there are no others.

    Of an input whose first tokens were cut off it asserts that what is left is the end of that, and that no placeholder
    is broken unless images may be.
    """
    sites = {site for one in placeholders for way in one.ways for site in way}
    whole = result.whole if isinstance(result, CutInput) else result
    written = tuple(site for site in sites_of(_with_images_as_one(whole.rendered)) if site in sites)
    ends = {0}
    between = {0}
    for part in _parts(whole.request, placeholders):
        ends = {end + len(way) for end in ends for way in part.ways if written[end : end + len(way)] == way}
        between |= ends
    assert len(written) in ends
    segments = result.rendered.payload
    left = tuple(site for site in sites_of(_with_images_as_one(result.rendered)) if site in sites)
    first = len(written) - len(left)
    assert left == written[first:]
    decision = result.record.decision
    broken = decision is not None and decision.cut is not None and Structure.IMAGES in decision.cut.breaks
    assert broken or first in between
    tokens = zip(map(tuple, result.origins.ranges.tolist()), result.input_ids.tolist(), strict=True)
    alone = [(start, id) for (start, end), id in tokens if end == start + 1 and _stands_at(segments[start], sites)]
    controls = [(at, one) for at, one in enumerate(segments) if _stands_at(one, sites)]
    assert alone == [(at, one.token.id) for at, one in controls if isinstance(one, ControlSegment)]


def _with_images_as_one(rendered: RenderedInput) -> list[Segment]:
    """Segments, the first one alone of what stands for each image whose bytes are at hand."""
    further = {at for span in rendered.images for at in range(span.start + 1, span.stop)}
    return [one for at, one in enumerate(rendered.payload) if at not in further]


def _stands_at(segment: Segment, sites: Collection[Site]) -> bool:
    """Whether a segment is a control token that one of some places prints."""
    return isinstance(segment, ControlSegment) and segment.site in sites


def sites_of(segments: Iterable[Segment]) -> Way:
    """The places in the template of some segments; contents and empty texts are left out."""
    return tuple(one.site for one in segments if one.text and not isinstance(one, ContentSegment))


def _parts(request: RequestModel, placeholders: Collection[Placeholder]) -> Iterator[Placeholder]:
    """What stands for each part of a request that has a placeholder, in order."""
    for message in messages_of(request):
        for name in type(message).model_fields:
            for part in items_of(message, name):
                yield from (one for one in placeholders if getattr(part, one.tag, None) == one.kind)
