"""The tables by which the kernel cuts text, one step a character: derived from an automaton.

    starts   for each class of characters, and the end: the state before a piece that begins with it, the number of its
             region, and 1 where there may be no match in it; a byte each
    ways     for each state and class: the state that a piece goes on in, or 255; and 256 where it can end before that
             character; 2 bytes each
    steps    the same without places to go back to, for text on end: the state that follows, or 254 where it takes a
             look at the whole piece, or 255 at the end; 256 where a piece ended before the last character, and 512
             where one ended before this; 2 bytes each

A state of steps is one of the automaton. Where a piece may turn out to have ended before the last character, as white
space does before a word, it is one for each class of that character, so that the next piece can be begun with it. State
0 has no piece before it.
"""

from __future__ import annotations

from struct import pack
from typing import Final, NamedTuple

from katapi.runtime.native.cuts import NotScannable
from katapi.runtime.native.scanning import Scanning

_NONE: Final = 0xFF
_ENDS: Final = 0x100
_UNSURE: Final = 0xFE
_OVER: Final = 0xFF
_BEFORE_LAST: Final = 0x100
_BEFORE: Final = 0x200


class _Behind(NamedTuple):
    """What a step leaves behind: a state of the automaton, and the last character's class where it may be wanted."""

    state: int
    last: int | None


def stepping_tables(scanning: Scanning) -> dict[str, bytes]:
    """The tables of an automaton. Raises `NotScannable` where there would be too many steps."""
    ways = [
        (_NONE if way.to is None else way.to) | (_ENDS if way.ends else 0)
        for state in scanning.states
        for way in state.ways
    ]
    steps = _Steps(scanning).all()
    return {
        "starts": bytes(number for kind in range(scanning.end + 1) for number in _start(scanning, kind)),
        "ways": pack(f"<{len(ways)}H", *ways),
        "steps": pack(f"<{len(steps)}H", *steps),
    }


def _start(scanning: Scanning, kind: int) -> tuple[int, int, int]:
    for index, region in enumerate(scanning.regions):
        if region.members >> kind & 1:
            return region.start, index, int(region.gaps)
    return _NONE, _NONE, 0


class _Steps:
    """Makes the states of steps as they are reached."""

    def __init__(self, scanning: Scanning) -> None:
        self._scanning = scanning
        self._reached: list[_Behind] = []
        self._numbers: dict[_Behind, int] = {}
        self._wanting = {
            index
            for index, state in enumerate(scanning.states)
            if any(way.to is None and not way.ends for way in state.ways)
        }

    def all(self) -> list[int]:
        """Each state's steps by class, one state behind the other."""
        end = self._scanning.end
        steps = [*(self._begin(kind) for kind in range(end)), _OVER]
        while len(steps) < (len(self._reached) + 1) * (end + 1):
            behind = self._reached[len(steps) // (end + 1) - 1]
            steps += [self._step(behind, kind) for kind in range(end + 1)]
        return steps

    def _step(self, behind: _Behind, kind: int) -> int:
        way = self._scanning.states[behind.state].ways[kind]
        if way.to is not None:
            return self._to(way.to, kind, way.ends)
        if way.ends:
            begun = self._begin(kind)
            return _UNSURE if begun == _UNSURE else begun | _BEFORE
        if behind.last is None:
            return _UNSURE
        first = self._way_from_start(behind.last)
        step = _UNSURE if first is None else self._step(_Behind(first, None), kind)
        return _UNSURE if step == _UNSURE or step & _BEFORE_LAST else step | _BEFORE_LAST

    def _begin(self, kind: int) -> int:
        """The step with which a piece begins, or at the end none."""
        if kind == self._scanning.end:
            return _OVER
        first = self._way_from_start(kind)
        return _UNSURE if first is None else self._to(first, kind, False)

    def _way_from_start(self, kind: int) -> int | None:
        start, _, _ = _start(self._scanning, kind)
        return self._scanning.states[start].ways[kind].to

    def _to(self, state: int, kind: int, ended: bool) -> int:
        """The number of what is left behind; `ended` says that the piece could have ended before this character."""
        behind = _Behind(state, kind if ended and state in self._wanting else None)
        if behind not in self._numbers:
            self._reached.append(behind)
            if len(self._reached) >= _UNSURE:
                raise NotScannable("it takes too many steps")
            self._numbers[behind] = len(self._reached)
        return self._numbers[behind]
