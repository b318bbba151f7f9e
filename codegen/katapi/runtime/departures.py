"""Where the ids of an input are not those that the template gives for the whole conversation, and what those would be.

An input that was extended keeps the ids of its past. A template may print the past otherwise once the conversation has
gone on, and a model may have cut its text otherwise than an encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, takewhile
from typing import NamedTuple, TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.origins import Origin
from katapi.runtime.printed import text_of_segments
from katapi.runtime.segments import ControlSegment, Segment, Site


@dataclass(frozen=True, slots=True)
class Departure:
    """One place where an input differs from what its template gives for the whole conversation."""

    start: int
    """Where it is in the text of the input: the offset of a code point."""
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
    """One of the two inputs that are compared: all its `segments` and `ids`."""

    segments: Sequence[Segment]
    ids: Sequence[int]
    portions: Sequence[tuple[int, int, int]]
    """As `Passage.portions` gives them, in order."""


class _Item(NamedTuple):
    """A control token, or the texts between two."""

    key: int | str
    ids: list[int]
    token: int
    """The index of the first of its ids."""
    segments: tuple[int, int]
    start: int
    """The offset of its text in the text of its side."""


_Atom: TypeAlias = tuple[str] | str
"""What a difference is made of: control tokens, each in a tuple, and characters."""

_NOTHING = -1
"""The key of the end of a side."""
_ALIKE = 4
"""So many items alike in a row end a difference."""
_FARTHEST = 400
"""How many items of both sides together a difference may have before all that follows counts as one."""


def departures(own: Side, official: Side) -> tuple[Departure, ...]:
    """All places where `own` differs, in order."""
    found: list[Departure] = []
    ours, theirs = _items(own), _items(official)
    i = j = 0
    while i < len(ours) - 1 or j < len(theirs) - 1:
        if ours[i].key != theirs[j].key:
            more, skipped = _resumed(ours, theirs, i, j)
        elif ours[i].ids != theirs[j].ids:
            more = skipped = 1
        else:
            i, j = i + 1, j + 1
            continue
        found.append(_departure(own, official, ours[i : i + more + 1], theirs[j : j + skipped + 1]))
        i, j = i + more, j + skipped
    return tuple(found)


def _items(side: Side) -> list[_Item]:
    """The items of a side that have an id or a text, and one for its end."""
    items: list[_Item] = []
    token = start = 0
    at = 0
    while at < len(side.portions):
        begin, end, count = side.portions[at]
        at += 1
        segment = side.segments[begin]
        key: int | str
        if isinstance(segment, ControlSegment):
            key, text = segment.token.id, segment.text
        else:
            # What was sampled, and what stands on either side of it, may be one text.
            while at < len(side.portions) and not isinstance(side.segments[side.portions[at][0]], ControlSegment):
                end, count = side.portions[at][1], count + side.portions[at][2]
                at += 1
            key = text = text_of_segments(side.segments[begin:end])
        if count or text:
            items.append(_Item(key, [*side.ids[token : token + count]], token, (begin, end), start))
        token += count
        start += len(text)
    return [*items, _Item(_NOTHING, [], token, (len(side.segments),) * 2, start)]


def _resumed(ours: list[_Item], theirs: list[_Item], i: int, j: int) -> tuple[int, int]:
    """After how many items of each side, as few as possible, the two go on alike: at their ends, they do."""
    left, right = len(ours) - 1 - i, len(theirs) - 1 - j
    for both in range(1, min(left + right, _FARTHEST) + 1):
        for more in range(max(0, both - right), min(both, left) + 1):
            mine = ours[i + more : i + more + _ALIKE]
            other = theirs[j + both - more : j + both - more + _ALIKE]
            if [item.key for item in mine] == [item.key for item in other]:
                return more, both - more
    return left, right


def _departure(own: Side, official: Side, ours: list[_Item], theirs: list[_Item]) -> Departure:
    """The difference between some items, without what these have alike at both ends; the last of each are alike."""
    (*ours, following), (*theirs, _) = ours, theirs
    begun = (ours or [following])[0]
    mine, other = _atoms(own, ours), _atoms(official, theirs)
    before = behind = 0
    if mine != other:
        before = _alike(mine, other)
        behind = _alike(mine[before:][::-1], other[before:][::-1])
    text, expected = (_written(atoms[before : len(atoms) - behind]) for atoms in (mine, other))
    side, items, count = (own, ours, len(mine)) if text else (official, theirs, len(other))
    places = _places(side, items, before, count - before - behind)
    return Departure(
        begun.start + len(_written(mine[:before])),
        text,
        expected,
        (begun.token, following.token),
        _message(side, places),
        next((site for at in places for site in Origin((side.segments[at],)).sites), None),
    )


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


def _message(side: Side, places: Sequence[int]) -> int | None:
    """The message that is the first at some places, or else the last one before them."""
    before = range(places[0] - 1, -1, -1) if places else ()
    found = (Origin((side.segments[at],)).message for at in chain(places, before))
    return next((message for message in found if message is not None), None)
