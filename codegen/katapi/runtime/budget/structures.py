"""What of an input's structure a cut before one of its tokens would break.

A template prints a message, or several that one arm takes together, in one piece: a unit. Where units begin is told by
the places of the template that can print first of one (`Starts`) and by the contents: between contents of two messages
the first segment of such a place begins a unit. A message of which nothing came with the request belongs to the unit of
the next one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.budget.policy import Structure
from katapi.runtime.budget.starts import Starts
from katapi.runtime.dataclass import dataclass
from katapi.runtime.model_input import ModelInput
from katapi.runtime.printed import without_space
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment, Segment

_INSTRUCTIONS = ("system", "developer")
_SPEAKERS = (*_INSTRUCTIONS, "user", "assistant")
_CALLS = "tool_calls"
_MEDIA = ("image", "video", "audio")


@dataclass(frozen=True, slots=True)
class Unit:
    """What one arm printed: half-open ranges of segments and of tokens, and the messages whose contents stand there."""

    segments: tuple[int, int]
    tokens: tuple[int, int]
    messages: tuple[int, ...]
    clean: bool
    """Whether it begins with a token of its own, which no merge joined to what stands before."""


class Structures:
    """The structure of one input."""

    def __init__(self, whole: ModelInput, starts: Starts) -> None:
        self._whole = whole
        self._segments = whole.rendered.payload
        self._ranges = whole.origins.ranges
        self._messages: Sequence[object] = getattr(whole.request, "messages", ())
        self._roles = [str(getattr(message, "role", "")) for message in self._messages]
        self._owners = [_message(segment) for segment in self._segments]
        self.units = self._units(starts)
        """All units in order; what stands before the first is one, without messages."""
        self._clean = dict.fromkeys(unit.tokens[0] for unit in self.units if unit.clean)
        self._calls = [*self._call_groups()]
        self._media = [unit.tokens for unit in self.units if any(map(self._has_media, unit.messages))]
        self._spans: dict[int, NDArray[np.int64]] = {}

    def places(self, least: int, breaks: Iterable[Structure]) -> Iterable[int]:
        """The tokens, from `least` on, before which a cut could be that breaks no message, or any where it may."""
        last = self.last
        if Structure.MESSAGES in breaks:
            return range(least, last + 1)
        return [first for first in self._clean if least <= first <= last]

    def broken(self, first: int) -> frozenset[Structure]:
        """What a cut before a token would break."""
        checks = {
            Structure.CHARACTERS: self.offset(first)[1],
            Structure.MESSAGES: first not in self._clean,
            Structure.CALLS: any(start < first < end for start, end in self._calls),
            Structure.INSTRUCTIONS: first > self._instructions,
            Structure.IMAGES: any(start < first < end for start, end in self._media),
        }
        return frozenset(structure for structure, is_broken in checks.items() if is_broken)

    def needed(self, least: int, breaks: frozenset[Structure]) -> tuple[Structure, ...] | None:
        """What else must be broken at least; None where that is not enough."""
        kinds = {self.broken(first) - breaks for first in range(least, self.last + 1)}
        order = [*Structure]
        found = [tuple(sorted(kind, key=order.index)) for kind in kinds]
        return min(found, key=lambda kind: (len(kind), [order.index(one) for one in kind]), default=None)

    def message(self, first: int) -> int | None:
        """The message in whose unit an input begins that is cut before a token."""
        index = int(self._ranges[first, 0])
        unit = next(unit for unit in reversed(self.units) if unit.segments[0] <= index)
        following = (owner for owner in self._owners[index : unit.segments[1]] if owner is not None)
        return next(following, unit.messages[-1] if unit.messages else None)

    @cached_property
    def last(self) -> int:
        """The last token before which a cut may be: one of what the user said last, or of the last message."""
        users = [index for index, role in enumerate(self._roles) if role == "user"]
        current = users[-1] if users else len(self._roles) - 1
        own = [index for index, owner in enumerate(self._owners) if owner == current and self._segments[index].text]
        if not own:
            return len(self._whole) - 1
        return int(np.searchsorted(self._ranges[:, 0], own[-1], side="right")) - 1

    @cached_property
    def _instructions(self) -> int:
        """The first token that stands for instructions, for tools, or for anything that is of no message."""
        for unit in self.units:
            start, end = unit.segments
            if any(self._roles[message] in _INSTRUCTIONS for message in unit.messages) or not unit.messages:
                if unit.tokens[0] < unit.tokens[1]:
                    return unit.tokens[0]
                continue
            begins = start
            for index in range(start, end):
                segment = self._segments[index]
                if self._owners[index] is not None:
                    begins = index + 1
                elif isinstance(segment, ContentSegment) and segment.text:
                    return self._token(begins)
        return len(self._whole)

    # ---- units

    def _units(self, starts: Starts) -> list[Unit]:
        begins = [0]
        owned: list[list[int]] = [[]]
        candidate: int | None = None
        before: int | None = None
        for index, (segment, owner) in enumerate(zip(self._segments, self._owners, strict=True)):
            if owner is None:
                placed = isinstance(segment, ControlSegment | LiteralSegment) and segment.site in starts.sites
                candidate = index if placed and candidate is None else candidate
                continue
            if owner != before:
                start = candidate
                if start is None and self._roles[owner] in starts.roles:
                    start = index
                if start is not None:
                    begins.append(start)
                    owned.append([])
                if owner not in owned[-1]:
                    owned[-1].append(owner)
            before, candidate = owner, None
        ends = [*begins[1:], len(self._segments)]
        tokens = [self._token(begin) for begin in begins]
        bounds = zip(begins, ends, tokens, [*tokens[1:], len(self._whole)], owned, strict=True)
        return [
            Unit((begin, end), (first, stop), tuple(messages), self._is_clean(begin))
            for begin, end, first, stop, messages in bounds
            if begin < end
        ]

    def _token(self, segment: int) -> int:
        """The first token that covers a segment or one behind it."""
        return int(np.searchsorted(self._ranges[:, 1], segment, side="right"))

    def _is_clean(self, segment: int) -> bool:
        token = self._token(segment)
        return token < len(self._whole) and bool(self._ranges[token, 0] >= segment)

    # ---- calls, images

    def _call_groups(self) -> Iterator[tuple[int, int]]:
        """For each message with calls the range of tokens from its calls to the last of their results."""
        units = {message: unit for unit in self.units for message in unit.messages}
        calls: int | None = None
        last: int | None = None
        for message, role in enumerate([*self._roles, "user"]):
            if role not in _SPEAKERS:
                last = message if message in units and calls is not None else last
                continue
            if calls is not None and last is not None:
                yield self._first_call(calls, units[calls]), units[last].tokens[1]
            called = message < len(self._messages) and bool(getattr(self._messages[message], _CALLS, None))
            calls, last = message if called and message in units else None, None

    def _first_call(self, message: int, unit: Unit) -> int:
        """The first token of the calls of a message, and of what the template wrote in front of them."""
        begins = unit.segments[0]
        for index in range(*unit.segments):
            segment = self._segments[index]
            if isinstance(segment, ContentSegment) and segment.path[:2] == ("messages", message):
                if segment.path[2:3] == (_CALLS,):
                    break
                begins = index + 1
        return self._token(begins)

    def _has_media(self, message: int) -> bool:
        """Whether a message has parts that are no text."""
        content: object = getattr(self._messages[message], "content", None)
        parts = content if isinstance(content, list | tuple) else ()
        return any(word in _kind(part) for part in parts for word in _MEDIA)

    # ---- characters

    @cached_property
    def _portions(self) -> list[tuple[int, int, int]]:
        whole = self._whole
        starts = whole._starts()
        pairs = zip(whole._passages, starts, strict=True)
        return [one for passage, start in pairs for one in passage.portions(self._segments, start)]

    @cached_property
    def _portion_ends(self) -> list[int]:
        return [*accumulate(count for _, _, count in self._portions)]

    def offset(self, first: int) -> tuple[int, bool]:
        """How many bytes of the segment in which a token begins stand before it, and whether it begins in a character.

        Where it does, the bytes of that character count among those before.
        """
        at = bisect_right(self._portion_ends, first)
        begin, stop, count = self._portions[at]
        if isinstance(self._segments[begin], ControlSegment):
            return 0, False
        start = self._portion_ends[at] - count
        index = int(self._ranges[first, 0])
        gone, spans = self._run(at, begin, stop, start, count)
        before = gone - sum(len(segment.text.encode()) for segment in self._segments[begin:index])
        place = int(spans[first - start, 0])
        behind = 0 if first == start else int(spans[first - start - 1, 1])
        within = first > start and place < behind
        return max(0, before + (behind if within else place)), within

    def _run(self, at: int, begin: int, stop: int, start: int, count: int) -> tuple[int, NDArray[np.int64]]:
        """The bytes that are stripped in front of a run of text, and the span of each of its tokens."""
        text = "".join([segment.text for segment in self._segments[begin:stop]])
        opening = self._segments[begin - 1] if begin else None
        closing = self._segments[stop] if stop < len(self._segments) else None
        strips = isinstance(opening, ControlSegment) and opening.token.strips_behind
        left = without_space(text, before=strips, behind=False)
        run = without_space(
            left, before=False, behind=isinstance(closing, ControlSegment) and closing.token.strips_before
        )
        spans = self._spans.get(at)
        if spans is None:
            ids = self._whole._ids[start : start + count]
            spans = self._spans[at] = self._whole._tokenizer.spans(run, ids, first=begin == 0)
        return len(text[: len(text) - len(left)].encode()), spans


def _message(segment: Segment) -> int | None:
    """The message that a content comes from."""
    match segment:
        case ContentSegment(path=("messages", int(index), *_)):
            return index
        case _:
            return None


def _kind(part: object) -> str:
    kind: object = part.get("type") if isinstance(part, dict) else getattr(part, "type", None)
    return kind if isinstance(kind, str) else ""
