"""A text that a block prints holds no control token (K213)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from katapi.check.traverse import all_statements, statements
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import ControlType


def check(program: Program) -> list[Diagnostic]:
    """The findings about each `let x = text { … }`."""
    definitions = {d.name: d for d in program.template.definitions}
    found: dict[t.Statement, Diagnostic] = {}
    for capture in all_statements(program.template):
        if isinstance(capture, t.Capture):
            for statement in statements(capture.body):
                token = next(_tokens(statement, definitions, frozenset()), None)
                if token is not None:
                    found.setdefault(statement, _finding(statement, token, capture.variable.name))
    return list(found.values())


def _finding(statement: t.Statement, token: str, name: str) -> Diagnostic:
    label = f"`def {statement.name}` prints {token}" if isinstance(statement, t.CallDef) else ""
    return Diagnostic(
        "K213",
        statement.span,
        f"`{name}` is a text, and no control token can be in it",
        label,
        "print the token where the text is printed, or put both into a `def`",
    )


def _tokens(statement: t.Statement, definitions: Mapping[str, t.Def], calling: frozenset[str]) -> Iterator[str]:
    """The control tokens that a statement prints itself, or through the defs that it calls."""
    match statement:
        case t.Print(value=t.ControlConst(token=token)):
            yield f"`@{token.name}`"
        case t.Print(value=value) if isinstance(value.type, ControlType):
            yield "a control token"
        case t.ImageOf():
            yield "an image"
        case t.CallDef(name=name) if name not in calling:
            for inner in statements(definitions[name].body):
                yield from _tokens(inner, definitions, calling | {name})
        case _:
            pass
