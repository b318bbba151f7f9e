"""Loops over tools as defs: what such a def printed of tools that came before need not be printed anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from katapi.check.traverse import expressions, nested, statements, variables, with_inner
from katapi.emit.counters import counters_of_defs
from katapi.model import template as t
from katapi.model.types import OBJECT, ListType, present

_TOOLS = ListType(OBJECT)


def with_tool_defs(template: t.Template, name: Callable[[t.Each], str]) -> t.Template:
    """A template that calls a def in the place of each loop over tools whose body asks for nothing else.

    `name` names the def of a loop.
    """
    counters = counters_of_defs(template)
    counting = {d.name for d in template.definitions if counters[d.name].needed or counters[d.name].advanced}
    definitions: list[t.Def] = []

    def changed(statement: t.Statement) -> t.Statement:
        if not isinstance(statement, t.Each) or not _is_of_tools(statement, counting):
            return _with_blocks(statement, changed_block)
        own = t.Variable("tools", -1 - len(definitions), t.Binding.DEF_PARAMETER, _TOOLS, statement.source.span)
        loop = replace(statement, source=t.Var(own, type=_TOOLS, span=statement.source.span))
        made = t.Def(name(statement), (own,), t.Block((loop,), span=statement.span), span=statement.span)
        definitions.append(made)
        return t.CallDef(made.name, (statement.source,), span=statement.span)

    def changed_block(block: t.Block) -> t.Block:
        return replace(block, statements=tuple(map(changed, block.statements)))

    body = changed_block(template.body)
    return replace(template, definitions=(*template.definitions, *definitions), body=body)


def _is_of_tools(each: t.Each, counting: set[str]) -> bool:
    """Whether a loop goes over the tools of the request, and prints nothing that depends on anything else."""
    if present(each.source.type) != _TOOLS or not any(v.binding is t.Binding.TOOLS for v in variables(each.source)):
        return False
    inner = [*statements(each.body)]
    if any(isinstance(s, t.Begin | t.Advance) or (isinstance(s, t.CallDef) and s.name in counting) for s in inner):
        return False
    asked = {v.number for s in with_inner(each) for e in expressions(s) if e is not each.source for v in variables(e)}
    return asked <= {v.number for s in with_inner(each) for v in _bound(s)}


def _bound(statement: t.Statement) -> Iterator[t.Variable]:
    """The variables that a statement brings into being."""
    for expr in expressions(statement):
        yield from (query.variable for query in nested(expr) if isinstance(query, t.Query))
    match statement:
        case t.Let(variable=variable) | t.Capture(variable=variable):
            yield variable
        case t.Each(key=key, item=item):
            yield item
            if key is not None:
                yield key
        case _:
            pass


def _with_blocks(statement: t.Statement, change: Callable[[t.Block], t.Block]) -> t.Statement:
    """A statement with each of its blocks changed."""
    match statement:
        case t.Block():
            return change(statement)
        case t.If(then=then, otherwise=otherwise):
            return replace(statement, then=change(then), otherwise=None if otherwise is None else change(otherwise))
        case t.Each() | t.Sampled() | t.Joined() | t.Capture() | t.ImageOf():
            return replace(statement, body=change(statement.body))
        case t.Walk(arms=arms):
            return replace(statement, arms=tuple(replace(arm, body=change(arm.body)) for arm in arms))
        case t.Match(arms=match_arms):
            return replace(statement, arms=tuple(replace(arm, body=change(arm.body)) for arm in match_arms))
        case t.Take(otherwise=otherwise):
            return statement if otherwise is None else replace(statement, otherwise=change(otherwise))
        case t.Print() | t.CallDef() | t.Let() | t.Drop() | t.Begin() | t.Advance() | t.Reject():
            return statement
