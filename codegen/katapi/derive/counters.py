"""Counters of a whole conversation: for which messages they matter, and by how much those advance them.

A counter that begins with each message is no such one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from katapi.check.traverse import blocks, expressions, statements, variables, with_inner
from katapi.model import template as t
from katapi.model.types import ListType, present
from katapi.runtime.budget.reach import Counted

_RUN = "*"  # stands for the messages of a run, which are no field


@dataclass(frozen=True, slots=True)
class _Fields:
    """What is known of lists within a body: which are fields of the walk's message, and which is its run.

    `of_run` is a message of the run; before the name of a field of it stands `_RUN`.
    """

    messages: set[int]
    run: t.Variable | None
    lists: Mapping[int, str | None]
    of_run: t.Variable | None = None

    @classmethod
    def of_arm(cls, arm: t.WalkArm) -> _Fields:
        """What is known in the body of an arm."""
        return cls({arm.variable.number}, arm.run, {})

    def of(self, expr: t.Expr) -> str | None:
        """The field that a list is, or `_RUN`; None where it is neither."""
        match expr:
            case t.Coalesce(options=(first, *others)) if all(_is_empty(other) for other in others):
                return self.of(first)
            case t.FieldOf(base=t.Var(variable=variable), field=field) if variable.number in self.messages:
                return field.name
            case t.FieldOf(base=t.Var(variable=variable), field=field) if variable == self.of_run:
                return _RUN + field.name
            case t.Var(variable=variable) if self.run is not None and variable.number == self.run.number:
                return _RUN
            case t.Var(variable=variable):
                return self.lists.get(variable.number)
            case _:
                return None

    def field(self, expr: t.Expr) -> str | None:
        """The field of the walk's message that a list is; None where it is none."""
        found = self.of(expr) if isinstance(present(expr.type), ListType) else None
        return None if found is None or found.startswith(_RUN) else found


class Counters:
    """The counters of one template, seen from the arms of its walk."""

    def __init__(self, template: t.Template, walk: t.Walk) -> None:
        self._template = template
        self._arms = walk.arms
        self._called: list[str] = []

    def counted(self) -> frozenset[Counted]:
        """The messages that a counter of the whole conversation goes on over, or for which it is asked."""
        found: set[Counted] = set()
        for arm in self._arms:
            if arm.condition is not None and any(v.binding is t.Binding.COUNTER for v in variables(arm.condition)):
                found |= {Counted(role, None) for role in arm.roles}
            for guard in self._counting(arm.body, self._foreign(arm.body), _Fields.of_arm(arm)):
                if guard is not None and guard.startswith(_RUN):
                    roles = arm.roles if arm.then is None else (arm.then,)
                    found |= {Counted(role, guard.removeprefix(_RUN) or None) for role in roles}
                else:
                    found |= {Counted(role, guard) for role in arm.roles}
        return frozenset(found)

    def _foreign(self, body: t.Block) -> set[int]:
        """The counters in a body that begin outside of it."""
        within = list(statements(body))
        used = {
            v.number for one in within for e in expressions(one) for v in variables(e) if v.binding is t.Binding.COUNTER
        }
        used |= {one.variable.number for one in within if isinstance(one, t.Advance)}
        return used - {one.variable.number for one in within if isinstance(one, t.Begin)}

    def _counting(self, body: t.Block, counters: set[int], fields: _Fields) -> Iterator[str | None]:
        """Where a body advances a counter or asks for one: the field whose items do it, or None."""
        for one in body.statements:
            asked = any(v.number in counters for expr in expressions(one) for v in variables(expr))
            if isinstance(one, t.Let | t.Begin) and asked:
                counters.add(one.variable.number)
                continue
            if asked or (isinstance(one, t.Advance) and one.variable.number in counters):
                yield None
            if isinstance(one, t.CallDef):
                called = next(d for d in self._template.definitions if d.name == one.name)
                if called.name in self._called:
                    continue
                self._called.append(called.name)
                of = dict(zip((p.number for p in called.parameters), map(fields.of, one.arguments), strict=True))
                yield from self._counting(called.body, self._foreign(called.body), _Fields(set(), None, of))
                self._called.pop()
            for block in blocks(one):
                field = _entered_for(one, block, fields)
                if isinstance(one, t.Each) and field == _RUN:
                    fields = replace(fields, of_run=one.item)
                for guard in self._counting(block, counters, fields):
                    yield field if guard is None else guard

    def advancing(self) -> frozenset[Counted] | None:
        """The messages that advance counters by the same for each item of a field; None where others advance them."""
        found: set[Counted] = set()
        for arm in self._arms:
            fields = list(self._advances(arm.body, self._foreign(arm.body), _Fields.of_arm(arm), None, None))
            if None in fields or (fields and arm.condition is not None):
                return None
            found |= {Counted(role, field) for field in fields for role in arm.roles}
        return frozenset(found)

    def _advances(
        self, body: t.Block, counters: set[int], fields: _Fields, given: str | None, inside: str | None
    ) -> Iterator[str | None]:
        """For each place that advances a counter the field for whose every item it does so, or None.

        `given` is the field that has items here, and `inside` the one whose items are gone through.
        """
        for one in body.statements:
            match one:
                case t.Advance(variable=variable):
                    if variable.number in counters:
                        yield inside
                case t.Block():
                    yield from self._advances(one, counters, fields, given, inside)
                case t.Sampled(body=inner) | t.ImageOf(body=inner):
                    yield from self._advances(inner, counters, fields, given, inside)
                case t.Each(condition=None, body=inner) if inside is None and given in (None, fields.field(one.source)):
                    yield from self._advances(inner, counters, fields, None, fields.field(one.source))
                case t.If(test=t.Given(value=value), then=then, otherwise=None) if (
                    inside is None and given is None and (field := fields.field(value)) is not None
                ):
                    for place in self._advances(then, counters, fields, field, None):
                        yield field if place == field else None
                case _:
                    if self._advances_within(one, counters):
                        yield None

    def _advances_within(self, statement: t.Statement, counters: set[int]) -> bool:
        """Whether a statement advances a counter at some place inside it."""
        within = list(with_inner(statement))
        if any(isinstance(one, t.Advance) and one.variable.number in counters for one in within):
            return True
        called = {one.name for one in within if isinstance(one, t.CallDef)}
        return bool(called) and any(
            isinstance(one, t.Advance) and one.variable.number in self._foreign(definition.body)
            for definition in self._template.definitions
            for one in statements(definition.body)
        )


def _entered_for(statement: t.Statement, block: t.Block, fields: _Fields) -> str | None:
    """The list that has something in it wherever a block of a statement is entered, if there is one."""
    match statement:
        case t.Each(source=value):
            pass
        case t.If(test=t.Given(value=value), then=then) if then is block:
            pass
        case _:
            return None
    return fields.of(value) if isinstance(present(value.type), ListType) else None


def _is_empty(expr: t.Expr) -> bool:
    return isinstance(expr, t.ListConst) and not expr.items
