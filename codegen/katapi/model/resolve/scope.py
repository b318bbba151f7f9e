"""Names in force at a place of a template, and what tests have shown about their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from katapi.language.syntax import Operator
from katapi.model.template import (
    And,
    Compare,
    Exists,
    Expr,
    FieldOf,
    Given,
    IsJson,
    IsRole,
    JsonFieldOf,
    Not,
    Or,
    RoleOf,
    TextConst,
    Var,
    Variable,
)
from katapi.model.types import (
    BoolType,
    IntType,
    MessageType,
    OptionalType,
    TaggedType,
    TextType,
    Type,
    kinds_told_apart,
    of_kinds,
    of_tag,
    present,
)

#: A variable's number and the fields that lead from it to a value.
Path = tuple[int | str, ...]
Facts = Mapping[Path, Type]


def path_of(expr: Expr) -> Path | None:
    """The path of an expression that names an unchanging value; None for a computed one."""
    match expr:
        case Var(variable=variable):
            return (variable.number,)
        case FieldOf(base=base, field=f):
            inner = path_of(base)
            return None if inner is None else (*inner, f.name)
        case JsonFieldOf(base=base, key=key):
            inner = path_of(base)
            return None if inner is None else (*inner, key)
        case RoleOf(base=base):
            inner = path_of(base)
            return None if inner is None else (*inner, "role")
        case _:
            return None


def facts(test: Expr, truth: bool) -> dict[Path, Type]:
    """What is known about values once a test has come out true, or false."""
    match test:
        case Not(operand=operand):
            return facts(operand, not truth)
        case And(operands=operands) if truth:
            return {k: v for o in operands for k, v in facts(o, True).items()}
        case Or(operands=operands) if not truth:
            return {k: v for o in operands for k, v in facts(o, False).items()}
        case Exists(value=value) | Given(value=value) if truth:
            return _presence(value)
        case IsRole(value=value, roles=roles):
            return _role_facts(value, roles, truth)
        case IsJson(value=value, kinds=kinds):
            path, known = path_of(value), kinds_told_apart(value.type)
            if path is None or known is None:
                return {}
            left = known & kinds if truth else known - kinds
            return {path: of_kinds(value.type, left)} | (_presence_of_base(value) if truth else {}) if left else {}
        case Compare(operator=operator, left=FieldOf(base=base), right=TextConst(text=text)) if isinstance(
            base.type, TaggedType
        ):
            path = path_of(base)
            equal = truth is (operator is Operator.EQUAL)
            values = {text} if equal else set(base.type.values) - {text}
            return {} if path is None or not values & set(base.type.values) else {path: of_tag(base.type, values)}
        case Compare(operator=operator, left=left, right=right) if operator in (Operator.EQUAL, Operator.NOT_EQUAL):
            equal = truth is (operator is Operator.EQUAL)
            return _equality(left, right, equal) | _equality(right, left, equal)
        case _:
            return {}


def _equality(value: Expr, other: Expr, equal: bool) -> dict[Path, Type]:
    """What is known of a value that is equal to another, or is not."""
    path, of = path_of(value), present(value.type)
    if path is None:
        return {}
    if isinstance(other, TextConst) and isinstance(of, TextType) and of.choices is not None:
        whose = _role_facts(value.base, (other.text,), equal) if isinstance(value, RoleOf) and value.type == of else {}
        left = tuple(choice for choice in of.choices if (choice == other.text) is equal)
        narrowed = replace(of, choices=left)
        known: Type = narrowed if equal or not isinstance(value.type, OptionalType) else OptionalType(narrowed)
        return {path: known} | whose if left else {}
    scalar = isinstance(other.type, (TextType, IntType, BoolType)) and isinstance(of, (TextType, IntType, BoolType))
    inside = isinstance(value, FieldOf) and isinstance(value.base.type, OptionalType)
    return {path: of} if equal and scalar and isinstance(value.type, OptionalType) and not inside else {}


def _presence(value: Expr) -> dict[Path, Type]:
    path = path_of(value)
    if path is None:
        return {}
    return {path: present(value.type)} | _presence_of_base(value)


def _presence_of_base(value: Expr) -> dict[Path, Type]:
    """Where a field is there, what it is a field of is there too."""
    match value:
        case FieldOf(base=base) | RoleOf(base=base):
            return _presence(base)
        case _:
            return {}


def _role_facts(value: Expr, roles: tuple[str, ...], truth: bool) -> dict[Path, Type]:
    path, t = path_of(value), present(value.type)
    if path is None or not isinstance(t, MessageType):
        return {}
    if truth:
        return {path: MessageType(tuple(r for r in t.roles if r in roles))}
    left = MessageType(tuple(r for r in t.roles if r not in roles))
    if not left.roles:
        return {}
    return {path: OptionalType(left) if isinstance(value.type, OptionalType) else left}


@dataclass(frozen=True, slots=True)
class Scope:
    """Immutable: a block works on its own extended copy. A name bound to None had an error in its value."""

    names: Mapping[str, Variable | None]
    known: Facts = field(default_factory=dict)

    def bind(self, name: str, variable: Variable | None) -> Scope:
        """The scope with one more name."""
        return Scope({**self.names, name: variable}, self.known)

    def learn(self, more: Facts) -> Scope:
        """The scope with more knowledge."""
        return Scope(self.names, {**self.known, **more}) if more else self

    def type_of(self, expr: Expr) -> Type:
        """The narrowest type known for an expression."""
        path = path_of(expr)
        return expr.type if path is None else self.known.get(path, expr.type)
