"""Where in a message each part of a completion stands, found in what the template prints for that message.

A completion and the template may differ at any place. What they have alike at the end, and then at the beginning, has
the fields of the message and the lines of the template as its places; what is between came from the message as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as Choice
from typing import TypeAlias

from katapi.runtime.completion import Item, SampledRun
from katapi.runtime.printed import text_of_segments
from katapi.runtime.sampled_passage import SampledItem
from katapi.runtime.segments import (
    NOWHERE,
    Content,
    ContentSegment,
    ControlSegment,
    Literal,
    LiteralSegment,
    Segment,
    Text,
)
from katapi.runtime.tokenization.interface import Tokenizer

_Group: TypeAlias = ControlSegment | list[Text]
_Part: TypeAlias = Choice["end", "beginning"]


def placed(items: Sequence[Item], printed: Sequence[Segment], message: int, tokenizer: Tokenizer) -> list[SampledItem]:
    """The parts of a completion with their segments; `printed` is what the template prints for the message."""
    groups = _groups(printed)
    last = len(items) - 1
    behind: list[SampledItem] = []
    while len(behind) < min(len(items), len(groups)):
        at = last - len(behind)
        found = _match(items[at], groups[-1 - len(behind)], tokenizer, "end" if at == 0 else None)
        if found is None:
            break
        behind.append(found)
    before: list[SampledItem] = []
    while len(before) + len(behind) < min(len(items), len(groups)):
        at = len(before)
        found = _match(items[at], groups[at], tokenizer, "beginning" if at == last else None)
        if found is None:
            break
        before.append(found)
    between = [_of_the_whole(item, message) for item in items[len(before) : len(items) - len(behind)]]
    return [*before, *between, *reversed(behind)]


def _groups(segments: Sequence[Segment]) -> list[_Group]:
    """Control tokens, and the texts between two of them together; no text is empty."""
    groups: list[_Group] = []
    for segment in segments:
        if isinstance(segment, ControlSegment):
            groups.append(segment)
        elif segment.text:
            if groups and isinstance(groups[-1], list):
                groups[-1].append(segment)
            else:
                groups.append([segment])
    return groups


def _match(item: Item, group: _Group, tokenizer: Tokenizer, part: _Part | None) -> SampledItem | None:
    """An item with the segments that it stands for; where `part` says so, they may be an end or a beginning alone."""
    if isinstance(group, ControlSegment):
        return SampledItem(item, (group,)) if item is group.token else None
    if not isinstance(item, SampledRun):
        return None
    text = text_of_segments(group)
    if item.whole and text == item.text:
        return SampledItem(item, tuple(group))
    if tuple(tokenizer.encode(text, first=False)) == item.ids:
        return SampledItem(item, tuple(group), encoded=True)
    if item.whole and item.text:
        if part == "end" and text.endswith(item.text):
            return SampledItem(item, _cut(group, len(text) - len(item.text), len(text)))
        if part == "beginning" and text.startswith(item.text):
            return SampledItem(item, _cut(group, 0, len(item.text)))
    return None


def _cut(group: Sequence[Text], first: int, end: int) -> tuple[Segment, ...]:
    """What of some texts stands between two offsets in all of them together."""
    cut: list[Segment] = []
    at = 0
    for segment in group:
        left, right = max(first - at, 0), min(end - at, len(segment.text))
        at += len(segment.text)
        if left >= right:
            continue
        match segment:
            case LiteralSegment():
                cut.append(LiteralSegment(Literal(segment.text[left:right]), segment.site))
            case ContentSegment(text=text, path=path, start=start):
                cut.append(ContentSegment(Content(text[left:right]), path, None if start is None else start + left))
    return tuple(cut)


def _of_the_whole(item: Item, message: int) -> SampledItem:
    """An item that the template does not print so."""
    if isinstance(item, SampledRun):
        return SampledItem(item, (ContentSegment(Content(item.text), ("messages", message), None),))
    return SampledItem(item, (ControlSegment(item, NOWHERE),))
