"""Loops and blocks nest no deeper than Python takes (K504).

Python has at most 20 loops inside each other, and about a hundred levels of indentation, in one function.
"""

from __future__ import annotations

from katapi.check.traverse import blocks, bodies, expressions, sub_expressions
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program

_MOST_LOOPS = 20
_MOST_LEVELS = 80


def check(program: Program) -> list[Diagnostic]:
    """The findings about depth: the outermost statement of each nest that goes too deep."""
    return [finding for body in bodies(program.template) for finding in _block(body, 0, 0)]


def _queries(expr: t.Expr) -> int:
    """How many queries stand inside each other in an expression."""
    return isinstance(expr, t.Query) + max(map(_queries, sub_expressions(expr)), default=0)


def _block(block: t.Block, loops: int, levels: int) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for statement in block.statements:
        inner = loops + isinstance(statement, (t.Each, t.Walk))
        queries = max((_queries(value) for value in expressions(statement)), default=0)
        if inner + queries > _MOST_LOOPS or levels > _MOST_LEVELS:
            what = "loops" if inner + queries > _MOST_LOOPS else "blocks"
            most = _MOST_LOOPS if what == "loops" else _MOST_LEVELS
            found.append(
                Diagnostic(
                    "K504",
                    statement.span,
                    f"more than {most} {what} stand inside each other here",
                    help="put the inner ones into a `def`",
                )
            )
            continue
        for one in blocks(statement):
            found.extend(_block(one, inner, levels + 1 + isinstance(statement, t.Walk)))
    return found
