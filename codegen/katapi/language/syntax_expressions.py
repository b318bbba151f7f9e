"""The syntax tree of expressions, and what every node of a tree has."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from katapi.language.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    text: str


@dataclass(frozen=True, slots=True)
class ControlRef(Node):
    """`@im_start`"""

    name: str


@dataclass(frozen=True, slots=True)
class TextLiteral(Node):
    text: str


@dataclass(frozen=True, slots=True)
class IntLiteral(Node):
    value: int


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ObjectLiteral(Node):
    pairs: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class NameRef(Node):
    name: str


@dataclass(frozen=True, slots=True)
class FieldRef(Node):
    base: Expr
    name: Name


@dataclass(frozen=True, slots=True)
class MethodCall(Node):
    base: Expr
    name: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    name: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Coalesce(Node):
    """`a ?? b`: the first that is there."""

    options: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class As(Node):
    """`x as json`: through a named serialization."""

    value: Expr
    serialization: Name


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Or(Node):
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class And(Node):
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Expr


class Operator(Enum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="


@dataclass(frozen=True, slots=True)
class Compare(Node):
    operator: Operator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Within(Node):
    """`x in [a, b]`"""

    value: Expr
    container: Expr


@dataclass(frozen=True, slots=True)
class Has(Node):
    """`text has "x"`: a text holds another; an object has a key."""

    container: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class IsKind(Node):
    """`m is user or tool`, `v is text`"""

    value: Expr
    kinds: tuple[Name, ...]
    negated: bool


class End(Enum):
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class IsEnd(Node):
    """`m is last`: the loop variable stands at an end of what is walked."""

    value: Expr
    end: End
    negated: bool


class Side(Enum):
    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class IsBeside(Node):
    """`m is after query`: the order of two messages in the conversation."""

    value: Expr
    side: Side
    other: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Given(Node):
    """There, and neither empty, zero nor false."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """There, and not null."""

    value: Expr


class Quantifier(Enum):
    ANY = "any"
    ALL = "all"
    COUNT = "count"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class View(Node):
    """`before m` behind a list of messages: those on one side of the loop variable in what is walked."""

    side: Side
    name: Name


@dataclass(frozen=True, slots=True)
class Query(Node):
    """`last u in messages where u is user`, `any a in messages before m where a is assistant`"""

    quantifier: Quantifier
    name: Name
    source: Expr
    view: View | None
    condition: Expr


class Neighbour(Enum):
    PREV = "prev"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class Beside(Node):
    """`prev m`, `next m`: the neighbour of the loop variable in what is walked."""

    neighbour: Neighbour
    name: Name


Expr: TypeAlias = (
    ControlRef
    | TextLiteral
    | IntLiteral
    | BoolLiteral
    | ListLiteral
    | ObjectLiteral
    | NameRef
    | FieldRef
    | MethodCall
    | Call
    | Coalesce
    | As
    | Conditional
    | Or
    | And
    | Not
    | Compare
    | Within
    | Has
    | IsKind
    | IsEnd
    | IsBeside
    | Given
    | Exists
    | Query
    | Beside
)
