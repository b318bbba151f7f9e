"""The specs that are driven through the oracle and the generated code use every construct of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import get_args

import pytest

from katapi.language.syntax import End, Neighbour, Operator, Quantifier, Side
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import JsonKind
from tests.specs import ALL, PASS

Load = Callable[[str], Program]

SPECS = ["book", "qwen3", *(spec.name for spec in ALL if spec.path.parent == PASS)]

NODES = {kind.__name__ for kind in (*get_args(t.Expr), *get_args(t.Statement))}
ENUMS = (t.CutKind, t.RewriteKind, t.TextTestKind, End, Neighbour, Operator, Quantifier, Side, JsonKind)
MEMBERS = {f"{kind.__name__}.{member.name}" for kind in ENUMS for member in kind}
OPTIONS = {
    "Each with a key",
    "Each with a condition",
    "Each with a join",
    "Each in order",
    "WalkArm with a run",
    "WalkArm with then",
    "WalkArm with a condition",
    "MatchArm with texts",
    "MatchArm with other",
    "MatchArm with a condition",
    "Take of all",
    "Take with otherwise",
    "If with otherwise",
    "Generate with a condition",
}


def used(node: object) -> Iterator[str]:
    """The names of all constructs in a tree."""
    if isinstance(node, Enum):
        yield f"{type(node).__name__}.{node.name}"
    elif isinstance(node, (tuple, frozenset)):
        for item in node:
            yield from used(item)
    elif is_dataclass(node) and not isinstance(node, t.Variable):
        yield type(node).__name__
        yield from options(node)
        for field in fields(node):
            yield from used(getattr(node, field.name))


def options(node: object) -> Iterator[str]:
    """The optional parts that a statement has."""
    match node:
        case t.Each(key=key, condition=condition, join=join):
            yield from _named("Each", ("a key", key), ("a condition", condition), ("a join", join))
            if node.sorted:
                yield "Each in order"
        case t.WalkArm(is_run=run, then=then, condition=condition):
            yield from _named("WalkArm", ("a run", run or None), ("then", then), ("a condition", condition))
        case t.MatchArm(texts=texts, other=other, condition=condition):
            present = ("texts", texts or None), ("other", other or None), ("a condition", condition)
            yield from _named("MatchArm", *present)
        case t.Take(all=every, otherwise=otherwise):
            if every:
                yield "Take of all"
            yield from _named("Take", ("otherwise", otherwise))
        case t.If(otherwise=otherwise):
            yield from _named("If", ("otherwise", otherwise))
        case t.Generate(condition=condition):
            yield from _named("Generate", ("a condition", condition))
        case _:
            pass


def _named(statement: str, *parts: tuple[str, object]) -> Iterator[str]:
    for name, part in parts:
        if part is not None:
            yield f"{statement} with {name}"


@pytest.mark.parametrize("name", SPECS)
def test_the_spec_has_no_findings(load: Load, name: str) -> None:
    assert load(name).name == name


def test_every_construct_is_used(load: Load) -> None:
    found = {construct for name in SPECS for construct in used(load(name).template)}
    assert (NODES | MEMBERS | OPTIONS) - found == set()
