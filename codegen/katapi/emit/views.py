"""Queries over the messages before or after that of the walk which one pass before the walk answers for every message.

Such a query asks of each message what does not depend on where the walk stands. Any other goes through its part of the
messages anew whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from katapi.check.traverse import expressions, nested, statements, variables, with_parts
from katapi.emit.lifts import Lifting
from katapi.model import template as t
from katapi.model.types import ANY_JSON, OptionalType, optional


def steady_queries(walk: t.Walk, outside: Container[int]) -> Iterator[t.Query]:
    """The queries of a walk that one pass answers; `outside` has the numbers of the names from before the walk."""
    for arm in walk.arms:
        found = [] if arm.condition is None else [arm.condition]
        found += [expr for statement in statements(arm.body) for expr in expressions(statement)]
        for query in (one for expr in found for one in nested(expr)):
            if isinstance(query, t.Query) and isinstance(query.source, t.View) and _is_steady(query, outside):
                yield query


def asks_the_same(one: t.Query, other: t.Query) -> bool:
    """Whether two such queries have the same answers: they differ in the names of their messages alone."""
    assert isinstance(one.source, t.View)
    assert isinstance(other.source, t.View)

    def renamed(expr: t.Expr) -> t.Expr:
        if isinstance(expr, t.Var) and expr.variable == other.variable:
            return replace(expr, variable=one.variable)
        return with_parts(expr, renamed)

    alike = one.quantifier is other.quantifier and one.source.side is other.source.side
    return alike and renamed(other.condition) == one.condition


def _is_steady(query: t.Query, outside: Container[int]) -> bool:
    own = {query.variable.number}
    if Lifting().out_of(query.condition)[1]:
        return False
    asked = [v for v in variables(query.condition) if v.number not in own]
    if any(v.number not in outside or v.binding is t.Binding.COUNTER for v in asked):
        return False
    return not any(_is_narrowed(part, own) for part in nested(query.condition))


def _is_narrowed(expr: t.Expr, own: set[int]) -> bool:
    """Whether a test around the query has shown something of a value that is no message's: here it may not hold."""
    if any(variable.number in own for variable in variables(expr)):
        return False
    match expr:
        case t.Var(variable=variable):
            return expr.type != variable.type
        case t.FieldOf(base=base, field=declared):
            return expr.type != (optional(declared.type) if isinstance(base.type, OptionalType) else declared.type)
        case t.JsonFieldOf():
            return expr.type != ANY_JSON
        case _:
            return False
