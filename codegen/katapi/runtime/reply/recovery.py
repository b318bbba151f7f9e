"""What becomes of a reply that the grammar does not have: white space is passed over, then what belongs to nothing."""

from __future__ import annotations

from collections import deque

from katapi.runtime.reply import program as p
from katapi.runtime.reply.log import Began, Left, Spoiled, Started
from katapi.runtime.reply.reading import Failures, Reading, Way


def behind_space(symbols: str, position: int) -> int:
    """The position of the next symbol that is no white space."""
    while position < len(symbols) and symbols[position].isspace():
        position += 1
    return position


def without_space(symbols: str, failures: Failures) -> list[Way]:
    """The ways that failed, where white space is missing or too much; they go on without it."""
    end = behind_space(symbols, failures.position)
    ways: list[Way] = []
    for way in failures.ways:
        expected, then = _expected(way, failures.position)
        if end > failures.position:
            ways.append(way._replace(at=then if not expected else p.Expect(expected, then), position=end))
        left = expected.lstrip()
        if left != expected:
            at = p.Expect(left, then) if left else then
            ways.append(way._replace(at=at, position=failures.position))
    return ways


def _expected(way: Way, position: int) -> tuple[str, p.Instruction]:
    """What of a text a way still expects at the position where it failed, and what stands behind that."""
    if isinstance(way.at, p.Expect):
        return way.at.symbols[position - way.position :], way.at.next
    return "", way.at


def through(reading: Reading, failures: Failures, position: int, inside: str | None) -> Way | None:
    """The way that goes on behind the control token at a position, leaving out as little as possible.

    Nothing begins on the way there: an item whose first token is missing is none. `inside` is the variable whose value
    is spoiled where more than control tokens is left out of it.
    """
    symbols = reading.symbols
    left_out = symbols[failures.position : position].strip()
    ways = [way._replace(position=position) for way in failures.ways]
    if left_out and inside is not None:
        ways = [_spoiled(way, inside) for way in ways]
    reached = _search(reading, ways, symbols[position], inside)
    return None if reached is None else reached._replace(position=position + 1)


def ends_without(reading: Reading, way: Way) -> bool:
    """Whether nothing but texts and tokens of the template is missing to the end."""
    return _search(reading, [way], None, None) is not None


def _search(reading: Reading, ways: list[Way], symbol: str | None, inside: str | None) -> Way | None:
    """The nearest way behind a control token, or to the end where there is none, by the tokens that are left out."""
    waiting = deque((0, False, way) for way in ways)
    seen: set[tuple[p.Instruction, object]] = set()
    while waiting:
        left_out, began, way = waiting.popleft()
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
                if not began:
                    waiting.append((left_out + 1, began, way._replace(at=then)))
            case p.Expect(next=then, symbols=text) if text.isspace() or symbol is None:
                waiting.appendleft((left_out, began, way._replace(at=then)))
            case p.Hole(next=then):
                waiting.appendleft((left_out, began, way._replace(at=then)))
            case p.Expect(next=then) | p.Json(next=then) | p.Digits(next=then) | p.Enter(next=then):
                if symbol is not None:
                    spoiled = way if inside is None else _spoiled(way, inside)
                    waiting.appendleft((left_out, began, spoiled._replace(at=then)))
            case p.Note(entry=entry, next=then):
                if isinstance(entry, Started | Left):
                    entry = entry._replace(position=way.position)
                begins = began or isinstance(entry, Began)
                if symbol is not None or not begins:
                    waiting.appendleft((left_out, begins, way._replace(at=then, log=(way.log, entry))))
            case p.Fork(options=options):
                waiting.extendleft((left_out, began, way._replace(at=option)) for option in reversed(options))
            case p.Leave():
                if way.stack is not None:
                    waiting.appendleft((left_out, began, way._replace(at=way.stack[1], stack=way.stack[0])))
    return None


def _spoiled(way: Way, variable: str) -> Way:
    return way._replace(log=(way.log, Spoiled(variable)))
