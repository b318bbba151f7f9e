"""The counters that pass through each def: which it needs, and which it gives back because it advances them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from katapi.check.traverse import expressions, statements, variables
from katapi.model import template as t


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of a def, in the order of their declaration."""

    needed: tuple[t.Variable, ...]
    advanced: tuple[t.Variable, ...]


def counters_of_defs(template: t.Template) -> Mapping[str, Counters]:
    """The counters of each def, those of the defs that it calls included."""
    bodies = {d.name: list(statements(d.body)) for d in template.definitions}
    reads = _settled(bodies, lambda statement: {v.number for e in expressions(statement) for v in variables(e)})
    advances = _settled(bodies, lambda statement: set(_advanced(statement)))
    return {
        name: Counters(
            tuple(c for c in template.counters if c.number in reads[name] | advances[name]),
            tuple(c for c in template.counters if c.number in advances[name]),
        )
        for name in bodies
    }


def _advanced(statement: t.Statement) -> Iterator[int]:
    if isinstance(statement, t.Advance):
        yield statement.variable.number


def _settled(bodies: Mapping[str, list[t.Statement]], own: Callable[[t.Statement], set[int]]) -> Mapping[str, set[int]]:
    """For each def the numbers that its statements give, or those of the defs that it calls."""
    found = {name: {number for s in body for number in own(s)} for name, body in bodies.items()}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for name, body in bodies.items():
            found[name].update(*(found[s.name] for s in body if isinstance(s, t.CallDef)))
    return found
