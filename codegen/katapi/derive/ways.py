"""The ways through a block that prints nothing of the request: for each, the places of what it prints, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from katapi.language.source import Source, Span
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.sites import site_of
from katapi.model.types import IntType
from katapi.runtime.segments import Site

Way: TypeAlias = tuple[Site, ...]
"""The places of control tokens, of literals that are not empty, of whole numbers, and of images with their bytes."""

_MOST = 64  # ways; a block that has more is not told apart


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of the item of a loop: the field that tells its kind, and which it is."""

    variable: t.Variable
    tag: str
    kind: str


def ways_of(block: t.Block, program: Program, part: Part | None = None) -> frozenset[Way] | None:
    """The ways through a block, or None where it prints other things too or there are too many.

    A way that ends in a `reject` is none.
    """
    definitions = {d.name: d for d in program.template.definitions}
    try:
        return frozenset(_Reading(program.source, definitions, part, {}).of_block(block))
    except _UnknownError:
        return None


def within(site: Site, span: Span, source: Source) -> bool:
    """Whether a place is in a stretch of a file."""
    first, last = site_of(span, source), Site(*source.place(span.end)[1:])
    return site.file == first.file and first[:2] <= site[:2] <= last[:2]


class _UnknownError(Exception):
    """It is not known what is printed."""


@dataclass(frozen=True, slots=True)
class _Reading:
    source: Source
    definitions: Mapping[str, t.Def]
    part: Part | None
    values: dict[t.Variable, t.Expr]
    """What is known of variables."""
    calls: tuple[str, ...] = ()
    """The calls within which something stands."""

    def of_block(self, block: t.Block) -> set[Way]:
        """The ways through a block."""
        ways: set[Way] = {()}
        for statement in block.statements:
            ways = {before + behind for behind in self._of(statement) for before in ways}
            if len(ways) > _MOST:
                raise _UnknownError
        return ways

    def _of(self, statement: t.Statement) -> set[Way]:
        match statement:
            case t.Block():
                return self.of_block(statement)
            case t.Sampled(body=body) | t.ImageOf(body=body, pipeline=None):
                return self.of_block(body)
            case t.ImageOf(body=body):
                return self.of_block(body) | {(site_of(statement.span, self.source),)}
            case t.Print(value=value):
                return self._printed(value)
            case t.CallDef(name=name, arguments=arguments):
                if name in self.calls:
                    raise _UnknownError
                definition = self.definitions[name]
                values = dict(zip(definition.parameters, map(self._known, arguments), strict=True))
                inner = _Reading(self.source, self.definitions, self.part, values, (*self.calls, name))
                return inner.of_block(definition.body)
            case t.If(then=then, otherwise=otherwise):
                return self.of_block(then) | ({()} if otherwise is None else self.of_block(otherwise))
            case t.Match(subject=subject, arms=arms):
                return self._of_one([arm.body for arm in self._fitting(subject, arms)])
            case t.Each(body=body):
                if self.of_block(body) - {()}:
                    raise _UnknownError
                return {()}
            case t.Let(variable=variable, value=value):
                self.values[variable] = self._known(value)
                return {()}
            case t.Reject():
                return set()
            case t.Drop() | t.Begin() | t.Advance() | t.Capture():
                return {()}
            case t.Joined() | t.Walk() | t.Take():
                raise _UnknownError
            case _:
                assert_never(statement)

    def _of_one(self, blocks: Iterable[t.Block]) -> set[Way]:
        """The ways through one of several blocks."""
        return {way for block in blocks for way in self.of_block(block)}

    def _fitting(self, subject: t.Expr, arms: tuple[t.MatchArm, ...]) -> Iterable[t.MatchArm]:
        """The arms that may be taken; a `match` has one for every value."""
        match subject, self.part:
            case t.FieldOf(base=base, field=field), Part(variable, tag, kind) if (
                isinstance(of := self._known(base), t.Var) and of.variable == variable and field.name == tag
            ):
                fitting = [arm for arm in arms if arm.other or kind in arm.texts]
                sure = next((at for at, arm in enumerate(fitting) if arm.condition is None), len(fitting))
                return fitting[: sure + 1]
            case _:
                return arms

    def _known(self, value: t.Expr) -> t.Expr:
        """An expression, or what a variable is known to stand for."""
        return self.values.get(value.variable, value) if isinstance(value, t.Var) else value

    def _printed(self, value: t.Expr) -> set[Way]:
        place, value = value.span, self._known(value)
        match value:
            case t.ControlConst():
                return {(site_of(value.span, self.source),)}
            case t.TextConst(text=text):
                return {(site_of(value.span, self.source),)} if text else {()}
            case t.Conditional(then=then, otherwise=otherwise):
                return self._printed(then) | self._printed(otherwise)
            case _ if isinstance(value.type, IntType):
                return {(site_of(place, self.source),)}
            case _:
                raise _UnknownError
