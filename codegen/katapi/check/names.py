"""What is declared is used (K310, K503)."""

from __future__ import annotations

from collections.abc import Iterator

from katapi.check.traverse import (
    all_statements,
    bodies,
    expressions,
    nested,
    statements,
    unsure_words,
    value_parts,
    variables,
)
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import JsonType, ParsedType, present, records_in


def check(program: Program) -> list[Diagnostic]:
    """The findings about unused names, tools, documents, records, serializations and defs."""
    template = program.template
    mentioned = {v.number for e in _all_expressions(template) for v in variables(e)}
    unsure = program.unsure | unsure_words(template)
    found = [
        Diagnostic("K310", variable.span, f"`{variable.name}` is never used", help=help_)
        for variable, help_ in _declared(template)
        if variable.number not in mentioned and variable.name not in unsure
    ]
    for binding in (t.Binding.TOOLS, t.Binding.DOCUMENTS):
        if binding.value not in unsure:
            found.extend(_unprinted(program, binding))
    if not program.unsure:
        found.extend(_unused_records(program))
    found.extend(_unused_serializations(program, unsure))
    found.extend(_unused_definitions(template, unsure))
    return found


def _all_expressions(template: t.Template) -> Iterator[t.Expr]:
    for statement in all_statements(template):
        yield from expressions(statement)
    for generate in template.generates:
        if generate.condition is not None:
            yield generate.condition


def _declared(template: t.Template) -> Iterator[tuple[t.Variable, str]]:
    """The names that must be used, each with what would mend it; fields and messages have a check of their own."""
    for variable in template.variables:
        if variable.binding is t.Binding.PARAM:
            yield variable, "remove the parameter, or use it"
    for counter in template.counters:
        yield counter, "remove the counter, or print it"
    for definition in template.definitions:
        for parameter in definition.parameters:
            yield parameter, "remove it here and in the calls"
    for statement in all_statements(template):
        match statement:
            case t.Let(variable=variable) | t.Capture(variable=variable):
                yield variable, "remove the `let`"
            case t.Begin(variable=variable):
                yield variable, "remove the counter, or print it"
            case t.Each(key=key, item=item):
                if key is not None:
                    yield key, "print it, or write `drop`"
                if isinstance(present(item.type), (JsonType, ParsedType)):
                    yield item, "print it, or write `drop`"
            case _:
                pass


def _unprinted(program: Program, binding: t.Binding) -> list[Diagnostic]:
    """The finding about tools or documents that a request may have and the template loses."""
    given = next((v for v in program.template.variables if v.binding is binding), None)
    if given is None:
        return []
    for statement in all_statements(program.template):
        if isinstance(statement, (t.Print, t.CallDef, t.Each, t.Let, t.Drop)):
            values = expressions(statement)[:1] if isinstance(statement, t.Each) else expressions(statement)
            if any(isinstance(e, t.Var) and e.variable == given for value in values for e in _values(value)):
                return []
    return [
        Diagnostic(
            "K310",
            program.template.span,
            f"the {given.name} of a request are lost",
            f"nothing here prints `{given.name}`",
            f"print them, or remove `{given.name}` from the request: one with {given.name} is refused then",
        )
    ]


def _unused_records(program: Program) -> list[Diagnostic]:
    used: set[str] = set()
    open_types = [field.type for role in program.request.roles for field in role.fields]
    if program.request.documents is not None:
        open_types.append(program.request.documents)
    while open_types:
        for name in records_in(open_types.pop()):
            record = None if name in used else program.request.record(name)
            if record is not None:
                used.add(record.name)
                open_types.extend(field.type for field in record.fields)
    return [
        Diagnostic("K310", record.span, f"the record `{record.name}` is never used", help="remove it")
        for record in program.request.records
        if record.name not in used
    ]


def _unused_serializations(program: Program, unsure: frozenset[str]) -> list[Diagnostic]:
    """The serializations that neither the template nor a used one names; none where a name may be meant for them."""
    declared = {s.identity.name: s for s in program.serializations}
    open_names = [
        inner.serialization.identity.name
        for expression in _all_expressions(program.template)
        for inner in nested(expression)
        if isinstance(inner, t.Serialize)
    ]
    open_names.extend(name for name in declared if name in unsure)
    if any(s.like is not None and s.like not in declared for s in declared.values()):
        return []
    used: set[str] = set()
    while open_names:
        name = open_names.pop()
        if name in declared and name not in used:
            used.add(name)
            base = declared[name].like
            open_names.extend([] if base is None else [base])
    return [
        Diagnostic(
            "K310", s.span, f"the serialization `{name}` is never used", help=f"remove it, or use it: `x as {name}`"
        )
        for name, s in declared.items()
        if name not in used
    ]


def _values(expr: t.Expr) -> Iterator[t.Expr]:
    yield expr
    for part in value_parts(expr):
        yield from _values(part)


def _unused_definitions(template: t.Template, unsure: frozenset[str]) -> list[Diagnostic]:
    """The defs that neither the template nor a used def calls."""
    calls = {d.name: _called(d.body) for d in template.definitions}
    used: set[str] = set()
    open_names = [
        name
        for body in bodies(template)
        if all(body is not d.body for d in template.definitions)
        for name in _called(body)
    ]
    open_names.extend(name for name in calls if name in unsure)
    while open_names:
        name = open_names.pop()
        if name not in used:
            used.add(name)
            open_names.extend(calls[name])
    return [
        Diagnostic("K503", d.span, f"`def {d.name}` is never called", help="remove it, or call it")
        for d in template.definitions
        if d.name not in used
    ]


def _called(body: t.Block) -> list[str]:
    return [s.name for s in statements(body) if isinstance(s, t.CallDef)]
