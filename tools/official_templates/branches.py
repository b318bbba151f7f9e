"""Marks the branches of a Jinja template, so that a run tells which of them no request took.

A branch is a body of `if`, `elif`, `else` or `for`, the case in which no condition of an `if` without `else` holds,
either value of an inline `if`, and the body of a macro.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from jinja2 import nodes

_LONGEST_LINE = 90


@dataclass(frozen=True, slots=True)
class Branch:
    """One way that a template can go: the line it begins on, what must happen, and the source of that line."""

    line: int
    when: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.when}: {self.source}"


@dataclass(slots=True)
class Branches:
    """The branches of one template, those that the last rendering took, and those that count."""

    name: str = "katapi_branch_taken"
    """The function that a marked template calls."""
    all: list[Branch] = field(default_factory=list)
    last: set[int] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)

    def take(self, number: int) -> bool:
        """Notes a branch; true, so that a mark can stand in an expression."""
        self.last.add(number)
        return True

    def count(self) -> None:
        """Lets the branches of the last rendering count: what they printed was compared."""
        self.counted |= self.last

    @property
    def left(self) -> list[Branch]:
        """The branches that count nowhere, in the order of the template."""
        return sorted((b for n, b in enumerate(self.all) if n not in self.counted), key=lambda b: b.line)


def mark_branches(tree: nodes.Template, source: str) -> Branches:
    """Puts a mark into each branch of a template's syntax."""
    branches = Branches()
    lines = source.split("\n")

    def call(line: int, when: str) -> nodes.Call:
        at = lines[line - 1].strip() if line <= len(lines) else ""
        shown = at if len(at) <= _LONGEST_LINE else at[:_LONGEST_LINE] + "…"
        branches.all.append(Branch(line, when, shown))
        name = nodes.Name(branches.name, "load")
        return nodes.Call(name, [nodes.Const(len(branches.all) - 1)], [], None, None)

    def statement(line: int, when: str) -> nodes.Node:
        return nodes.ExprStmt(call(line, when))

    for node in list(_all(tree)):
        match node:
            case nodes.If():
                for condition in (node, *node.elif_):
                    condition.body.insert(0, statement(condition.lineno, "true"))
                node.else_.insert(0, statement(node.lineno, "else"))
            case nodes.For():
                node.body.insert(0, statement(node.lineno, "entered"))
            case nodes.Macro():
                node.body.insert(0, statement(node.lineno, "called"))
            case nodes.CondExpr():
                node.expr1 = nodes.And(call(node.lineno, "inline true"), node.expr1)
                if node.expr2 is not None:
                    node.expr2 = nodes.And(call(node.lineno, "inline else"), node.expr2)
            case _:
                pass
    for node in tree.find_all(nodes.Node):
        node.environment = tree.environment
        node.lineno = getattr(node, "lineno", None) or 1
    return branches


def _all(tree: nodes.Node) -> Iterator[nodes.Node]:
    """Every node, but the `elif` parts of an `if` only as parts of it."""
    for child in tree.iter_child_nodes():
        if not (isinstance(tree, nodes.If) and child in tree.elif_):
            yield child
        yield from _all(child)
