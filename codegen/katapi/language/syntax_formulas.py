"""The syntax tree of formulas: terms of numbers, sizes, lists and pictures, and the `formula`s that name them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from katapi.language.syntax_expressions import Name, Node, Operator
from katapi.language.syntax_types import TypeRef


@dataclass(frozen=True, slots=True)
class Number(Node):
    """`14`, `0.5`: a whole number is an int, any other a real."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """`true`, `false`"""

    value: bool


@dataclass(frozen=True, slots=True)
class Ref(Node):
    """The name of a value: of a parameter, a `let`, a loop, or of the language (`source`, `bicubic`)."""

    name: Name


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`grid.height`"""

    base: Term
    name: Name


@dataclass(frozen=True, slots=True)
class Item(Node):
    """`sides[0]`: an item of a list, counted from 0."""

    base: Term
    index: Term


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """`smart_resize(h, w)`: a formula or a function of the language with its values."""

    name: Name
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Listed(Node):
    """`[0.5, 0.5, 0.5]`"""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Loop(Node):
    """`for h in range(1, 5)` in a list."""

    name: Name
    source: Term


@dataclass(frozen=True, slots=True)
class Collected(Node):
    """`[size(h, w) for h in range(1, 5) for w in range(1, 5) where h * w <= 4]`"""

    item: Term
    loops: tuple[Loop, ...]
    condition: Term | None


class Choice(Enum):
    """Which item of a list is taken, or what is asked of all of them."""

    LEAST = "least"
    MOST = "most"
    FIRST = "first"
    LAST = "last"
    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Pick(Node):
    """`least c in canvases where fits(c) by [c.height * c.width]`: the first of equals wins."""

    choice: Choice
    name: Name
    source: Term
    condition: Term | None
    key: Term | None


@dataclass(frozen=True, slots=True)
class Bisect(Node):
    """`bisect s from 0.1 to 10.0 until 0.01 where f(s) <= n`: halves the range until it is narrower; its lower end."""

    name: Name
    low: Term
    high: Term
    width: Term
    condition: Term


@dataclass(frozen=True, slots=True)
class When(Node):
    """`if a < b then a else b`"""

    test: Term
    then: Term
    otherwise: Term


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """`a or b`"""

    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class AllOf(Node):
    """`a and b`"""

    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class NotOf(Node):
    """`not a`"""

    operand: Term


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`a <= b`"""

    operator: Operator
    left: Term
    right: Term


class Sign(Enum):
    """An operation on two numbers; `+` also puts two lists together."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"
    WHOLE = "//"
    REST = "%"


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`a * b`"""

    sign: Sign
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """`-a`"""

    operand: Term


Term: TypeAlias = (
    Number
    | Truth
    | Ref
    | Member
    | Item
    | Apply
    | Listed
    | Collected
    | Pick
    | Bisect
    | When
    | AnyOf
    | AllOf
    | NotOf
    | Comparison
    | Binary
    | Negative
)


@dataclass(frozen=True, slots=True)
class FormulaLet(Node):
    """`let h = round(height / factor) * factor`"""

    name: Name
    value: Term


@dataclass(frozen=True, slots=True)
class Refuse(Node):
    """`reject "too narrow" when width < 2`"""

    message: str
    condition: Term


@dataclass(frozen=True, slots=True)
class Give(Node):
    """`give size(h, w) when h > w`: the value of a formula; the last one has no condition."""

    value: Term
    condition: Term | None


@dataclass(frozen=True, slots=True)
class FormulaParameter(Node):
    """`factor: int`"""

    name: Name
    type: TypeRef


FormulaItem: TypeAlias = FormulaLet | Refuse | Give


@dataclass(frozen=True, slots=True)
class Formula(Node):
    """`formula fit(height: int, width: int): size { … }`"""

    name: Name
    parameters: tuple[FormulaParameter, ...]
    result: TypeRef
    items: tuple[FormulaItem, ...]
