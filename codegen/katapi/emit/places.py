"""Places of a template as constants of its property tests: its generation prefix, and what it prints for pictures."""

from __future__ import annotations

from collections.abc import Iterable

from katapi.derive.placeholders import placeholders_of
from katapi.derive.ways import Way, ways_of, within
from katapi.emit.python import Lines, call, string
from katapi.emit.values import Values
from katapi.model.program import Program


def prefix_constant(program: Program) -> str | None:
    """`PREFIX`, or None where there is no generation prefix or it is not known what that prints."""
    if not program.template.generates:
        return None
    (generate,) = program.template.generates
    ways = ways_of(generate.body, program)
    if ways is None:
        return None
    if generate.condition is not None:
        ways |= {()}
    own = {site for way in ways for site in way if within(site, generate.body.span, program.source)}
    lines = Lines()
    lines.statement(
        "PREFIX = ", call("Prefix", [f"ways={_ways(ways)}", f"own={Values({}).expression(frozenset(own))}"])
    )
    return lines.text()


def placeholders_constant(program: Program) -> str | None:
    """`PLACEHOLDERS`, or None where a request has no pictures or it is not certain what stands for each."""
    rows = [
        call("Placeholder", [string(one.tag), string(one.kind), _ways(one.ways)]) for one in placeholders_of(program)
    ]
    if not rows:
        return None
    lines = Lines()
    lines.items("PLACEHOLDERS = ", rows)
    return lines.text()


def _ways(ways: Iterable[Way]) -> str:
    return Values({}).expression(tuple(sorted(ways, key=_order)))


def _order(way: Way) -> list[tuple[str, int, int]]:
    return [(site.file or "", site.line, site.column) for site in way]
