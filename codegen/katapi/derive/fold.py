"""Expressions under facts: what a template's values come to where some things are known.

What is not known stays an expression. What is known to be absent is `ABSENT`, a choice among nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from katapi.check.traverse import nested, with_parts
from katapi.language.source import Span
from katapi.language.syntax import End, Neighbour, Operator, Quantifier, Side
from katapi.model import template as t
from katapi.model.types import BoolType, IntType, MessageType

Constant: TypeAlias = str | int | bool

Known: TypeAlias = tuple[tuple[t.Expr, bool], ...]
"""Conditions, without types, of which is known how they come out."""

_NOWHERE = Span(0, 0)
_ANY = BoolType()
ABSENT = t.Coalesce((), type=BoolType(), span=_NOWHERE)


@dataclass(frozen=True)
class Facts:
    """What is known about the message of a walk, and about the request.

    `last` says whether the message is the last of the conversation. Where it is not, `next_role` is that of the
    message behind it, and `previous_role` that of the one before it; None where that may have any, or be missing.
    """

    constants: Mapping[int, Constant | None] = field(default_factory=dict)
    """The values of parameters and of `generating`, by the numbers of their variables; None for absent ones."""
    last: bool | None = None
    next_role: str | None = None
    previous_role: str | None = None
    end_role: str | None = None
    """The role of the last message of the conversation, seen from outside of a walk."""
    empty: frozenset[int] = frozenset()
    """Runs without a message, by the numbers of their variables."""
    messages: int = -1
    """The number of the variable `messages`."""
    known: Known = ()
    """How conditions come out, as they are when they are folded."""


class Folder:
    """Puts in what is known, and works out what follows."""

    def __init__(self, facts: Facts, lets: Mapping[int, t.Expr] | None = None) -> None:
        self._facts = facts
        self.lets: dict[int, t.Expr] = dict(lets or {})

    def truth(self, expr: t.Expr) -> bool | None:
        """What a condition comes to, if that is known."""
        folded = self.fold(expr)
        return folded.value if isinstance(folded, t.BoolConst) else None

    def fold(self, expr: t.Expr) -> t.Expr:
        """The expression with what is known in place of it."""
        folded = self._folded(expr)
        if self._facts.known and isinstance(folded.type, BoolType):
            asked = untyped(folded)
            return next((_bool(truth, expr) for test, truth in self._facts.known if test == asked), folded)
        return folded

    def _folded(self, expr: t.Expr) -> t.Expr:
        match expr:
            case t.Var(variable=variable):
                return self._variable(expr, variable)
            case t.IsEnd(end=End.LAST) if self._facts.last is not None and expr.variable.binding is t.Binding.WALK:
                return _bool(self._facts.last, expr)
            case t.IsEnd(end=End.FIRST) if self._facts.previous_role and expr.variable.binding is t.Binding.WALK:
                return _bool(False, expr)
            case t.NeighbourOf(neighbour=Neighbour.NEXT) if self._facts.last:
                return ABSENT
            case t.View(side=Side.AFTER) if self._facts.last:
                return _list(expr)
        return self._worked_out(with_parts(expr, self.fold))

    def _variable(self, expr: t.Var, variable: t.Variable) -> t.Expr:
        facts = self._facts
        if variable.number in self.lets:
            return self.lets[variable.number]
        if variable.number in facts.empty:
            return _list(expr)
        if variable.number in facts.constants:
            value = facts.constants[variable.number]
            return ABSENT if value is None else constant(value, expr)
        return expr

    def _worked_out(self, expr: t.Expr) -> t.Expr:
        match expr:
            case t.Not(operand=t.BoolConst(value=value)):
                return _bool(not value, expr)
            case t.And(operands=operands):
                return _joined(expr, operands, neutral=True)
            case t.Or(operands=operands):
                return _joined(expr, operands, neutral=False)
            case t.Conditional(test=t.BoolConst(value=value), then=then, otherwise=otherwise):
                return then if value else otherwise
            case t.Conditional(then=then, otherwise=otherwise) if then == otherwise:
                return then
            case t.Coalesce(options=options):
                return _first(expr, options)
            case t.FieldOf(base=base) | t.JsonFieldOf(base=base) if base == ABSENT:
                return ABSENT
            case t.RoleOf(base=base) if base == ABSENT:
                return ABSENT
            case t.EndOf(base=t.ListConst(items=())):
                return ABSENT
            case t.LengthOf(base=t.ListConst(items=())):
                return t.IntConst(0, type=IntType(), span=expr.span)
            case t.Exists(value=value) | t.Given(value=value) | t.IsRole(value=value) if value == ABSENT:
                return _bool(False, expr)
            case t.IsBeside(value=value, other=other) if ABSENT in (value, other):
                return _bool(False, expr)
            case t.IsBeside(value=t.Var(variable=variable), side=side, other=other):
                return self._beside(expr, variable, side, other)
            case t.Given(value=t.ListConst(items=items)):
                return _bool(bool(items), expr)
            case t.Given(value=value) if _is_messages(value, self._facts):
                return _bool(True, expr)
            case t.Exists(value=value) | t.Given(value=value) if (known := constant_of(value)) is not None:
                return _bool(bool(known) if isinstance(expr, t.Given) else True, expr)
            case t.Exists(value=t.ListConst()):
                return _bool(True, expr)
            case t.Exists(value=t.NeighbourOf(neighbour=Neighbour.NEXT)) if self._facts.last is False:
                return _bool(True, expr)
            case t.Exists(value=t.NeighbourOf(neighbour=Neighbour.PREV)) if self._facts.previous_role:
                return _bool(True, expr)
            case t.IsRole(value=t.NeighbourOf(neighbour=neighbour), roles=roles):
                after = neighbour is Neighbour.NEXT
                known_role = self._facts.next_role if after else self._facts.previous_role
                return expr if known_role is None else _bool(known_role in roles, expr)
            case t.IsRole(value=t.EndOf(base=base, end=End.LAST), roles=roles) if _is_messages(base, self._facts):
                end = self._facts.end_role
                return expr if end is None else _bool(end in roles, expr)
            case t.Compare(operator=operator, left=left, right=right):
                return _compared(expr, operator, left, right)
            case t.Within(value=value, container=t.ListConst(items=items)):
                return _within(expr, value, items)
            case t.Query(source=t.ListConst(items=())):
                return _of_nothing(expr)
            case t.Query(source=t.View(side=Side.AFTER)):
                return self._behind(expr)
            case _:
                return expr

    def _beside(self, expr: t.IsBeside, variable: t.Variable, side: Side, other: t.Expr) -> t.Expr:
        """The last message comes behind every other one."""
        if not self._facts.last or variable.binding is not t.Binding.WALK:
            return expr
        if side is Side.BEFORE:
            return _bool(False, expr)
        roles = _roles_of(other)
        if roles is not None and not roles & _roles_of_type(variable):
            return self.fold(t.Exists(other, type=BoolType(), span=expr.span))
        return expr

    def _behind(self, expr: t.Query) -> t.Expr:
        """What is asked of the messages behind, of which the first has a known role."""
        role = self._facts.next_role
        found = role is not None and _holds_for(expr.condition, expr.variable, role)
        if expr.quantifier is Quantifier.ANY and found:
            return _bool(True, expr)
        return expr


def untyped(expr: t.Expr) -> t.Expr:
    """An expression without what is known of its types, which is more behind a test."""
    return with_parts(replace(expr, type=_ANY), untyped)


def constant(value: Constant, like: t.Expr) -> t.Expr:
    """A constant in place of an expression."""
    match value:
        case bool():
            return t.BoolConst(value, type=BoolType(), span=like.span)
        case int():
            return t.IntConst(value, type=IntType(), span=like.span)
        case str():
            return t.TextConst(value, type=like.type, span=like.span)


def constant_of(expr: t.Expr) -> Constant | None:
    """The value of a constant, or None of what is none."""
    match expr:
        case t.BoolConst(value=value):
            return value
        case t.IntConst(value=whole):
            return whole
        case t.TextConst(text=text):
            return text
        case _:
            return None


def _is_messages(expr: t.Expr, facts: Facts) -> bool:
    """A conversation that is looked at has a message."""
    return isinstance(expr, t.Var) and expr.variable.number == facts.messages


def _bool(value: bool, like: t.Expr) -> t.BoolConst:
    return t.BoolConst(value, type=BoolType(), span=like.span)


def _list(like: t.Expr) -> t.ListConst:
    return t.ListConst((), type=like.type, span=like.span)


def _joined(expr: t.And | t.Or, operands: tuple[t.Expr, ...], *, neutral: bool) -> t.Expr:
    if any(isinstance(one, t.BoolConst) and one.value is not neutral for one in operands):
        return _bool(not neutral, expr)
    rest = tuple(one for one in operands if not isinstance(one, t.BoolConst))
    if not rest:
        return _bool(neutral, expr)
    return rest[0] if len(rest) == 1 else replace(expr, operands=rest)


def _first(expr: t.Coalesce, options: tuple[t.Expr, ...]) -> t.Expr:
    there = [option for option in options if option != ABSENT]
    sure = next((at for at, one in enumerate(there) if constant_of(one) is not None), len(there) - 1)
    rest = tuple(there[: sure + 1])
    if not rest:
        return ABSENT
    return rest[0] if len(rest) == 1 else replace(expr, options=rest)


def _compared(expr: t.Expr, operator: Operator, left: t.Expr, right: t.Expr) -> t.Expr:
    first, second = constant_of(left), constant_of(right)
    if ABSENT in (left, right) and operator in (Operator.EQUAL, Operator.NOT_EQUAL):
        same = left == right
        other = right if left == ABSENT else left
        if not same and constant_of(other) is None:
            return expr
        return _bool(same is (operator is Operator.EQUAL), expr)
    if first is None or second is None or type(first) is not type(second):
        return expr
    if operator is Operator.EQUAL:
        return _bool(first == second, expr)
    if operator is Operator.NOT_EQUAL:
        return _bool(first != second, expr)
    if not isinstance(first, int) or not isinstance(second, int):
        return expr
    match operator:
        case Operator.LESS:
            return _bool(first < second, expr)
        case Operator.LESS_EQUAL:
            return _bool(first <= second, expr)
        case Operator.GREATER:
            return _bool(first > second, expr)
        case Operator.GREATER_EQUAL:
            return _bool(first >= second, expr)


def _within(expr: t.Expr, value: t.Expr, items: tuple[t.Expr, ...]) -> t.Expr:
    known, constants = constant_of(value), [constant_of(item) for item in items]
    if not items:
        return _bool(False, expr)
    if known is None or None in constants:
        return expr
    return _bool(known in constants, expr)


def _of_nothing(expr: t.Query) -> t.Expr:
    match expr.quantifier:
        case Quantifier.ANY:
            return _bool(False, expr)
        case Quantifier.ALL:
            return _bool(True, expr)
        case Quantifier.COUNT:
            return t.IntConst(0, type=IntType(), span=expr.span)
        case Quantifier.FIRST | Quantifier.LAST:
            return ABSENT


def _roles_of_type(variable: t.Variable) -> frozenset[str]:
    return frozenset(variable.type.roles) if isinstance(variable.type, MessageType) else frozenset()


def _roles_of(expr: t.Expr) -> frozenset[str] | None:
    """The roles that a message which a query finds can have, or None where any."""
    if isinstance(expr, t.Query):
        return possible_roles(expr.condition, expr.variable)
    return None


def possible_roles(condition: t.Expr, variable: t.Variable) -> frozenset[str] | None:
    """The roles of which alone a message can fulfil a condition, or None where any may."""
    match condition:
        case t.IsRole(value=t.Var(variable=asked), roles=roles) if asked == variable:
            return frozenset(roles)
        case t.And(operands=operands):
            known = [among for one in operands if (among := possible_roles(one, variable)) is not None]
            return frozenset.intersection(*known) if known else None
        case t.Or(operands=operands):
            union: frozenset[str] = frozenset()
            for operand in operands:
                either = possible_roles(operand, variable)
                if either is None:
                    return None
                union |= either
            return union
        case _:
            return None


def _holds_for(condition: t.Expr, variable: t.Variable, role: str) -> bool:
    """Whether a message fulfils a condition by its role alone."""
    match condition:
        case t.IsRole(value=t.Var(variable=asked), roles=roles) if asked == variable:
            return role in roles
        case t.Or(operands=operands):
            return any(_holds_for(one, variable, role) for one in operands)
        case _:
            return False


def mentions(expr: t.Expr, number: int) -> bool:
    """Whether a variable stands somewhere in an expression."""
    return any(isinstance(inner, t.Var) and inner.variable.number == number for inner in nested(expr))
