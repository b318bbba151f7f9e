"""`docs/extension.md`: its examples run, and each value that stands behind an expression is what that gives."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "extension.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_gives_what_stands_beside_it(example: str) -> None:
    names: dict[str, object] = {}
    lines = example.splitlines()
    shown = 0
    for statement in ast.parse(example).body:
        code = ast.unparse(statement)
        _, _, value = lines[statement.lineno - 1].partition("  # ")
        if isinstance(statement, ast.Expr):
            assert repr(eval(code, names)) == value
            shown += 1
        else:
            exec(code, names)
    assert shown


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2
