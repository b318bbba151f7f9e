"""Parts of expressions that get a name before the statement that they stand in.

A query that finds an item becomes a loop, and what a field is asked of is computed once: only so does Python's type
checker follow what is known of it, and only so is it known where the item stood. A part that is asked for only under a
condition (`c and …`, `a ?? …`, `if c then …`) is named only under that condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from katapi.check.traverse import with_parts
from katapi.language.syntax import Quantifier
from katapi.model import template as t
from katapi.model.types import BoolType, OptionalType, present

_BOOL = BoolType()


@dataclass(frozen=True, slots=True)
class Lift:
    """A part of an expression under its name; it is asked for where all guards hold."""

    variable: t.Variable
    value: t.Expr
    guards: tuple[t.Expr, ...]


class Lifting:
    """Takes such parts out of the expressions of one function."""

    def __init__(self) -> None:
        self._made = 0

    def out_of(self, expr: t.Expr, guards: tuple[t.Expr, ...] = ()) -> tuple[t.Expr, list[Lift]]:
        """An expression in which names stand for such parts, and the parts in the order in which they are asked for."""
        lifts: list[Lift] = []
        return self._parts(expr, guards, lifts), lifts

    def out_of_let(self, value: t.Expr) -> tuple[t.Expr, list[Lift]]:
        """The same of a value that gets a name anyway."""
        lifts: list[Lift] = []
        if not isinstance(value, t.Query):
            return self._parts(value, (), lifts), lifts
        return replace(value, source=self._source(value.source, (), lifts)), lifts

    def _parts(self, expr: t.Expr, guards: tuple[t.Expr, ...], lifts: list[Lift]) -> t.Expr:
        match expr:
            case t.And(operands=operands):
                return replace(expr, operands=self._in_turn(operands, _itself, guards, lifts))
            case t.Or(operands=operands):
                return replace(expr, operands=self._in_turn(operands, _negated, guards, lifts))
            case t.Coalesce(options=options):
                return replace(expr, options=self._in_turn(options, _absent, guards, lifts))
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                test = self._parts(test, guards, lifts)
                then = self._parts(then, (*guards, test), lifts)
                return replace(
                    expr, test=test, then=then, otherwise=self._parts(otherwise, (*guards, _negated(test)), lifts)
                )
            case t.Query(source=source, condition=condition):
                query = replace(expr, source=self._source(source, guards, lifts))
                if finds(query) or Lifting().out_of(condition)[1]:
                    return self._named(query, guards, lifts)
                return query
            case t.FieldOf() | t.RoleOf() | t.JsonFieldOf() | t.HasKey():
                return replace(expr, base=self._base(expr.base, guards, lifts))
            case t.IsBeside(value=value, other=other):
                return replace(expr, value=self._base(value, guards, lifts), other=self._base(other, guards, lifts))
            case _:
                return with_parts(expr, lambda part: self._parts(part, guards, lifts))

    def _in_turn(
        self,
        operands: tuple[t.Expr, ...],
        passed: Callable[[t.Expr], t.Expr],
        guards: tuple[t.Expr, ...],
        lifts: list[Lift],
    ) -> tuple[t.Expr, ...]:
        """Operands of which each is asked for only where those before it were `passed`."""
        out: list[t.Expr] = []
        for operand in operands:
            own = self._parts(operand, guards, lifts)
            if passed is _absent and operand is not operands[-1] and isinstance(own, (t.Conditional, t.Coalesce)):
                own = self._named(own, guards, lifts)
            out.append(own)
            guards = (*guards, passed(own))
        return tuple(out)

    def _base(self, expr: t.Expr, guards: tuple[t.Expr, ...], lifts: list[Lift]) -> t.Expr:
        """What a field or key is asked of: where it may be absent, something that can be tested first."""
        base = self._parts(expr, guards, lifts)
        if isinstance(base.type, OptionalType) and not is_unchanging(base):
            return self._named(base, guards, lifts)
        return base

    def _source(self, expr: t.Expr, guards: tuple[t.Expr, ...], lifts: list[Lift]) -> t.Expr:
        """What a query looks through: Python binds no name inside of the source of a comprehension."""
        source = self._parts(expr, guards, lifts)
        if not isinstance(source, t.Coalesce):
            return source
        *first, last = source.options
        options = (o if is_testable(o) else self._named(o, guards, lifts) for o in first)
        return replace(source, options=(*options, last))

    def _named(self, value: t.Expr, guards: tuple[t.Expr, ...], lifts: list[Lift]) -> t.Expr:
        self._made += 1
        variable = t.Variable(_name(value), -self._made, t.Binding.LET, value.type, value.span)
        lifts.append(Lift(variable, value, guards))
        return t.Var(variable, type=value.type, span=value.span)


def finds(query: t.Query) -> bool:
    """Whether a query gives an item of its list."""
    return query.quantifier in (Quantifier.FIRST, Quantifier.LAST)


def is_unchanging(expr: t.Expr) -> bool:
    """Whether Python's type checker follows what a test has shown of the expression: a name, or fields of one."""
    match expr:
        case t.Var():
            return True
        case t.FieldOf(base=base):
            return is_unchanging(base) and not isinstance(base.type, OptionalType)
        case _:
            return False


def is_testable(expr: t.Expr) -> bool:
    """Whether a test can show that the expression is there, in two steps where it is a field of what may be absent."""
    match expr:
        case t.FieldOf(base=base) | t.RoleOf(base=base):
            return is_unchanging(base)
        case t.LengthOf(base=base):
            return is_testable(base)
        case _:
            return is_unchanging(expr)


def there(expr: t.Expr) -> t.Expr:
    """An expression that a test has shown to be there, and with it what it is a field of."""
    known = replace(expr, type=present(expr.type))
    return replace(known, base=there(known.base)) if isinstance(known, (t.FieldOf, t.RoleOf, t.LengthOf)) else known


def _itself(expr: t.Expr) -> t.Expr:
    return expr


def _negated(expr: t.Expr) -> t.Expr:
    return t.Not(expr, type=_BOOL, span=expr.span)


def _absent(expr: t.Expr) -> t.Expr:
    return _negated(t.Exists(expr, type=_BOOL, span=expr.span))


def _name(value: t.Expr) -> str:
    """A name that says what a part is."""
    match value:
        case t.Var(variable=variable):
            return variable.name
        case t.Query(quantifier=quantifier, variable=variable):
            return f"{quantifier.value}_{variable.name}"
        case t.FieldOf(base=base, field=f):
            return f"{_name(base)}_{f.name}"
        case t.EndOf(base=base, end=end):
            return f"{end.value}_of_{_name(base)}"
        case t.NeighbourOf(variable=variable, neighbour=neighbour):
            return f"{neighbour.value}_{variable.name}"
        case _:
            return "chosen"
