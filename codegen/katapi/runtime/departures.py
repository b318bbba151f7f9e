"""Where the ids of an input are not those that the template gives for the whole conversation, and what those would be.

An input that was extended keeps the ids of its past. A template may print the past otherwise once the conversation has
gone on, and a model may have cut its text otherwise than an encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.origins import Origin
from katapi.runtime.printed import text_of_segments
from katapi.runtime.segments import ControlSegment, Segment, Site


@dataclass(frozen=True, slots=True)
class Departure:
    """One place where an input differs from what its template gives for the whole conversation."""

    text: str
    """What stands in the input there; empty where the template alone prints something."""
    official: str
    """What the template prints there; the same text where only its tokens differ."""
    tokens: tuple[int, int]
    """The half-open range of the tokens of the input from the last control token before the place to the next behind.

    Both control tokens are left out, but for those that differ themselves.
    """
    message: int | None
    """The message whose text stands there, or else the last one before; None before all messages."""
    site: Site | None
    """The line of the template that printed the text, or that would print the official one; None where none did."""


class Side(NamedTuple):
    """One of the two inputs that are compared; `ranges` is int64 of shape [n, 2], the segments that each id covers."""

    segments: Sequence[Segment]
    """All of them."""
    ids: Sequence[int]
    """n ids."""
    ranges: NDArray[np.int64]
    """Half-open."""


class _Item(NamedTuple):
    """A control token, or the texts between two."""

    key: int | str
    ids: list[int]
    tokens: tuple[int, int]
    segments: tuple[int, int]


_Atom: TypeAlias = tuple[str] | str
"""What a difference is made of: control tokens, each in a tuple, and characters."""

_ALIKE = 4
"""So many items alike in a row end a difference."""
_FARTHEST = 400
"""How many items of both sides together a difference may have before all that follows counts as one."""


def departures(own: Side, official: Side) -> tuple[Departure, ...]:
    """All places where `own` differs, in order; none where the ids are the same."""
    if [*own.ids] == [*official.ids]:
        return ()
    found: list[Departure] = []
    ours, theirs = _items(own), _items(official)
    i = j = 0
    while i < len(ours) or j < len(theirs):
        if i < len(ours) and j < len(theirs) and ours[i].key == theirs[j].key:
            if ours[i].ids != theirs[j].ids:
                found.append(_departure(own, official, ours[i : i + 1], theirs[j : j + 1], ours[i].tokens[0]))
            i, j = i + 1, j + 1
            continue
        here = ours[i].tokens[0] if i < len(ours) else len(own.ids)
        more, skipped = _resumed(ours, theirs, i, j)
        found.append(_departure(own, official, ours[i : i + more], theirs[j : j + skipped], here))
        i, j = i + more, j + skipped
    return tuple(found)


def _items(side: Side) -> list[_Item]:
    """The items of a side that have an id or a text."""
    items: list[_Item] = []
    at = 0
    while at < len(side.segments):
        begin = at
        segment = side.segments[at]
        at += 1
        key: int | str
        if isinstance(segment, ControlSegment):
            key = segment.token.id
        else:
            while at < len(side.segments) and not isinstance(side.segments[at], ControlSegment):
                at += 1
            key = text_of_segments(side.segments[begin:at])
        first, end = np.searchsorted(side.ranges[:, 0], (begin, at)).tolist()
        if first < end or key:
            items.append(_Item(key, [*side.ids[first:end]], (first, end), (begin, at)))
    return items


def _resumed(ours: list[_Item], theirs: list[_Item], i: int, j: int) -> tuple[int, int]:
    """After how many items of each side, as few as possible, the two go on alike."""
    left, right = len(ours) - i, len(theirs) - j
    for both in range(1, min(left + right, _FARTHEST) + 1):
        for more in range(max(0, both - right), min(both, left) + 1):
            mine = ours[i + more : i + more + _ALIKE]
            other = theirs[j + both - more : j + both - more + _ALIKE]
            if [item.key for item in mine] == [item.key for item in other]:
                return more, both - more
    return left, right


def _departure(own: Side, official: Side, ours: list[_Item], theirs: list[_Item], here: int) -> Departure:
    """The difference between some items, without what these have alike at both ends."""
    mine, other = _atoms(own, ours), _atoms(official, theirs)
    if mine == other:
        before = behind = 0
        text = expected = _written(mine)
    else:
        before = _alike(mine, other)
        behind = _alike(mine[before:][::-1], other[before:][::-1])
        text, expected = _written(mine[before : len(mine) - behind]), _written(other[before : len(other) - behind])
    side, items = (own, ours) if text else (official, theirs)
    count = len(mine if text else other) - before - behind
    places = _places(side, items, before, count)
    message = next((m for at in places if (m := _message_at(side, at)) is not None), None)
    if message is None:
        first = places[0] if places else items[0].segments[0]
        message = next((m for at in range(first, -1, -1) if (m := _message_at(side, at)) is not None), None)
    site = next(iter(Origin((side.segments[places[0]],)).sites), None) if places else None
    return Departure(text, expected, (here, ours[-1].tokens[1] if ours else here), message, site)


def _atoms(side: Side, items: list[_Item]) -> list[_Atom]:
    atoms: list[_Atom] = []
    for item in items:
        text = text_of_segments(side.segments[slice(*item.segments)])
        atoms += [(text,)] if isinstance(item.key, int) else text
    return atoms


def _written(atoms: list[_Atom]) -> str:
    return "".join([atom if isinstance(atom, str) else atom[0] for atom in atoms])


def _alike(left: list[_Atom], right: list[_Atom]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


def _places(side: Side, items: list[_Item], skipped: int, count: int) -> list[int]:
    """The indices of the segments of so many atoms, behind those that are skipped."""
    places: list[int] = []
    at = 0
    for index in (index for item in items for index in range(*item.segments)):
        segment = side.segments[index]
        size = 1 if isinstance(segment, ControlSegment) else len(segment.text)
        if size and at + size > skipped and at < skipped + count:
            places.append(index)
        at += size
    return places


def _message_at(side: Side, index: int) -> int | None:
    return Origin((side.segments[index],)).message
