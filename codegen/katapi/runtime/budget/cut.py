"""Cuts tokens off an input on the left, as few as can be, and says what of its structure breaks.

A cut before the token `k` leaves the tokens from `k` on. What it breaks is told from the request and from the origins
of the tokens (`structures.py`). That something of what the user said last is left, and with it the generation prefix,
no cut may break.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field, replace
from functools import cached_property
from typing import Literal

from katapi.runtime.budget.decision import Cut, PolicyDecision
from katapi.runtime.budget.layout import Layout
from katapi.runtime.budget.policy import CutLeft, Structure
from katapi.runtime.budget.starts import Starts
from katapi.runtime.budget.structures import Structures
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import BudgetError
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.origins import Origins
from katapi.runtime.printed import ImageSpan, printed_again
from katapi.runtime.segments import Content, ContentSegment, ControlSegment, LiteralSegment, Segment
from katapi.runtime.segments import Literal as LiteralString

_SHOWN = 40


@dataclass(frozen=True, eq=False)
class CutInput(ModelInput):
    """An input without its first tokens: its positions begin with 0, its text is what the model sees."""

    whole: ModelInput = field(repr=False, kw_only=True)
    """The input before it was cut."""
    first: int = field(kw_only=True)
    """How many tokens were cut off."""
    _layout: Layout = field(repr=False, kw_only=True)

    @cached_property
    def origins(self) -> Origins:
        """The origin of each token: n entries."""
        ranges = self._layout.ranges_from(self.first)
        return Origins(self.rendered.payload, ranges - ranges[0, 0], self._image_places)

    def _regions(self, messages: Literal["last"] | Collection[int]) -> list[tuple[int, int]]:
        return _behind(self.whole._regions(messages), self._layout.first_segment(self.first))


def cut_left(whole: ModelInput, overflow: CutLeft, starts: Starts, decision: PolicyDecision) -> CutInput:
    """An input of more tokens than there is room for, without its first ones.

    It loses as few tokens as can be, so that nothing breaks but what `overflow` names. `decision` is what was decided
    before of the whole input. Raises `BudgetError` B102 where no such cut leaves few enough.
    """
    count = len(whole)
    room = decision.window - decision.reserve
    layout = Layout(whole)
    found = Structures(whole, layout, starts)
    least = count - room
    for first in found.places(least, overflow.breaks):
        broken = found.broken(first)
        if broken <= overflow.breaks:
            return _cut(whole, layout, first, found.message(first), broken, decision)
    raise _nowhere(found, least, overflow, decision, count)


def _nowhere(found: Structures, least: int, overflow: CutLeft, decision: PolicyDecision, count: int) -> BudgetError:
    missing = found.needed(least, overflow.breaks)
    if missing is None:
        why = "what the user said last and what follows it are longer than that"
        help_ = f"shorten the conversation by {least} tokens"
    else:
        names = ", ".join(f"`{structure.value}`" for structure in missing)
        why = f"each cut that leaves so few breaks {names} at least, which the policy does not allow"
        allowed = ", ".join(f"breaks {structure.value}" for structure in missing)
        help_ = f"shorten the conversation by {least} tokens, or add `{allowed}` to the policy"
    return BudgetError(
        f"the input has {count} tokens, of which at most {decision.window - decision.reserve} can be left: {why}",
        code="B102",
        where=f"policy {decision.policy}",
        help=help_,
    )


def _cut(
    whole: ModelInput,
    layout: Layout,
    first: int,
    message: int | None,
    broken: frozenset[Structure],
    decision: PolicyDecision,
) -> CutInput:
    segments = whole.rendered.payload
    index = layout.first_segment(first)
    rest = [_rest(segments[index], *layout.offset(first)), *segments[index + 1 :]]
    regions = _behind(whole.rendered.sampled, index)
    left = [span for span in whole.rendered.images if span.start >= index]
    images = [ImageSpan(span.start - index, span.stop - index, span.placeholder) for span in left]
    rendered = RenderedInput(printed_again(rest, regions, images), whole._declared.template)
    cut = Cut(
        first,
        tuple(structure for structure in Structure if structure in broken),
        message,
        rendered.text[:_SHOWN],
    )
    ids = whole.input_ids[first:]
    decided = replace(decision, input=len(ids), cut=cut)
    return CutInput(
        ids,
        rendered,
        whole.request,
        whole._declared,
        whole._incoming,
        whole._tokenizer,
        None,
        (),
        decided,
        whole=whole,
        first=first,
        _layout=layout,
    )


def _behind(regions: Iterable[tuple[int, int]], index: int) -> list[tuple[int, int]]:
    """What of ranges of segments is left where the segments before one are gone."""
    return [(max(0, start - index), end - index) for start, end in regions if end > index]


def _rest(segment: Segment, offset: int, within: bool) -> Segment:
    """What is left of a segment behind so many bytes of it; of a character that is broken U+FFFD is left."""
    if isinstance(segment, ControlSegment) or (offset == 0 and not within):
        return segment
    gone, left = segment.text.encode()[:offset].decode(), segment.text.encode()[offset:].decode()
    left = "\ufffd" + left if within else left
    match segment:
        case LiteralSegment(site=site):
            return LiteralSegment(LiteralString(left), site)
        case ContentSegment(path=path, start=start):
            return ContentSegment(Content(left), path, None if start is None or within else start + len(gone))
