"""Ways through a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from katapi.language import syntax as s
from katapi.language.source import Span

NodeT = TypeVar("NodeT", bound=s.Node)


def nodes(value: object) -> Iterator[s.Node]:
    """A node and all below it, in no order."""
    open_values = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, tuple):
            open_values.extend(one)
        elif isinstance(one, s.Node):
            yield one
            open_values.extend(getattr(one, part.name) for part in fields(one))


def words(node: s.Node) -> frozenset[str]:
    """The names that stand in a node."""
    found: set[str] = set()
    for one in nodes(node):
        match one:
            case s.Name(text=text):
                found.add(text)
            case s.NameRef(name=name):
                found.add(name)
            case s.Broken(words=more):
                found |= more
            case _:
                pass
    return frozenset(found)


def moved(node: NodeT, by: int) -> NodeT:
    """The same node, which begins so many code points further on."""
    changes: dict[str, Any] = {part.name: _moved(getattr(node, part.name), by) for part in fields(node)}
    return replace(node, **changes)


def _moved(value: object, by: int) -> object:
    match value:
        case tuple():
            return tuple(_moved(one, by) for one in value)
        case Span():
            return value.moved(by)
        case s.Node():
            return moved(value, by)
        case _:
            return value
