"""Puts a completion behind an input, and behind the completion what the template prints there of the conversation.

The ids of both stay as they are. What is printed of the conversation with the reply and what was said then tells what
comes behind: the closing token, where sampling was cut off before it, the rest of the reply's turn, the new messages,
and the generation prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.assembly import assemble_array
from katapi.runtime.completion import Item, SampledRun, controls_of, items_of
from katapi.runtime.errors import ExtensionError, TokenizerError
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.owners import owners_of
from katapi.runtime.passages import AssembledPassage, Passage
from katapi.runtime.placement import placed
from katapi.runtime.printed import ImageSpan, Printed, printed_again
from katapi.runtime.sampled_passage import SampledPassage
from katapi.runtime.segments import (
    ContentSegment,
    ControlSegment,
    ControlToken,
    Literal,
    LiteralSegment,
    Segment,
)
from katapi.runtime.tokenization.interface import Tokenizer


class Whole(NamedTuple):
    """What the template prints of a conversation: `rendered`, and where in it the reply stands that is a completion.

    `start` and `end` are the half-open range of segments that the model generates of the reply.
    """

    rendered: RenderedInput
    start: int
    end: int

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments."""
        return self.rendered.payload

    @property
    def closing(self) -> ControlSegment | LiteralSegment | None:
        """What ends the reply; None where its text does."""
        printed = next((s for s in reversed(self.segments[self.start : self.end]) if s.text), None)
        return None if isinstance(printed, ContentSegment) else printed


class Extended(NamedTuple):
    """The parts of the input that another one becomes: what is `printed` of it, its `ids`, and its `passages`."""

    printed: list[Printed]
    ids: NDArray[np.int64]
    """The ids, int64 of shape [n]."""
    passages: tuple[Passage, ...]
    completion: tuple[int, int]
    """The half-open range of the ids that the model sampled."""


def whole_conversation(rendered: RenderedInput, roles: Sequence[str], reply: int, said: Whole | None = None) -> Whole:
    """What the template printed of a conversation, with the place of the message `reply` in it.

    `said` is the conversation that ends with it: a header of the next message that ended the reply is no part of that.

    Raises `ExtensionError` X106 where nothing was printed of that message that a model generates.
    """
    owners = owners_of(rendered.payload, rendered.sampled, roles)
    regions = [region for region, owner in zip(rendered.sampled, owners, strict=True) if owner == reply]
    if not regions:
        raise ExtensionError(
            "the template prints nothing of the reply that a model generates",
            code="X106",
            where=f"messages[{reply}]",
            help="pass the reply as a message that the template prints",
        )
    filled = [region for region in regions if any(s.text for s in rendered.payload[slice(*region)])] or regions
    own = () if said is None else said.segments[said.start : said.end]
    tokens = {segment.token for segment in own if isinstance(segment, ControlSegment)}
    while said is not None and len(filled) > 1:
        header = rendered.payload[slice(*filled[-1])]
        if not all(isinstance(segment, ControlSegment) and segment.token not in tokens for segment in header):
            break
        filled.pop()
    return Whole(rendered, filled[0][0], filled[-1][1])


def refuse_earlier(whole: Whole, reply: int) -> None:
    """Raises `ExtensionError` X107 where a message behind the reply is printed before its end, where no id can go."""
    for segment in whole.segments[: whole.end]:
        match segment:
            case ContentSegment(text=text, path=("messages", int(index), *_)) if text and index > reply:
                raise ExtensionError(
                    "the template prints this message before the end of the reply, where no id can be put in any more",
                    code="X107",
                    where=f"new_messages[{index - reply - 1}]",
                    help="begin a new conversation with `assemble`, or say it in a message of another role",
                )
            case _:
                pass


def refuse_unknown(completion: Sequence[int], tokenizer: Tokenizer) -> None:
    """Raises `ExtensionError` X102 where an id is no token."""
    try:
        tokenizer.decode(completion)
    except TokenizerError:
        for at, token in enumerate(completion):
            try:
                tokenizer.decode([token])
            except TokenizerError as error:
                where = f"completion_ids[{at}]"
                raise ExtensionError(error.message, code="X102", where=where, help=error.help) from None
        raise


