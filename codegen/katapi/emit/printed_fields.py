"""Which fields of a message a property test can ask for: those that the template prints and nowhere drops."""

from __future__ import annotations

from katapi.check.traverse import all_statements, let_values, nested
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import CONTENT, MessageType, present


def always_printed(program: Program) -> dict[str, frozenset[str]]:
    """By role, the fields of open text that are printed wherever they are not empty.

    The check for lost fields has shown that each is printed or dropped on every path; so a field that no `drop`
    mentions, directly or through `let`, is printed. A list, a record or a JSON value that is not empty may still hold
    nothing to print, and a text with choices may be told by what is printed instead of it.
    """
    lets = let_values(program.template)
    dropped: set[tuple[str, str]] = set()
    for statement in all_statements(program.template):
        if isinstance(statement, t.Drop):
            dropped |= _fields(statement.value, lets)
    return {
        role.name: frozenset(
            f.name
            for f in role.fields
            if present(f.type) == CONTENT and not f.ignored and (role.name, f.name) not in dropped
        )
        for role in program.request.roles
    }


def _fields(expr: t.Expr, lets: dict[int, t.Expr]) -> set[tuple[str, str]]:
    """The fields of messages that an expression is made of, as (role, field)."""
    out: set[tuple[str, str]] = set()
    for inner in nested(expr):
        match inner:
            case t.FieldOf(base=base, field=field):
                of = present(base.type)
                if isinstance(of, MessageType):
                    out |= {(role, field.name) for role in of.roles}
            case t.Var(variable=variable):
                if variable.number in lets:
                    out |= _fields(lets[variable.number], lets)
            case _:
                pass
    return out
