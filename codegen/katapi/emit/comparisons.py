"""Comparisons of a template → Python expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from katapi.emit.code import AND, ATOM, COMPARE, NOT, OR, Code
from katapi.emit.paths import Paths
from katapi.emit.python import string
from katapi.language.syntax import Operator
from katapi.model import template as t
from katapi.model.types import BoolType, JsonKind, TextType, json_kinds, may_be_absent, present


class Comparisons(Paths, ABC):
    """Emits comparisons for one function."""

    @abstractmethod
    def string(self, expr: t.Expr) -> Code:
        """A text as a `str`."""

    def plain(self, expr: t.Expr) -> Code:
        """A value as Python has it, a text as a `str`."""
        return self.string(expr) if isinstance(present(expr.type), TextType) else self.value(expr)

    def compare(self, expr: t.Compare) -> Code:
        """A comparison."""
        for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if isinstance(one, t.BoolConst) and isinstance(present(other.type), BoolType):
                return self._is_truth(other, one.value, expr.operator is Operator.EQUAL)
        if (_is_written(expr.left) and not _is_written(expr.right)) or self._may_lack(expr.right):
            expr = replace(expr, left=expr.right, right=expr.left, operator=_TURNED[expr.operator])
        left, right = self.plain(expr.left), self.plain(expr.right)
        if isinstance(expr.left, t.Var) and self._may_lack(expr.left) and not may_be_absent(expr.right.type):
            name = self.name(expr.left.variable)
            same = f"{name}[0] {expr.operator.value} {right.within(ATOM)}"
            if expr.operator is Operator.EQUAL:
                return Code(f"{name} is not None and {same}", AND)
            return Code(f"{name} is None or {same}", OR)
        exact = all(
            kinds is not None and len(kinds - {JsonKind.NULL}) == 1
            for kinds in (json_kinds(expr.left.type), json_kinds(expr.right.type))
        )
        text = any(isinstance(e.type, TextType) for e in (expr.left, expr.right))
        if exact or text or expr.operator not in (Operator.EQUAL, Operator.NOT_EQUAL):
            return Code(f"{left.within(ATOM)} {expr.operator.value} {right.within(ATOM)}", COMPARE)
        equal = f"{self.module.helper('json_equal')}({left.text}, {right.text})"
        return Code(equal) if expr.operator is Operator.EQUAL else Code(f"not {equal}", NOT)

    def _may_lack(self, expr: t.Expr) -> bool:
        """Whether a value is a name for a text with its origin, or for nothing."""
        return isinstance(expr, t.Var) and self.is_printed(expr.variable) and may_be_absent(expr.type)

    def _is_truth(self, expr: t.Expr, truth: bool, equal: bool) -> Code:
        """Whether a bool is true or false, or is not; an absent one is neither."""
        if may_be_absent(expr.type):
            return Code(f"{self.value(expr).within(ATOM)} {'is' if equal else 'is not'} {truth}", COMPARE)
        return self.value(expr if truth is equal else t.Not(expr, type=expr.type, span=expr.span))

    def within(self, value: t.Expr, container: t.Expr) -> Code:
        """Whether a list holds a value."""
        own = json_kinds(value.type)
        if own == frozenset({JsonKind.TEXT}):
            return Code(f"{self.plain(value).within(ATOM)} in {self.value(container).within(ATOM)}", COMPARE)
        helper = self.module.helper("json_within")
        return Code(f"{helper}({self.plain(value).text}, {self.value(container).text})")

    def text_test(self, expr: t.TextTest) -> Code:
        """A test of a text."""
        text = self.string(expr.base)
        match expr.kind:
            case t.TextTestKind.HAS:
                return Code(f"{string(expr.needle)} in {text.within(ATOM)}", COMPARE)
            case t.TextTestKind.STARTS_WITH:
                return Code(f"{text.within(ATOM)}.startswith({string(expr.needle)})")
            case t.TextTestKind.ENDS_WITH:
                return Code(f"{text.within(ATOM)}.endswith({string(expr.needle)})")


def _is_written(expr: t.Expr) -> bool:
    return isinstance(expr, (t.TextConst, t.IntConst, t.BoolConst))


_TURNED = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.NOT_EQUAL: Operator.NOT_EQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.LESS_EQUAL: Operator.GREATER_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_EQUAL: Operator.LESS_EQUAL,
}
OPPOSITES = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_EQUAL,
    Operator.GREATER_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_EQUAL,
    Operator.LESS_EQUAL: Operator.GREATER,
}
