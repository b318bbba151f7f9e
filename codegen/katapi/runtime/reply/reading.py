"""Reads the symbols of a reply as they come, along all ways of its grammar that are still open.

The ways stand in the order of the grammar: where several lead to the end, the first one counts. What is certain does
not depend on symbols to come: it is what all open ways have in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from katapi.runtime.errors import TemplateError
from katapi.runtime.reply import grammar as g
from katapi.runtime.reply import program as p
from katapi.runtime.reply.json_value import JsonScan, NoJson, json_value, kind_of, members
from katapi.runtime.reply.log import Began, Fixed, Left, Log, Spelled, Started

_NEAR = 16
"""How much white space may stand between the places at which ways failed that count as one place."""

Stack: TypeAlias = "tuple[Stack, p.Instruction, int] | None"
"""With what it goes on behind the rules that are open, and how many there are."""

_DEEPEST = 24


class Way(NamedTuple):
    """How far one way through the grammar has come: to the instruction `at`, and to a `position` of the symbols.

    `stack` holds the rules that are open, `log` what was noted.
    """

    at: p.Instruction
    position: int
    stack: Stack
    log: Log


class Failure(NamedTuple):
    """A `way` that cannot go on from a `position`."""

    way: Way
    position: int


@dataclass(slots=True)
class Failures:
    """The ways that came furthest before they failed, `all` to a `position`, white space not counted."""

    position: int = -1
    all: list[Failure] = field(default_factory=list)
    treated: int = 0
    """How many of them were given another try without white space."""

    def note(self, way: Way, position: int, symbols: str) -> None:
        """Another way that cannot go on from a position."""
        if position > self.position:
            kept = [(at, one) for at, one in enumerate(self.all) if _near(symbols, one.position, position)]
            self.treated = sum(1 for at, _ in kept if at < self.treated)
            self.all = [one for _, one in kept]
            self.position = position
        elif position < self.position and not _near(symbols, position, self.position):
            return
        self.all.append(Failure(way, position))

    def ways(self) -> list[Way]:
        """All of them, those that came furthest first."""
        return [failure.way for failure in sorted(self.all, key=lambda failure: -failure.position)]

    def copy(self) -> Failures:
        """The same, to which nothing is added any more."""
        return Failures(self.position, [*self.all], self.treated)


def _near(symbols: str, start: int, end: int) -> bool:
    """Whether nothing but a little white space stands between two positions."""
    return end - start <= _NEAR and symbols[start:end].isspace()


class Reading:
    """All open `ways`. `symbols` grows; `advance` follows the ways as far as they go."""

    def __init__(self, program: p.Program) -> None:
        self._program = program
        self._scans: dict[int, JsonScan] = {}
        self.symbols = ""
        self.ways: list[Way] = [Way(program.start, 0, None, None)]
        self.failures = Failures()
        """Where ways have ended."""

    def rule(self, name: str) -> p.Instruction:
        """Where a rule begins."""
        return self._program.rules[name]

    def pass_over_the_rest(self) -> None:
        """The ways go on behind all symbols there are."""
        self.ways = [way._replace(position=len(self.symbols)) for way in self.ways]

    def advance(self, *, final: bool = False) -> list[Way]:
        """Follows the ways over all symbols there are; gives those that accept, which only a `final` call does."""
        accepted: list[Way] = []
        open_ways: list[Way] = []
        seen: set[tuple[p.Instruction, int, Stack]] = set()
        waiting = list(reversed(self.ways))
        while waiting:
            way = waiting.pop()
            mark = (way.at, way.position, way.stack)
            if mark in seen:
                continue
            seen.add(mark)
            if isinstance(way.at, p.Accept):
                if way.position < len(self.symbols):
                    self._failed(way, way.position)
                else:
                    (accepted if final else open_ways).append(way)
                continue
            going_on = self._step(way, final=final)
            if going_on is None:
                open_ways.append(way)
            else:
                waiting += reversed(going_on)
        self.ways = open_ways
        return accepted

    def _failed(self, way: Way, position: int) -> None:
        self.failures.note(way, position, self.symbols)

    def _step(self, way: Way, *, final: bool) -> list[Way] | None:
        """With what a way goes on, in order; None where it needs more symbols."""
        at, position, stack, log = way
        match at:
            case p.Expect(symbols=symbols):
                return self._expect(way, symbols, at.next, final=final)
            case p.Hole():
                return self._hole(way, at, final=final)
            case p.Json():
                return self._json(way, at, final=final)
            case p.Digits():
                return self._digits(way, at, final=final)
            case p.Fork(options=options):
                return [Way(option, position, stack, log) for option in options]
            case p.Note(entry=entry, next=then):
                if isinstance(entry, Started | Left | Began):
                    entry = entry._replace(position=position)
                return [Way(then, position, stack, (log, entry))]
            case p.Enter(rule=rule, next=then):
                depth = 1 if stack is None else stack[2] + 1
                if depth > _DEEPEST:
                    self._failed(way, position)
                    return []
                return [Way(self._program.rules[rule], position, (stack, then, depth), log)]
            case p.Leave():
                assert stack is not None
                return [Way(stack[1], position, stack[0], log)]
            case p.Accept():
                return None

    def _expect(self, way: Way, symbols: str, then: p.Instruction, *, final: bool) -> list[Way] | None:
        end = way.position + len(symbols)
        if self.symbols.startswith(symbols, way.position):
            return [way._replace(at=then, position=end)]
        if not final and end > len(self.symbols) and symbols.startswith(self.symbols[way.position :]):
            return None
        shared = 0
        while self.symbols[way.position + shared : way.position + shared + 1] == symbols[shared]:
            shared += 1
        self._failed(way, way.position + shared)
        return []

    def _hole(self, way: Way, hole: p.Hole, *, final: bool) -> list[Way] | None:
        """It may end at each place where what stands behind may begin; at a control token it ends."""
        symbols, position = self.symbols, way.position
        if position == len(symbols):
            return [way._replace(at=hole.next)] if final else None
        end = position
        if hole.ends is not None:
            found = hole.ends.search(symbols, position)
            if found is None:
                return [way._replace(position=len(symbols))]
            end = found.start()
        ending = way._replace(at=hole.next, position=end)
        if "\ud800" <= symbols[end] <= "\udfff":
            self._failed(way._replace(position=end), end)
            return [ending]
        return [ending, way._replace(position=end + 1)]

    def _json(self, way: Way, instruction: p.Json, *, final: bool) -> list[Way] | None:
        form, start = instruction.form, way.position
        if isinstance(form, g.JsonMembers) and not self.symbols.startswith("{", start) and start < len(self.symbols):
            self._failed(way, start)
            return []
        scan = self._scans.get(start)
        if scan is None:
            scan = self._scans[start] = JsonScan(start)
        try:
            end = scan.end(self.symbols, final=final)
            if end is None:
                return None
            log = way.log
            for entry in _read(form, self.symbols[start:end]):
                log = (log, entry)
        except NoJson:
            self._failed(way, start)
            return []
        return [Way(instruction.next, end, way.stack, log)]

    def _digits(self, way: Way, instruction: p.Digits, *, final: bool) -> list[Way] | None:
        end = way.position
        while end < len(self.symbols) and self.symbols[end] in "0123456789":
            end += 1
        if end == len(self.symbols) and not final:
            return None
        if end == way.position:
            self._failed(way, end)
            return []
        return [way._replace(at=instruction.next, position=end)]


def _read(form: g.JsonText | g.JsonMembers, text: str) -> Iterator[Fixed]:
    """What a JSON value says. Raises NoJson where it does not fit the form."""
    if isinstance(form, g.JsonText):
        yield Fixed(form.place, _spelled(form, text))
        return
    parts = members(text)
    names = dict(form.members)
    needed = {name for name, inside in names.items() if not inside.optional}
    if not needed <= parts.keys() <= names.keys():
        raise NoJson
    for name, part in parts.items():
        inside = names[name]
        yield Fixed(inside.place, _spelled(inside, part))


def _spelled(form: g.JsonText, text: str) -> Spelled:
    value = json_value(text, python=form.python)
    if form.kinds is not None and kind_of(value) not in form.kinds:
        raise NoJson
    if form.exact:
        try:
            written = form.serialization.dump(value)
        except TemplateError:
            raise NoJson from None
        if written != text:
            raise NoJson
    return Spelled(value, text, form)
