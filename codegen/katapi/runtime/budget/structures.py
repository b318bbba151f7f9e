"""What of an input's structure a cut before one of its tokens would break.

A template prints a message, or several that one arm takes together, in one piece: a unit. Where units begin is told by
the places of the template that can print first of one (`Starts`) and by the contents: between contents of two messages
the first segment of such a place begins a unit. A message of which nothing came with the request belongs to the unit of
the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from katapi.runtime.budget.items import conversation_of
from katapi.runtime.budget.layout import Layout
from katapi.runtime.budget.policy import Structure
from katapi.runtime.budget.starts import Starts
from katapi.runtime.dataclass import dataclass
from katapi.runtime.messages import ANSWERING, INSTRUCTING, USER, items_of, messages_of, roles_of
from katapi.runtime.model_input import ModelInput
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment, Path, Segment, Site

_CALLS = "tool_calls"
_MEDIA = ("image", "video", "audio")


@dataclass(frozen=True, slots=True)
class Unit:
    """What one arm printed."""

    segments: tuple[int, int]
    """Its segments, a half-open range."""
    tokens: tuple[int, int]
    """Its tokens, a half-open range."""
    messages: tuple[int, ...]
    """The messages whose contents stand there."""
    clean: bool
    """Whether it begins with a token of its own, which no merge joined to what stands before."""


class Structures:
    """The structure of one input."""

    def __init__(self, whole: ModelInput, layout: Layout, starts: Starts) -> None:
        self._whole = whole
        self._segments = whole.rendered.payload
        self._layout = layout
        self._messages = messages_of(whole.request)
        self._roles = roles_of(self._messages)
        self._owners = [_message(segment) for segment in self._segments]
        for place in whole._image_places:
            start, stop, _ = place.span
            self._owners[start:stop] = [_message_of(place.path)] * (stop - start)
        self.units = self._units(starts)
        """All units in order; what stands before the first is one, without messages."""
        self._clean = dict.fromkeys(unit.tokens[0] for unit in self.units if unit.clean)
        self._calls = [*self._call_groups()]
        self._media = [unit.tokens for unit in self.units if any(map(self._has_media, unit.messages))]
        self._shown = [
            (layout.first_token(span.start), layout.last_token(span.stop - 1)) for span in whole.rendered.images
        ]
        """The first and the last token of what stands for each image."""

    def places(self, least: int, breaks: Iterable[Structure]) -> Iterable[int]:
        """The tokens, from `least` on, before which a cut could be that breaks no message, or any where it may.

        No cut goes through an image.
        """
        last = self.last
        if Structure.MESSAGES in breaks:
            return [first for first in range(least, last + 1) if not self._in_image(first)]
        return [first for first in self._clean if least <= first <= last]

    def broken(self, first: int) -> frozenset[Structure]:
        """What a cut before a token would break."""
        checks = {
            Structure.CHARACTERS: self._layout.offset(first)[1],
            Structure.MESSAGES: first not in self._clean,
            Structure.CALLS: any(start < first < end for start, end in self._calls),
            Structure.INSTRUCTIONS: first > self._instructions,
            Structure.IMAGES: any(start < first < end for start, end in self._media),
        }
        return frozenset(structure for structure, is_broken in checks.items() if is_broken)

    def needed(self, least: int, breaks: frozenset[Structure]) -> tuple[Structure, ...] | None:
        """What else must be broken at least; None where that is not enough."""
        places = (first for first in range(least, self.last + 1) if not self._in_image(first))
        kinds = {self.broken(first) - breaks for first in places}
        order = [*Structure]
        found = [tuple(sorted(kind, key=order.index)) for kind in kinds]
        return min(found, key=lambda kind: (len(kind), [order.index(one) for one in kind]), default=None)

    def message(self, first: int) -> int | None:
        """The message in whose unit an input begins that is cut before a token."""
        index = self._layout.first_segment(first)
        unit = next(unit for unit in reversed(self.units) if unit.segments[0] <= index)
        following = (owner for owner in self._owners[index : unit.segments[1]] if owner is not None)
        return next(following, unit.messages[-1] if unit.messages else None)

    def _in_image(self, first: int) -> bool:
        return any(start < first <= last for start, last in self._shown)

    @cached_property
    def last(self) -> int:
        """The last token before which a cut may be: one of what the user said last, or of the last message."""
        users = [index for index, role in enumerate(self._roles) if role == USER]
        current = users[-1] if users else len(self._roles) - 1
        own = [index for index, owner in enumerate(self._owners) if owner == current and self._segments[index].text]
        if not own:
            return len(self._whole) - 1
        return self._layout.last_token(own[-1])

    @cached_property
    def _instructions(self) -> int:
        """The first token that stands for instructions, for tools, or for anything that is of no message."""
        for unit in self.units:
            start, end = unit.segments
            if any(self._roles[message] in INSTRUCTING for message in unit.messages) or not unit.messages:
                if unit.tokens[0] < unit.tokens[1]:
                    return unit.tokens[0]
                continue
            begins = start
            for index in range(start, end):
                segment = self._segments[index]
                if self._owners[index] is not None:
                    begins = index + 1
                elif isinstance(segment, ContentSegment) and segment.text:
                    return self._layout.first_token(begins)
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
                if start is None and (self._roles[owner] in starts.roles or _site(segment) in starts.sites):
                    start = index
                if start is not None:
                    begins.append(start)
                    owned.append([])
                if owner not in owned[-1]:
                    owned[-1].append(owner)
            before, candidate = owner, None
        ends = [*begins[1:], len(self._segments)]
        tokens = [self._layout.first_token(begin) for begin in begins]
        bounds = zip(begins, ends, tokens, [*tokens[1:], len(self._whole)], owned, strict=True)
        return [
            Unit((begin, end), (first, stop), tuple(messages), self._is_clean(begin))
            for begin, end, first, stop, messages in bounds
            if begin < end
        ]

    def _is_clean(self, segment: int) -> bool:
        token = self._layout.first_token(segment)
        return token < len(self._whole) and self._layout.first_segment(token) >= segment

    # ---- calls, images

    def _call_groups(self) -> Iterator[tuple[int, int]]:
        """For calls and their results the range of tokens from the first call to the last result."""
        units = {message: unit for unit in self.units for message in unit.messages}
        for atom in conversation_of(self._messages).atoms:
            printed = [message for message in atom if message in units]
            calls = [message for message in printed if items_of(self._messages[message], _CALLS)]
            results = [message for message in printed if self._roles[message] in ANSWERING]
            if calls and results:
                yield self._first_call(calls[0], units[calls[0]]), units[results[-1]].tokens[1]

    def _first_call(self, message: int, unit: Unit) -> int:
        """The first token of the calls of a message, and of what the template wrote in front of them."""
        begins = unit.segments[0]
        for index in range(*unit.segments):
            segment = self._segments[index]
            if isinstance(segment, ContentSegment) and segment.path[:2] == ("messages", message):
                if segment.path[2:3] == (_CALLS,):
                    break
                begins = index + 1
        return self._layout.first_token(begins)

    def _has_media(self, message: int) -> bool:
        """Whether a message has parts that are no text."""
        parts = items_of(self._messages[message], "content")
        return any(word in _kind(part) for part in parts for word in _MEDIA)


def _message(segment: Segment) -> int | None:
    """The message that a content comes from."""
    return _message_of(segment.path) if isinstance(segment, ContentSegment) else None


def _message_of(path: Path) -> int | None:
    match path:
        case ("messages", int(index), *_):
            return index
        case _:
            return None


def _site(segment: Segment) -> Site | None:
    return None if isinstance(segment, ContentSegment) else segment.site


def _kind(part: object) -> str:
    kind: object = part.get("type") if isinstance(part, dict) else getattr(part, "type", None)
    return kind if isinstance(kind, str) else ""
