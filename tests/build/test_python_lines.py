"""Expressions that are too long for a line are broken, and stay the same expressions."""

from __future__ import annotations

import ast

import pytest

from katapi.emit.python import Lines, width

LONG = "word" * 20


@pytest.mark.parametrize(
    "expression",
    [
        f"f(({LONG}({LONG}),), a=1)",
        f"f((*{LONG}{LONG},), a=1)",
        f"f(*{LONG}{LONG})",
        f"f({LONG}, ({LONG}, {LONG}), ())",
        f"f(a=none() | {LONG} | {LONG}({LONG}))",
        f"[{LONG}{LONG}]",
        f"[{LONG}, {LONG}]",
        f"{{{LONG}: {LONG}}}",
        f"(*({LONG} if {LONG} else {LONG}{LONG}), a)",
        f"any({LONG} == {LONG} for {LONG} in a)",
        f"next(({LONG} for {LONG} in b if {LONG}), None)",
        f"next((a for b in {LONG} if {LONG} if f({LONG}, {LONG})), None)",
    ],
)
def test_broken_expressions_mean_the_same(expression: str) -> None:
    lines = Lines()
    lines.statement("VALUE = ", expression)
    text = lines.text()
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(f"VALUE = {expression}"))
    assert text.count("\n") > 1


@pytest.mark.parametrize(("letter", "columns"), [("a", 1), ("天", 2), ("｜", 2), ("é", 1), ("\u0301", 0)])
def test_lines_are_as_wide_as_the_formatter_counts(letter: str, columns: int) -> None:
    assert width(letter * 10) == columns * 10
    lines = Lines()
    lines.statement("VALUE = ", f'f("{letter * 80}")')
    assert len(lines) == (3 if columns == 2 else 1)
