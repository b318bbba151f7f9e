"""Ways through the parts of a template that several checks share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from katapi.model import template as t

_MOST_LETS = 60  # lets that follow each other; the checks go through them by recursion


def sub_expressions(expr: t.Expr) -> tuple[t.Expr, ...]:
    """The expressions directly inside one."""
    match expr:
        case t.Var() | t.ControlConst() | t.TextConst() | t.IntConst() | t.BoolConst():
            return ()
        case t.IsEnd() | t.View() | t.NeighbourOf():
            return ()
        case t.FieldOf(base=base) | t.RoleOf(base=base) | t.JsonFieldOf(base=base) | t.LengthOf(base=base):
            return (base,)
        case t.EndOf(base=base) | t.Cut(base=base) | t.TextTest(base=base) | t.HasKey(base=base):
            return (base,)
        case t.Rewrite(base=base, arguments=arguments):
            return (base, *arguments)
        case t.FormatDate(base=base, pattern=pattern):
            return (base, pattern)
        case t.ListConst(items=items):
            return items
        case t.ObjectExpr(pairs=pairs):
            return tuple(value for _, value in pairs)
        case t.Coalesce(options=options):
            return options
        case t.Conditional(test=test, then=then, otherwise=otherwise):
            return (test, then, otherwise)
        case t.Or(operands=operands) | t.And(operands=operands):
            return operands
        case t.Not(operand=operand):
            return (operand,)
        case t.Compare(left=left, right=right):
            return (left, right)
        case t.Within(value=value, container=container):
            return (value, container)
        case t.IsRole(value=value) | t.IsJson(value=value) | t.Given(value=value) | t.Exists(value=value):
            return (value,)
        case t.Serialize(value=value):
            return (value,)
        case t.IsBeside(value=value, other=other):
            return (value, other)
        case t.Query(source=source, condition=condition):
            return (source, condition)


def with_parts(expr: t.Expr, change: Callable[[t.Expr], t.Expr]) -> t.Expr:
    """An expression with each of its parts changed."""
    match expr:
        case t.Var() | t.ControlConst() | t.TextConst() | t.IntConst() | t.BoolConst():
            return expr
        case t.IsEnd() | t.NeighbourOf() | t.View():
            return expr
        case t.FieldOf() | t.RoleOf() | t.JsonFieldOf() | t.LengthOf() | t.EndOf() | t.Cut() | t.TextTest():
            return replace(expr, base=change(expr.base))
        case t.HasKey() | t.Rewrite() | t.FormatDate():
            return replace(expr, base=change(expr.base))
        case t.ListConst():
            return replace(expr, items=tuple(map(change, expr.items)))
        case t.ObjectExpr():
            return replace(expr, pairs=tuple((key, change(value)) for key, value in expr.pairs))
        case t.Coalesce():
            return replace(expr, options=tuple(map(change, expr.options)))
        case t.Conditional():
            return replace(expr, test=change(expr.test), then=change(expr.then), otherwise=change(expr.otherwise))
        case t.Or() | t.And():
            return replace(expr, operands=tuple(map(change, expr.operands)))
        case t.Not():
            return replace(expr, operand=change(expr.operand))
        case t.Compare():
            return replace(expr, left=change(expr.left), right=change(expr.right))
        case t.Within():
            return replace(expr, value=change(expr.value), container=change(expr.container))
        case t.IsRole() | t.IsJson() | t.Given() | t.Exists() | t.Serialize():
            return replace(expr, value=change(expr.value))
        case t.IsBeside():
            return replace(expr, value=change(expr.value), other=change(expr.other))
        case t.Query():
            return replace(expr, source=change(expr.source), condition=change(expr.condition))


def value_parts(expr: t.Expr) -> tuple[t.Expr, ...]:
    """The expressions directly inside one whose values are part of its value; tests and counts are not."""
    match expr:
        case t.Conditional(then=then, otherwise=otherwise):
            return (then, otherwise)
        case (
            t.FieldOf()
            | t.JsonFieldOf()
            | t.EndOf()
            | t.ListConst()
            | t.ObjectExpr()
            | t.Cut()
            | t.FormatDate()
            | t.Coalesce()
            | t.Serialize()
        ):
            return sub_expressions(expr)
        case t.Rewrite(kind=t.RewriteKind.REPLACE, base=base, arguments=(_, by)):
            return (base, by)
        case t.Rewrite(base=base):
            return (base,)
        case _:
            return ()


def nested(expr: t.Expr) -> Iterator[t.Expr]:
    """An expression and all that stands inside it."""
    yield expr
    for inner in sub_expressions(expr):
        yield from nested(inner)


def variables(expr: t.Expr) -> Iterator[t.Variable]:
    """The variables that an expression mentions."""
    for inner in nested(expr):
        match inner:
            case t.Var(variable=variable) | t.IsEnd(variable=variable):
                yield variable
            case t.View(variable=variable) | t.NeighbourOf(variable=variable):
                yield variable
            case _:
                pass


def expressions(statement: t.Statement) -> tuple[t.Expr, ...]:
    """The expressions that stand directly in a statement, those of its blocks left out."""
    match statement:
        case t.Print(value=value) | t.Let(value=value) | t.Begin(value=value) | t.Drop(value=value):
            return (value,)
        case t.ImageOf(value=image):
            return (image,)
        case t.CallDef(arguments=arguments):
            return arguments
        case t.If(test=test):
            return (test,)
        case t.Each(source=source, condition=condition):
            return (source,) if condition is None else (source, condition)
        case t.Walk(arms=arms):
            return tuple(arm.condition for arm in arms if arm.condition is not None)
        case t.Match(subject=subject, arms=match_arms):
            return (subject, *(arm.condition for arm in match_arms if arm.condition is not None))
        case t.Block() | t.Take() | t.Sampled() | t.Joined() | t.Capture() | t.Advance() | t.Reject():
            return ()


def blocks(statement: t.Statement) -> tuple[t.Block, ...]:
    """The blocks directly inside a statement."""
    match statement:
        case t.Block():
            return (statement,)
        case t.If(then=then, otherwise=otherwise):
            return (then,) if otherwise is None else (then, otherwise)
        case t.Each(body=body) | t.Sampled(body=body) | t.Joined(body=body) | t.Capture(body=body):
            return (body,)
        case t.ImageOf(body=body):
            return (body,)
        case t.Walk(arms=arms):
            return tuple(arm.body for arm in arms)
        case t.Match(arms=match_arms):
            return tuple(arm.body for arm in match_arms)
        case t.Take(otherwise=otherwise):
            return () if otherwise is None else (otherwise,)
        case t.Print() | t.CallDef() | t.Let() | t.Drop() | t.Begin() | t.Advance() | t.Reject():
            return ()


def statements(block: t.Block) -> Iterator[t.Statement]:
    """All statements of a block, those of inner blocks after the one that holds them."""
    for statement in block.statements:
        yield from with_inner(statement)


def with_inner(statement: t.Statement) -> Iterator[t.Statement]:
    """A statement, and all that stand in its blocks."""
    yield statement
    for block in blocks(statement):
        yield from statements(block)


def top_level(block: t.Block) -> Iterator[t.Statement]:
    """The statements of a block and of blocks that stand in it by themselves."""
    for statement in block.statements:
        if isinstance(statement, t.Block) and not isinstance(statement, t.Unsure):
            yield from top_level(statement)
        else:
            yield statement


def bodies(template: t.Template) -> tuple[t.Block, ...]:
    """Every block that stands by itself: the template's, those of its defs, of `generate` and of `parse`."""
    return (
        template.body,
        *(definition.body for definition in template.definitions),
        *(generate.body for generate in template.generates),
        *(parse.body for parse in template.parses),
    )


def all_statements(template: t.Template) -> Iterator[t.Statement]:
    """Every statement of a template, wherever it stands."""
    for body in bodies(template):
        yield from statements(body)


def unsure_words(template: t.Template) -> frozenset[str]:
    """The words in statements with mistakes."""
    return frozenset().union(*(s.words for s in all_statements(template) if isinstance(s, t.Unsure)))


def let_values(template: t.Template) -> dict[int, t.Expr]:
    """The value of each `let`, by the number of its variable; one at the end of a very long chain is left out."""
    depths: dict[int, int] = {}
    values: dict[int, t.Expr] = {}
    for statement in all_statements(template):
        if isinstance(statement, t.Let):
            depth = 1 + max((depths.get(v.number, 0) for v in variables(statement.value)), default=0)
            depths[statement.variable.number] = depth
            if depth <= _MOST_LETS:
                values[statement.variable.number] = statement.value
    return values
