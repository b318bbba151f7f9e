"""Words that a Jinja template decides by, and names that it reads: what generated requests should hold to steer it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jinja2 import nodes

_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class Words:
    """What a template looks for."""

    texts: tuple[str, ...]
    """Texts that it compares with, searches, cuts at or trims."""
    members: tuple[str, ...]
    """Names of members and methods that it reads of values."""


def words_of(tree: nodes.Template) -> Words:
    """The words of a template, in order of their letters."""
    texts: set[str] = set()
    for node in tree.find_all((nodes.Compare, nodes.Call, nodes.Test, nodes.Filter)):
        texts |= {t for t in _asked(node) if 0 < len(t) <= _LONGEST_WORD}
    members = {node.attr for node in tree.find_all(nodes.Getattr)}
    members |= set(_texts(node.arg for node in tree.find_all(nodes.Getitem)))
    return Words(tuple(sorted(texts)), tuple(sorted(members)))


def _asked(node: nodes.Node) -> Iterator[str]:
    """The texts in one question that a template asks of a value."""
    parts: list[nodes.Node] = []
    match node:
        case nodes.Compare(expr=expr, ops=ops):
            parts = [expr, *(operand.expr for operand in ops)]
        case nodes.Call(node=nodes.Getattr(), args=args) | nodes.Test(args=args) | nodes.Filter(args=args):
            parts = [*args]
        case _:
            pass
    for part in parts:
        yield from _texts(part.items if isinstance(part, nodes.List | nodes.Tuple) else [part])


def _texts(parts: Iterable[nodes.Node]) -> Iterator[str]:
    """Those parts that are texts written in the template."""
    for part in parts:
        if isinstance(part, nodes.Const) and isinstance(part.value, str):
            yield part.value
