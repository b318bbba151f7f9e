"""The examples of pages in `docs/` run, and each value that stands behind an expression is what that gives."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMES = ("budget", "diff", "extension", "images", "inspect", "packs", "parsing", "tensors")
PAGES = {name: FENCE.findall((DOCS / f"{name}.md").read_text("utf-8")) for name in NAMES}
EXAMPLES = {f"{name} {at}": example for name, found in PAGES.items() for at, example in enumerate(found, start=1)}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
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
    assert {name: len(found) for name, found in PAGES.items()} == {
        "budget": 8,
        "diff": 4,
        "extension": 2,
        "images": 3,
        "inspect": 1,
        "packs": 5,
        "parsing": 4,
        "tensors": 5,
    }
