"""Where a template begins to print a message: what the arms of its walk can print first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from katapi.language.source import Source
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.sites import site_of
from katapi.runtime.budget.starts import Starts
from katapi.runtime.segments import Site


def starts_of(program: Program) -> Starts:
    """The first that the arms of a template's walks print."""
    reading = _Reading(program.source, {d.name: d for d in program.template.definitions}, {})
    sites: set[Site] = set()
    roles: set[str] = set()
    for arm in _arms(program.template.body):
        first = reading.of_block(arm.body)
        sites |= first.sites
        if first.content:
            roles.update(arm.roles)
    return Starts(frozenset(sites), frozenset(roles))


def _arms(statement: t.Statement) -> Iterator[t.WalkArm]:
    match statement:
        case t.Walk(arms=arms):
            yield from arms
        case t.Block(statements=statements):
            for one in statements:
                yield from _arms(one)
        case t.If(then=then, otherwise=otherwise):
            yield from _arms(then)
            if otherwise is not None:
                yield from _arms(otherwise)
        case _:
            pass


@dataclass(slots=True)
class _First:
    """What a statement can print first: fixed texts by their places, or a content; and whether it may be nothing."""

    sites: set[Site] = field(default_factory=set)
    content: bool = False
    empty: bool = True

    def then(self, other: _First) -> _First:
        """The first of what is printed one after the other."""
        if not self.empty:
            return self
        return _First(self.sites | other.sites, self.content or other.content, other.empty)

    def either(self, other: _First) -> _First:
        """The first of one or the other."""
        return _First(self.sites | other.sites, self.content or other.content, self.empty or other.empty)


@dataclass(frozen=True, slots=True)
class _Reading:
    source: Source
    definitions: dict[str, t.Def]
    values: dict[t.Variable, t.Expr]
    """What is known of variables."""
    calls: frozenset[tuple[str, tuple[t.Expr, ...]]] = frozenset()
    """The calls within which something stands, each with its arguments."""

    def of_block(self, block: t.Block) -> _First:
        """The first of a block."""
        first = _First()
        for statement in block.statements:
            if not first.empty:
                break
            if isinstance(statement, t.Let):
                self.values[statement.variable] = self._known(statement.value)
            first = first.then(self._of(statement))
        return first

    def _of(self, statement: t.Statement) -> _First:
        match statement:
            case t.Block():
                return self.of_block(statement)
            case t.Sampled(body=body) | t.Joined(body=body):
                return self.of_block(body)
            case t.ImageOf(body=body, span=span):
                placeholder = _First({site_of(span, self.source)}, empty=False)
                return self.of_block(body).either(placeholder)
            case t.Print(value=value):
                return self._printed(value)
            case t.CallDef(name=name, arguments=arguments):
                definition = self.definitions[name]
                call = name, tuple(map(self._known, arguments))
                if call in self.calls:
                    return _First()  # the same as of the call within which it stands
                values = dict(zip(definition.parameters, call[1], strict=True))
                return _Reading(self.source, self.definitions, values, self.calls | {call}).of_block(definition.body)
            case t.If(then=then, otherwise=otherwise):
                return self.of_block(then).either(_First() if otherwise is None else self.of_block(otherwise))
            case t.Match(arms=arms):
                found = [self.of_block(arm.body) for arm in arms]
                return self._any(found, total=any(arm.other for arm in arms))
            case t.Each(body=body) | t.Take(otherwise=t.Block() as body):
                return self._any([self.of_block(body)], total=False)
            case t.Walk(arms=arms):
                return self._any([self.of_block(arm.body) for arm in arms], total=False)
            case t.Let() | t.Capture() | t.Drop() | t.Begin() | t.Advance() | t.Reject() | t.Take():
                return _First()
            case _:
                assert_never(statement)

    def _known(self, value: t.Expr) -> t.Expr:
        """An expression, or what a variable is known to stand for."""
        return self.values.get(value.variable, value) if isinstance(value, t.Var) else value

    def _printed(self, value: t.Expr) -> _First:
        value = self._known(value)
        match value:
            case t.ControlConst():
                return _First({site_of(value.span, self.source)}, empty=False)
            case t.TextConst(text=text):
                return _First({site_of(value.span, self.source)} if text else set(), empty=not text)
            case t.Conditional(then=then, otherwise=otherwise):
                return self._printed(then).either(self._printed(otherwise))
            case t.Coalesce(options=options):
                return self._any([self._printed(option) for option in options], total=True)
            case t.RoleOf():  # it stands for a text of the template where the roles are known
                return _First({site_of(value.span, self.source)}, content=True, empty=False)
            case _:
                return _First(content=True, empty=False)

    @staticmethod
    def _any(found: list[_First], *, total: bool) -> _First:
        """The first of one of several, or of none where they are not the `total`."""
        first = _First(empty=not total)
        for one in found:
            first = first.either(one)
        return first
