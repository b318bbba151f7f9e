"""Which texts of a message a property test can ask for: those that the template prints and nowhere drops."""

from __future__ import annotations

from typing import TypeAlias

from katapi.check.traverse import all_statements, expressions, let_values, nested, value_parts
from katapi.check.traverse import statements as in_block
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import Field, Record, Role
from katapi.model.types import (
    ListType,
    MessageType,
    OptionalType,
    RecordType,
    TaggedType,
    Type,
    holds_text,
    present,
    records_in,
)

_Owner: TypeAlias = tuple[type[Role] | type[Record], str]
_Mark: TypeAlias = tuple[_Owner, str]
_WHOLE = ""


def always_printed(program: Program) -> dict[str, tuple[str, ...]]:
    """By role, the open texts that are printed wherever they are not empty: `content`, `tool_calls.function.name`.

    The check for lost fields has shown that each is printed or dropped on every path; so a text is printed if no `drop`
    mentions it or what it is a part of, directly, through `let` or through a `def`. Other values are left out: a list
    or JSON value that is not empty may still hold nothing to print, a text with choices may be told by what is printed
    instead of it, as an open role that is compared may be, and a text of which a test sees a part, such as `given
    m.content.trim()`, may have an empty one.
    """
    unsure = _Unsure(program).marks
    records = {r.name: r for r in program.request.records}

    def paths(owner: _Owner, fields: tuple[Field, ...], prefix: str) -> list[str]:
        out: list[str] = []
        for field in fields:
            if field.ignored or not unsure.isdisjoint({(owner, field.name), (owner, _WHOLE)}):
                continue
            for name in records_in(field.type):
                record = records[name]
                inside = paths((Record, record.name), record.fields, f"{prefix}{field.name}.")
                out.extend(path for path in inside if path not in out)
            if holds_text(field.type):
                out.append(prefix + field.name)
        return out

    def spelled(role: Role) -> list[str]:
        marks = {((Role, role.name), "role"), ((Role, role.name), _WHOLE)}
        return ["role"] if role.open and unsure.isdisjoint(marks) else []

    roles = program.request.roles
    return {role.name: (*spelled(role), *paths((Role, role.name), role.fields, "")) for role in roles}


def _item(of: Type) -> Type:
    """What a list holds, in the end."""
    while isinstance(of, ListType | OptionalType):
        of = of.item
    return of


class _Unsure:
    """The messages, records and fields that a `drop` mentions, or of which a test sees a part, as (owner, field)."""

    def __init__(self, program: Program) -> None:
        self.marks: set[_Mark] = set()
        self._parameters: set[int] = set()
        self._lets = let_values(program.template)
        statements = list(all_statements(program.template))
        for statement in statements:
            if isinstance(statement, t.Drop):
                self._mark(statement.value)
            if isinstance(statement, t.Capture):
                for part in (e for inner in in_block(statement.body) for e in expressions(inner)):
                    self._mark(part)
            seen = list(expressions(statement))
            if isinstance(statement, t.Match) and isinstance(statement.subject, t.RoleOf):
                self._mark(statement.subject)
            for asked in (i for e in seen for i in nested(e) if isinstance(i, t.Compare)):
                for side in (asked.left, asked.right):
                    if isinstance(side, t.RoleOf):
                        self._mark(side)
            tested = [i.value for e in seen for i in nested(e) if isinstance(i, t.Given)]
            passed = seen if isinstance(statement, t.CallDef) else []
            for expr in (*tested, *passed):
                if self._is_cut(expr):
                    self._mark(expr)
        definitions = {d.name: d.parameters for d in program.template.definitions}
        before = -1
        while before != len(self._parameters):
            before = len(self._parameters)
            for statement in statements:
                if isinstance(statement, t.CallDef):
                    for parameter, argument in zip(definitions[statement.name], statement.arguments, strict=True):
                        if parameter.number in self._parameters:
                            self._mark(argument)

    def _is_cut(self, expr: t.Expr) -> bool:
        """Whether a value is a part of a text, directly or through `let`."""
        if isinstance(expr, t.Var) and expr.variable.number in self._lets:
            return self._is_cut(self._lets[expr.variable.number])
        return isinstance(expr, t.Cut | t.Rewrite) or any(self._is_cut(part) for part in value_parts(expr))

    def _mark(self, expr: t.Expr) -> None:
        of = _item(expr.type)
        if isinstance(of, MessageType):
            self.marks |= {((Role, role), _WHOLE) for role in of.roles}
        elif not isinstance(expr, t.FieldOf):
            self.marks |= {((Record, name), _WHOLE) for name in records_in(of)}
        match expr:
            case t.FieldOf(base=base, field=field):
                self.marks |= {(owner, field.name) for owner in _owners(base.type)}
            case t.RoleOf(base=base):
                self.marks |= {(owner, "role") for owner in _owners(base.type)}
            case t.Var(variable=variable):
                if variable.binding is t.Binding.DEF_PARAMETER:
                    self._parameters.add(variable.number)
                if variable.number in self._lets:
                    self._mark(self._lets[variable.number])
            case _:
                for part in value_parts(expr):
                    self._mark(part)


def _owners(of: Type) -> list[_Owner]:
    match present(of):
        case MessageType(roles=roles):
            return [(Role, role) for role in roles]
        case RecordType() | TaggedType() as of:
            return [(Record, name) for name in records_in(of)]
        case _:
            return []
