"""Expressions and constants that are too long for a line are broken, and stay what they are."""

from __future__ import annotations

import ast
import shutil
import subprocess
from itertools import product

import pytest

from katapi.emit.code import OR, TERNARY, Code, ternary
from katapi.emit.constants import constant_source
from katapi.emit.module import Constant, LiteralPiece
from katapi.emit.python import WIDTH, Lines, width
from katapi.runtime.segments import Site

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


@pytest.mark.parametrize(("length", "lines"), [(WIDTH, 1), (WIDTH + 1, 2)])
def test_a_text_that_fills_a_line_stays_on_it(length: int, lines: int) -> None:
    """The formatter does not count the comma behind a text: with it, the line may have one character more."""
    text = "a\n" + "b" * (length - len('            "a\\n"'))
    source = constant_source(Constant("A", (LiteralPiece(text, Site(1, 1)),), printed=True))
    assert sum(line.startswith('            "') for line in source.splitlines()) == lines
    assert ast.literal_eval(source[source.index('"') : source.rindex('"') + 1].replace("\n", " ")) == text


def test_a_value_that_is_tested_and_chosen_stands_once() -> None:
    assert ternary(Code("a"), Code("a"), Code("b if c else d", TERNARY)) == Code("a or (b if c else d)", OR)
    assert ternary(Code("a"), Code("b"), Code("c")) == Code("b if a else c", TERNARY)


@pytest.mark.parametrize("head", ["if ", "answer = "])
@pytest.mark.parametrize("operator", ["and", "or"])
def test_a_boolean_of_two_is_broken_as_the_formatter_breaks_it(head: str, operator: str) -> None:
    """Each pair of operands that begin or end with brackets, and at several widths."""
    tail, block = (":", "\n    pass") if head == "if " else ("", "")
    other = "or" if operator == "and" else "and"
    source = []
    for left, right in product(_operands("a", other), _operands("b", other)):
        code = f"{left} {operator} {right}"
        if width(head + code + tail) > WIDTH:
            lines = Lines()
            lines.statement(head, code, tail)
            source.append(lines.text() + block)
    text = "\n".join(source) + "\n"
    command = [shutil.which("ruff") or "ruff", "format", "--isolated", "--line-length", str(WIDTH), "-"]
    formatted = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    assert len(source) > 100
    assert text == formatted


def _operands(letter: str, other: str) -> list[str]:
    """Operands of several kinds and widths; `other` is the operator that stands in parentheses beside this one."""
    names = [letter * length for length in (8, 30, 45)]
    return [
        form
        for n in names
        for form in (
            f'm.{n} == "{n}"',
            f"f({n}, {n})",
            f"any({n}.x == {n} for {n} in m.{n})",
            f"({n} if {n} else m.{n})",
            f'({n} == "{n}" {other} m.{n} == 1)',
            f"({n} is not None {other} any({n}.x == 1 for {n} in m.{n}))",
            f'({n} if {n} else m.{n}) == "x"',
        )
    ]
