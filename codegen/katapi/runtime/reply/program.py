"""The grammar of a reply as a graph of instructions, which `reading.py` follows.

Symbols are characters; a control token is one character too, a lone surrogate, which no text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from katapi.runtime.reply import grammar as g
from katapi.runtime.reply.log import Appended, Began, Bound, Emptied, Entry, Fixed, Left, Named, Started

CONTROL = "\ud800-\udfff"
"""All characters that stand for control tokens, in a class of a pattern."""
OTHER_CONTROL = "\udfff"
"""The character for control tokens that the grammar does not have."""
_FIRST_CONTROL = 0xD800
_JSON_STARTS = frozenset('{["-0123456789tfnNITF')
_LONGEST_LEAD = 12


@dataclass(slots=True, eq=False)
class Expect:
    """A text, or one control token: `symbols`; it goes on with `next`."""

    symbols: str
    next: Instruction

    @property
    def is_control(self) -> bool:
        """Whether it is a control token."""
        return self.symbols >= "\ud800" and self.symbols <= "\udfff"


@dataclass(slots=True, eq=False)
class Hole:
    """A free text, in the midst of it; `next` is behind it.

    `ends` finds where it may end; None where it may end anywhere.
    """

    next: Instruction
    ends: re.Pattern[str] | None = None


@dataclass(slots=True, eq=False)
class Json:
    """A JSON value, as `form` says; it goes on with `next`."""

    form: g.JsonText | g.JsonMembers
    next: Instruction


@dataclass(slots=True, eq=False)
class Digits:
    """A whole number; it goes on with `next`."""

    next: Instruction


@dataclass(slots=True, eq=False)
class Fork:
    """One of some ways, `options`: the first that leads to the end."""

    options: list[Instruction]


@dataclass(slots=True, eq=False)
class Note:
    """Nothing is read; but something is noted, and it goes on with `next`."""

    entry: Entry
    """What is noted; what has a position gets it when it is reached."""
    next: Instruction


@dataclass(slots=True, eq=False)
class Enter:
    """What a `rule` reads; afterwards it goes on with `next`."""

    rule: str
    next: Instruction


@dataclass(slots=True, eq=False)
class Leave:
    """The end of a `rule`."""

    rule: str


@dataclass(slots=True, eq=False)
class Accept:
    """The end of the reply."""


Instruction: TypeAlias = Expect | Hole | Json | Digits | Fork | Note | Enter | Leave | Accept
"""A node of the graph."""


@dataclass(slots=True)
class Program:
    """A whole graph, which begins with `start`."""

    start: Instruction
    rules: dict[str, Instruction]
    """Where each rule begins."""
    symbols: Mapping[int, str]
    """The character for each control token of the grammar, by its id."""
    returns: dict[str, list[Instruction]] = field(default_factory=dict)
    """With what it may go on behind each rule."""


def compile_reply(reply: g.Reply) -> Program:
    """The graph of a grammar."""
    tokens: dict[int, None] = {}
    forms = [reply.form, *(rule.form for rule in reply.rules.values()), *reply.prefixes]
    for form in forms:
        for token in _tokens(form):
            tokens[token] = None
    symbols = {token: chr(_FIRST_CONTROL + at) for at, token in enumerate(tokens)}
    return _Compiler(reply, symbols).program()


class _Compiler:
    def __init__(self, reply: g.Reply, symbols: Mapping[int, str]) -> None:
        self._reply = reply
        self._symbols = symbols
        self._holes: list[Hole] = []
        self._returns: dict[str, list[Instruction]] = {name: [] for name in reply.rules}

    def program(self) -> Program:
        """Compiles the whole."""
        rules = {name: self._form(rule.form, Leave(name)) for name, rule in self._reply.rules.items()}
        program = Program(self._form(self._reply.form, Accept()), rules, self._symbols, self._returns)
        for hole in self._holes:
            leads = _leads(hole.next, program, "", frozenset())
            if "" not in leads:
                begun = {_begun(_distinct(lead)) for lead in leads}
                hole.ends = re.compile("|".join([*sorted(begun), f"[{CONTROL}]"]))
        return program

    def _form(self, form: g.Form, then: Instruction) -> Instruction:
        match form:
            case str():
                return Expect(form, then) if form else then
            case tuple():
                for part in reversed(form):
                    then = self._form(part, then)
                return then
            case g.FreeText():
                hole = Hole(Note(Left(form, 0), then))
                self._holes.append(hole)
                return Note(Started(form, 0), hole)
            case g.JsonText() | g.JsonMembers():
                return Json(form, then)
            case g.Number():
                return Digits(then)
            case g.Constant(place=place, value=value):
                return Note(Fixed(place, value), then)
            case g.Either(options=options):
                return Fork([self._form(option, then) for option in options])
            case g.Items(item=item, place=place):
                return self._loop(form, (item,), Appended(item, place), then, some=form.some)
            case g.Members(key=key, value=value, place=place):
                return self._loop(form, (key, value), Named(key, value, place), then, some=False)
            case g.Call(rule=rule, place=place):
                parameter = self._reply.rules[rule].parameter
                behind = Note(Bound(parameter, place), then)
                self._returns[rule].append(behind)
                return Note(Began(parameter), Enter(rule, behind))
            case _:
                return Expect(self._symbols[form.id], then)

    def _loop(
        self, form: g.Items | g.Members, variables: tuple[str, ...], kept: Entry, then: Instruction, *, some: bool
    ) -> Instruction:
        """The rounds of a loop: behind each one more, or the end."""
        again = Fork([])
        round_ = self._form(form.form, Note(kept, again))
        for variable in reversed(variables):
            round_ = Note(Began(variable), round_)
        again.options = [self._form(form.join, round_), then]
        if some:
            return round_
        return Note(Emptied(form.place, isinstance(form, g.Items)), Fork([round_, then]))


def _tokens(form: g.Form) -> Iterator[int]:
    match form:
        case tuple() | g.Either():
            for part in form if isinstance(form, tuple) else form.options:
                yield from _tokens(part)
        case g.Items(form=inner, join=join) | g.Members(form=inner, join=join):
            yield from _tokens(inner)
            yield from _tokens(join)
        case str() | g.FreeText() | g.JsonText() | g.JsonMembers() | g.Number() | g.Constant() | g.Call():
            return
        case _:
            yield form.id


def _leads(instruction: Instruction, program: Program, before: str, seen: frozenset[Instruction]) -> set[str]:
    """What may stand next, as far as it is fixed; an empty text where it may be anything."""
    if instruction in seen or len(before) >= _LONGEST_LEAD:
        return {before} if before else set()
    seen |= {instruction}
    match instruction:
        case Expect(symbols=symbols, next=then):
            return _leads(then, program, before + symbols, seen)
        case Json(form=form) if not before:
            return {"{"} if isinstance(form, g.JsonMembers) else set(_JSON_STARTS)
        case Digits() if not before:
            return set("0123456789")
        case Hole() | Json() | Digits():
            return {before}
        case Note(next=then):
            return _leads(then, program, before, seen)
        case Fork(options=options):
            return {lead for option in options for lead in _leads(option, program, before, seen)}
        case Enter(rule=rule):
            return _leads(program.rules[rule], program, before, seen)
        case Leave(rule=rule):
            return {lead for option in program.returns[rule] for lead in _leads(option, program, before, seen)}
        case Accept():
            return {before} if before else set()


def _distinct(lead: str) -> str:
    """As much of a lead as tells it; the white space at its end may be missing in a reply."""
    return lead[:_LONGEST_LEAD].rstrip() or lead


def _begun(lead: str) -> str:
    """A pattern for a text of which the end may still have to come, or is missing before white space or a token."""
    pattern = ""
    for symbol in reversed(lead):
        pattern = re.escape(symbol) + (f"(?:{pattern}|(?=[\\s{CONTROL}])|\\Z)" if pattern else "")
    return pattern