def extended(
    prev: ModelInput, completion: Sequence[int], said: Whole, whole: Whole, reply: int, tokenizer: Tokenizer
) -> Extended:
    """An input with a completion, and what comes behind it.

    `said` is the conversation that ends with the reply, as the model would have it sampled; `whole` goes on with the
    new messages. `reply` is the index of the reply. Raises `ExtensionError` X103 for text behind the token that closed
    the reply.
    """
    past = prev.rendered.payload
    controls = controls_of(whole.segments)
    last = next((s for s in reversed(past) if s.text), None)
    items = items_of(completion, controls, tokenizer, behind_control=isinstance(last, ControlSegment))
    _refuse_beyond(items, completion, said)
    sampled = placed(items, said.segments[said.start : said.end], reply, tokenizer)
    segments = [segment for item in sampled for segment in item.segments]
    missing, rest = _missing(items, said, whole)
    tail = [*missing, *whole.segments[rest:]]
    # A header that would have ended the reply, and that the model did not sample, is put in.
    marked_behind = [region for region in whole.rendered.sampled if region[0] >= rest and region[0] != whole.end]
    regions = [(a - rest + len(missing), b - rest + len(missing)) for a, b in marked_behind]

    shown = [span for span in whole.rendered.images if span.start >= rest]
    images = [ImageSpan(a - rest + len(missing), b - rest + len(missing), which) for a, b, which in shown]
    printed = printed_again(tail, regions, images)
    before = segments[-1] if segments else last
    stripping = isinstance(before, ControlSegment) and before.token.strips_behind
    tail_ids, run_ends = assemble_array(printed, tokenizer, first=False, stripping=stripping)
    passages: tuple[Passage, ...] = (
        *(_stopped(passage, len(past)) for passage in prev._kept_passages),
        SampledPassage(tuple(sampled), tuple(controls)[:1], len(past) + len(segments)),
        AssembledPassage(tail_ids, run_ends),
    )
    marked = printed_again(segments, [(0, len(segments))] if segments else [], ())
    ids = np.concatenate((prev.input_ids, np.array(completion, dtype=np.int64), tail_ids))
    ids.setflags(write=False)
    return Extended(
        [*prev.rendered.printed, *marked, *printed],
        ids,
        passages,
        (len(prev), len(prev) + len(completion)),
    )


def _stopped(passage: Passage, stop: int) -> Passage:
    """A passage, which others come behind."""
    match passage:
        case AssembledPassage(ids=ids, run_ends=run_ends, stop=None):
            return AssembledPassage(ids, run_ends, stop)
        case _:
            return passage


def _refuse_beyond(items: Sequence[Item], completion: Sequence[int], said: Whole) -> None:
    """Raises `ExtensionError` X103 where text goes on behind the token that closes the reply.

    Other control tokens may stand there: some models sample more of them than their template prints.
    """
    closing = said.closing
    if not isinstance(closing, ControlSegment):
        return
    printed = said.segments[said.start : said.end]
    left = sum(1 for s in printed if isinstance(s, ControlSegment) and s.token is closing.token)
    at = 0
    for item in items:
        if isinstance(item, SampledRun):
            if left <= 0:
                raise ExtensionError(
                    f"the completion goes on with text behind {closing.token.spelling}, which closes the reply",
                    code="X103",
                    where=f"completion_ids[{at}]",
                    help="pass the ids up to that token, and what comes behind it in new messages",
                )
            at += len(item.ids)
        else:
            left -= item is closing.token
            at += 1


def _missing(items: Sequence[Item], said: Whole, whole: Whole) -> tuple[list[Segment], int]:
    """What of the closing of the reply the model did not sample, and the index of the segment that comes behind."""
    closing = whole.closing
    if isinstance(closing, LiteralSegment):
        rest = closing.text[_begun(items, closing.text) :]
        return [LiteralSegment(Literal(rest), closing.site)] if rest else [], whole.end
    if not (items and closing is not None and items[-1] is closing.token):
        ahead = next((i for i in range(whole.end, len(whole.segments)) if whole.segments[i].text), whole.end)
        following = whole.segments[ahead] if ahead < len(whole.segments) else None
        if items and isinstance(following, ControlSegment) and items[-1] is following.token:
            # The model itself opened what comes next: a turn whose beginning stops it, or the results of its calls.
            return [], ahead + 1
    closings = {c.token for c in (closing, said.closing) if isinstance(c, ControlSegment)}
    closed = any(item in closings for item in takewhile(_is_control, reversed(items)))
    return [] if closed or closing is None else [closing], whole.end


def _is_control(item: Item) -> bool:
    return isinstance(item, ControlToken)


def _begun(items: Sequence[Item], closing: str) -> int:
    """How many characters of a closing that is text end a completion already; before control tokens, all or none."""
    run = next((item for item in reversed(items) if isinstance(item, SampledRun)), None)
    if run is None:
        return 0
    least = 1 if items[-1] is run else len(closing)
    return next((size for size in range(len(closing), least - 1, -1) if run.text.endswith(closing[:size])), 0)
