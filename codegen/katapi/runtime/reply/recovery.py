"""What becomes of a reply that the grammar does not have: white space is passed over, then what belongs to nothing."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from katapi.runtime.reply import program as p
from katapi.runtime.reply.log import Began, Left, Started, broken
from katapi.runtime.reply.reading import Failures, Reading, Way


def without_space(reading: Reading) -> list[Way]:
    """The ways that failed, where white space is missing or too much; they go on without it."""
    failures, symbols = reading.failures, reading.symbols
    ways: list[Way] = []
    for way, position in failures.all[failures.treated :]:
        end = position
        while end < len(symbols) and symbols[end].isspace():
            end += 1
        expected, then = _expected(way, position)
        if end > position:
            ways.append(way._replace(at=then if not expected else p.Expect(expected, then), position=end))
        left = expected.lstrip()
        if left != expected:
            at = p.Expect(left, then) if left else then
            ways.append(way._replace(at=at, position=position))
    failures.treated = len(failures.all)
    return ways


def _expected(way: Way, position: int) -> tuple[str, p.Instruction]:
    """What of a text a way still expects at the position where it failed, and what stands behind that."""
    if isinstance(way.at, p.Expect):
        return way.at.symbols[position - way.position :], way.at.next
    return "", way.at


def through(reading: Reading, failures: Failures, position: int) -> Way | None:
    """The way that goes on behind the control token at a position, leaving out as little as possible.

    Nothing begins on the way there: an item whose first token is missing is none. What is left
    out of an item, and is more than white space and control tokens, breaks it.
    """
    symbols = reading.symbols
    last = sorted(failures.ways(), key=lambda way: isinstance(way.at, p.Hole))  # a free text has taken what it could
    ways = [_shortened(way, symbols)._replace(position=position) for way in last]
    if symbols[failures.position : position].strip():
        ways = [way._replace(log=broken(way.log)) for way in ways]
    reached = _search(reading, ways, symbols[position])
    return None if reached is None else reached._replace(position=position + 1)


def ending(reading: Reading, way: Way) -> Way | None:
    """The way at the end, where nothing but texts and tokens of the template is missing to it."""
    return _search(reading, [way], None)


class _State(NamedTuple):
    """How far a way has come while symbols are left out."""

    way: Way
    swallowed: bool
    """Whether the way failed in a free text, which may have taken white space of what is missing behind it."""
    began: bool
    """Whether an item or the like has begun on the way."""

    def past(self, then: p.Instruction, *, value: bool) -> _State:
        """Behind something that is left out, which breaks the item where it is a `value` or a text."""
        log = broken(self.way.log) if value else self.way.log
        return self._replace(way=self.way._replace(at=then, log=log))


def _has_just_begun(way: Way, symbols: str) -> bool:
    """Whether an item or the like has begun, of which nothing was read where the way failed."""
    entry = None if way.log is None else way.log[1]
    return isinstance(entry, Began) and not symbols[entry.position : way.position].strip()


def _shortened(way: Way, symbols: str) -> Way:
    """The way without the white space at the end of a free text, where what is missing stands directly behind it."""
    if way.log is None or not isinstance(way.log[1], Left):
        return way
    left = way.log[1]
    return way._replace(log=(way.log[0], left._replace(position=_without_space(symbols, left.position))))


def _without_space(symbols: str, position: int) -> int:
    """The end of the text before a position."""
    while position and symbols[position - 1].isspace():
        position -= 1
    return position


def _search(reading: Reading, ways: list[Way], symbol: str | None) -> Way | None:
    """The nearest way behind a control token, or to the end where there is none, by what is left out."""
    waiting = deque(_State(way, isinstance(way.at, p.Hole), _has_just_begun(way, reading.symbols)) for way in ways)
    seen: set[tuple[p.Instruction, object]] = set()
    while waiting:
        state = waiting.popleft()
        way = state.way
        if (way.at, way.stack) in seen:
            continue
        seen.add((way.at, way.stack))
        match way.at:
            case p.Accept():
                if symbol is None:
                    return way
            case p.Expect(next=then) if way.at.is_control:
                if way.at.symbols == symbol:
                    return way._replace(at=then)
                if not state.began:
                    waiting.append(state._replace(way=way._replace(at=then)))
            case p.Expect(symbols=symbols, next=then) if symbols.isspace() or symbol is None:
                waiting.appendleft(state.past(then, value=False))
            case p.Expect(next=then):
                waiting.append(state.past(then, value=True))
            case p.Hole(next=then):
                waiting.appendleft(state._replace(way=way._replace(at=then)))
            case p.Json(next=then) | p.Digits(next=then) | p.Enter(next=then):
                if symbol is not None:
                    waiting.append(state.past(then, value=True))
            case p.Note(entry=entry, next=then):
                began = state.began or isinstance(entry, Began)
                if isinstance(entry, Left) and state.swallowed:
                    entry = entry._replace(position=_without_space(reading.symbols, way.position))
                elif isinstance(entry, Started | Left | Began):
                    entry = entry._replace(position=way.position)
                if symbol is not None or not began:
                    noted = state._replace(way=way._replace(log=(way.log, entry)), began=began)
                    waiting.appendleft(noted.past(then, value=isinstance(entry, Started)))
            case p.Fork(options=options):
                waiting.extendleft(state._replace(way=way._replace(at=option)) for option in reversed(options))
            case p.Leave():
                if way.stack is not None:
                    outside = way._replace(at=way.stack[1], stack=way.stack[0])
                    waiting.appendleft(state._replace(way=outside))
    return None
