"""Every def comes to an end: one that calls itself passes a smaller part of a JSON parameter (K501).

A part is reached by a key or by a loop. A key that is absent gives null, which is smaller than everything but itself:
so what is asked for the key must be known not to be null, or the key known to be there. Among defs that call each
other, one parameter of each is the measure that shrinks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice, product
from typing import TypeAlias

from katapi.check.traverse import let_values, statements
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import JsonKind, json_kinds, may_be_absent, present

_MOST_MEASURES = 1000  # choices of one parameter a def that are tried


#: For each def of a circle, the index of the parameter that shrinks.
_Measure: TypeAlias = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Call:
    caller: t.Def
    call: t.CallDef


def check(program: Program) -> list[Diagnostic]:
    """The findings about recursion."""
    definitions = {d.name: d for d in program.template.definitions}
    calls = [
        _Call(definition, s)
        for definition in program.template.definitions
        for s in statements(definition.body)
        if isinstance(s, t.CallDef)
    ]
    found: list[Diagnostic] = []
    parts = _Parts(program.template)
    for circle in _circles(definitions, calls):
        inside = [c for c in calls if c.caller.name in circle and c.call.name in circle]
        bad, measure = _best_measure([definitions[name] for name in circle], inside, parts)
        found.extend(_finding(c, measure) for c in bad)
    return found


def _finding(c: _Call, measure: _Measure) -> Diagnostic:
    caller, callee = c.caller.name, c.call.name
    who = f"`{caller}` calls itself" if caller == callee else f"`{caller}` and `{callee}` call each other"
    if not measure:
        return Diagnostic(
            "K501", c.call.span, f"{who}, and without a JSON parameter nothing shrinks", help="loop with `each` instead"
        )
    parameter = c.caller.parameters[measure[caller]].name
    return Diagnostic(
        "K501",
        c.call.arguments[measure[callee]].span,
        f"{who}, and this may never end",
        f"not known to be a smaller part of `{parameter}`",
        f"pass what a loop over `{parameter}` gives, or a key of it after `if given …`",
    )


def _circles(definitions: Mapping[str, t.Def], calls: list[_Call]) -> list[list[str]]:
    """The groups of defs that call each other, each in source order."""
    reached = {name: _reached(name, calls) for name in definitions}
    out: list[list[str]] = []
    for name in definitions:
        if name in reached[name] and not any(name in circle for circle in out):
            out.append([other for other in definitions if other in reached[name] and name in reached[other]])
    return out


def _reached(name: str, calls: list[_Call]) -> set[str]:
    """The defs that a def comes to call, itself only where it does so again."""
    seen: set[str] = set()
    open_names = [name]
    while open_names:
        at = open_names.pop()
        for c in calls:
            if c.caller.name == at and c.call.name not in seen:
                seen.add(c.call.name)
                open_names.append(c.call.name)
    return seen


def _best_measure(circle: list[t.Def], calls: list[_Call], parts: _Parts) -> tuple[list[_Call], _Measure]:
    """The calls that do not shrink under the choice of parameters that leaves fewest of them."""
    choices = [[i for i, p in enumerate(definition.parameters) if _has_parts(p)] for definition in circle]
    best: tuple[list[_Call], _Measure] = calls, {}
    for chosen in islice(product(*choices), _MOST_MEASURES):
        measure = {definition.name: index for definition, index in zip(circle, chosen, strict=True)}
        bad = [c for c in calls if not parts.shrinks(c, measure)]
        if len(bad) < len(best[0]) or not best[1]:
            best = bad, measure
    return best


def _has_parts(parameter: t.Variable) -> bool:
    kinds = json_kinds(present(parameter.type))
    return kinds is not None and bool(kinds & {JsonKind.LIST, JsonKind.OBJECT})


class _Size(Enum):
    """How a value compares with a parameter; the order is from the best case to the worst."""

    SMALLER = 0  # a strict part; or null, and the parameter is none
    PART_OR_NULL = 1  # a strict part; or null, and the parameter may be null too
    SAME = 2  # the parameter itself
    UNKNOWN = 3


class _Parts:
    """Tells whether a value is a part of a parameter."""

    def __init__(self, template: t.Template) -> None:
        self._lets = let_values(template)
        self._loops = {
            s.item.number: s.source
            for definition in template.definitions
            for s in statements(definition.body)
            if isinstance(s, t.Each)
        }
        self._memo: dict[tuple[int, int], _Size] = {}

    def shrinks(self, c: _Call, measure: _Measure) -> bool:
        """Whether a call passes something smaller than the caller's measure as the callee's."""
        argument = c.call.arguments[measure[c.call.name]]
        return self._size(argument, c.caller.parameters[measure[c.caller.name]]) is _Size.SMALLER

    def _size(self, expr: t.Expr, parameter: t.Variable) -> _Size:
        size = self._size_by_form(expr, parameter)
        return _Size.SMALLER if size is _Size.PART_OR_NULL and not may_be_absent(expr.type) else size

    def _size_by_form(self, expr: t.Expr, parameter: t.Variable) -> _Size:
        match expr:
            case t.Var(variable=variable) if variable == parameter:
                return _Size.SAME
            case t.Var(variable=variable):
                key = (variable.number, parameter.number)
                if key not in self._memo:
                    self._memo[key] = self._of_variable(variable.number, parameter)
                return self._memo[key]
            case t.JsonFieldOf(base=base) | t.EndOf(base=base) | t.Query(source=base):
                inner = self._size(base, parameter)
                if inner is not _Size.SAME:
                    return inner
                return _Size.PART_OR_NULL if may_be_absent(base.type) else _Size.SMALLER
            case t.Coalesce(options=options):
                return self._worst(options, parameter)
            case t.Conditional(then=then, otherwise=otherwise):
                return self._worst((then, otherwise), parameter)
            case _:
                return _Size.UNKNOWN

    def _of_variable(self, number: int, parameter: t.Variable) -> _Size:
        if number in self._lets:
            return self._size(self._lets[number], parameter)
        if number in self._loops and self._size(self._loops[number], parameter) is not _Size.UNKNOWN:
            return _Size.SMALLER
        return _Size.UNKNOWN

    def _worst(self, options: tuple[t.Expr, ...], parameter: t.Variable) -> _Size:
        return max((self._size(option, parameter) for option in options), key=lambda size: size.value)
