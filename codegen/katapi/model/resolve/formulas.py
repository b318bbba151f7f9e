"""Formulas → model: each with its sorts, in an order in which one calls only those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import assert_never

from katapi.language import syntax as s
from katapi.language import syntax_formulas as f
from katapi.model import formulas as m
from katapi.model.formulas import Basic, Binding, ListSort, Quantity, Sort
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.terms import OWN_NAMES, Signature, Terms, TermScope

_SORTS = {one.value: one for one in (Basic.INT, Basic.REAL, Basic.BOOL, Basic.SIZE)}


def resolve_formulas(
    nodes: Sequence[s.Formula], findings: Findings
) -> tuple[dict[str, m.Formula], dict[str, Signature]]:
    """The formulas by their names, each behind those that it calls, and what all of them take and give.

    A formula that has a mistake is left out, and so is one that calls it.
    """
    signatures = {node.name.text: _signature(node, findings) for node in nodes}
    for node in nodes:
        if node.name.text in OWN_NAMES:
            message = f"the name `{node.name.text}` is one of the language"
            findings.add("K107", node.name.span, message, help="choose another name")
    found: dict[str, m.Formula] = {}
    for node in nodes:
        formula = _formula(node, signatures, findings)
        if formula is None:
            findings.untyped.add(node.name.text)
        else:
            found[formula.name] = formula
    return _in_order(found, findings), signatures


def resolve_sort(node: s.TypeRef, findings: Findings) -> Sort:
    """The sort of a parameter or a result. Raises `Unresolved` behind a finding."""
    match node:
        case s.NamedType(name) if name.text in _SORTS:
            return _SORTS[name.text]
        case s.ListOf(item):
            return ListSort(resolve_sort(item, findings))
        case s.NamedType(name):
            help = nearest(name.text, _SORTS)
            raise findings.fail("K106", node.span, f"a formula has no values of the type `{name.text}`", help=help)
        case _:
            help = f"known: {', '.join(f'`{name}`' for name in _SORTS)}, and lists of them: `[int]`"
            raise findings.fail("K106", node.span, "a formula has no values of such a type", help=help)


def _signature(node: s.Formula, findings: Findings) -> Signature:
    sorts: list[Sort | None] = []
    for parameter in node.parameters:
        try:
            sorts.append(resolve_sort(parameter.type, findings))
        except Unresolved:
            sorts.append(None)
    result: Sort | None = None
    with suppress(Unresolved):
        result = resolve_sort(node.result, findings)
    return Signature(node.name.text, sorts, result)


def _formula(node: s.Formula, signatures: Mapping[str, Signature], findings: Findings) -> m.Formula | None:
    terms = Terms(findings, signatures, in_image=False)
    scope = TermScope({})
    signature = signatures[node.name.text]
    before = len(findings.diagnostics)
    variables = [
        terms.bind(parameter.name, sort, Binding.PARAMETER, scope)
        for parameter, sort in zip(node.parameters, signature.parameters, strict=True)
    ]
    steps: list[m.Step] = []
    sound = True
    for item in node.items:
        try:
            steps.append(_step(item, terms, scope, signature.result))
        except Unresolved:
            sound = False
    _check_end(node, findings)
    if not sound or len(findings.diagnostics) > before or signature.result is None:
        return None
    parameters = tuple(one for one in variables if one is not None)
    _check_used([*parameters, *lets_of(steps)], scope, findings)
    return m.Formula(node.name.text, parameters, signature.result, tuple(steps), node.name.span)


def _step(item: f.FormulaItem, terms: Terms, scope: TermScope, result: Sort | None) -> m.Step:
    match item:
        case f.FormulaLet():
            return resolve_let(item, terms, scope)
        case f.Refuse():
            return resolve_refuse(item, terms, scope)
        case f.Give(value, condition):
            test = None if condition is None else terms.condition(condition, scope)
            if result is None:
                terms.term(value, scope)
                raise Unresolved
            return m.GiveStep(terms.wanted(value, scope, result, "what the formula gives"), test)
        case _:
            assert_never(item)


def resolve_let(item: f.FormulaLet, terms: Terms, scope: TermScope) -> m.LetStep:
    """A value that gets a name. Raises `Unresolved` behind a finding; the name is known then, and not its value."""
    try:
        value = terms.term(item.value, scope)
    except Unresolved:
        terms.bind(item.name, None, Binding.LET, scope)
        raise
    variable = terms.bind(item.name, value.sort, Binding.LET, scope)
    assert variable is not None, "its sort is known"
    return m.LetStep(variable, value)


def resolve_refuse(item: f.Refuse, terms: Terms, scope: TermScope) -> m.RefuseStep:
    """A condition under which there is no value. Raises `Unresolved` behind a finding."""
    return m.RefuseStep(item.message, terms.condition(item.condition, scope), item.span)


def lets_of(steps: Sequence[m.Step]) -> list[Quantity]:
    """The variables of the `let`s."""
    return [step.variable for step in steps if isinstance(step, m.LetStep)]


def _check_end(node: s.Formula, findings: Findings) -> None:
    """The last item, and only the last one, gives a value without a condition."""
    ends = [item for item in node.items if isinstance(item, f.Give) and item.condition is None]
    if not ends:
        help = "end it with `give …`, without `when`"
        findings.add("K801", node.name.span, f"`{node.name.text}` does not always give a value", help=help)
    elif ends[0] is not node.items[-1]:
        behind = node.items[node.items.index(ends[0]) + 1]
        findings.add("K801", behind.span, "nothing comes behind a `give` without `when`", help="remove it")


def _check_used(variables: Sequence[Quantity], scope: TermScope, findings: Findings) -> None:
    for variable in variables:
        if variable not in scope.used and variable.name not in findings.untyped:
            help = "remove the `let`" if variable.binding is Binding.LET else "remove it here and in the calls"
            findings.add("K310", variable.span, f"`{variable.name}` is never used", help=help)


def _in_order(found: Mapping[str, m.Formula], findings: Findings) -> dict[str, m.Formula]:
    """The formulas, each behind those that it calls; one that comes to itself is reported and left out."""
    out: dict[str, m.Formula] = {}
    above: list[str] = []

    def visit(formula: m.Formula) -> bool:
        if formula.name in out:
            return True
        if formula.name in above:
            way = above[above.index(formula.name) + 1 :]
            through = f", by way of {', '.join(f'`{name}`' for name in way)}" if way else ""
            message = f"the formula `{formula.name}` calls itself{through}"
            findings.add("K802", formula.span, message, help="formulas call others alone, so that each comes to an end")
            return False
        above.append(formula.name)
        sound = [name in found and visit(found[name]) for name in m.calls(formula.steps)]
        above.pop()
        if all(sound):
            out[formula.name] = formula
        return all(sound)

    reported: set[str] = set()
    for formula in found.values():
        if formula.name not in reported and not visit(formula):
            reported |= {formula.name, *m.calls(formula.steps)}
            findings.untyped.add(formula.name)
    return out
