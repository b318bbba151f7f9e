"""A template at the moment at which a reply is sampled: what it prints for a message of the assistant that is the last.

The message is in its normal form: its reasoning has a field of its own, its content spells nothing that the template
takes a content apart by, and apart from content, reasoning and calls it has nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from katapi.check.traverse import all_statements, expressions, let_values, nested, statements, top_level
from katapi.derive.fold import ABSENT, Constant, Facts, Folder
from katapi.derive.residue import Residue, Residues
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import ASSISTANT, Field
from katapi.model.types import BoolType, OptionalType

#: Under these names the field of a message is its reasoning.
REASONING = ("reasoning_content", "reasoning", "thinking")
_MARKED = (t.CutKind.BEFORE, t.CutKind.AFTER, t.CutKind.BEFORE_LAST, t.CutKind.AFTER_LAST)


@dataclass(frozen=True, slots=True)
class Arm:
    """What one arm prints under a condition, if it has one; from its beginning to the end of what is sampled."""

    condition: t.Expr | None
    variable: t.Variable
    residue: Residue
    folder: NormalForm


def reasoning_field(program: Program) -> Field | None:
    """The field of the assistant's messages that holds the reasoning."""
    role = program.request.role(ASSISTANT)
    fields = () if role is None else role.fields
    return next((f for name in REASONING for f in fields if name in f.spellings), None)


class NormalForm(Folder):
    """Expressions of a message in its normal form."""

    def __init__(self, facts: Facts, lets: Mapping[int, t.Expr], kept: frozenset[str]) -> None:
        """`kept` are the fields that a reply has."""
        super().__init__(facts, lets)
        self._kept = kept

    def inside(self, bound: Mapping[int, t.Expr]) -> NormalForm:
        """The same with more names known."""
        return NormalForm(self._facts, {**self.lets, **bound}, self._kept)

    def fold(self, expr: t.Expr) -> t.Expr:
        """The expression with what is known in place of it."""
        match expr:
            case t.Var(variable=variable, type=of) if variable.number in self.lets:
                known = self.lets[variable.number]
                return known if known == ABSENT else replace(known, type=of)
            case t.Cut(kind=kind, base=base) if kind in _MARKED:
                return self.fold(base)
            case t.Rewrite(kind=t.RewriteKind.WITHOUT, base=base):
                return self.fold(base)
            case t.TextTest(base=base) if not isinstance(self.fold(base), t.TextConst):
                return t.BoolConst(False, type=BoolType(), span=expr.span)
            case t.FieldOf(base=t.Var(variable=t.Variable(binding=t.Binding.WALK)), field=field):
                if field.name not in self._kept and isinstance(field.type, OptionalType):
                    return ABSENT
            case _:
                pass
        return super().fold(expr)


class Moment:
    """The arms of a template that print a reply, and its generation prefixes, where a reply is sampled."""

    def __init__(self, program: Program) -> None:
        self._program = program
        template = program.template
        self._generating = next(v.number for v in template.variables if v.binding is t.Binding.GENERATING)
        self._messages = next(v.number for v in template.variables if v.binding is t.Binding.MESSAGES)
        self._kept = _written(template)

    def declared(self) -> list[Arm]:
        """The `parse` blocks, in order."""
        out: list[Arm] = []
        for parse in self._program.template.parses:
            role = self._program.request.role(ASSISTANT)
            fields = frozenset() if role is None else frozenset(field.name for field in role.fields)
            folder = NormalForm(Facts(last=True, messages=self._messages), {}, fields)
            body = Residues(folder).of(parse.body.statements)
            if body is not None:
                out.append(Arm(None, parse.variable, body, folder))
        return out

    def arms(self) -> list[Arm]:
        """The arms that handle a message of the assistant and print something that is sampled, in order."""
        constants: dict[int, Constant | None] = {self._generating: False}
        before = Residues(Folder(Facts(constants=constants, messages=self._messages)))
        for statement in top_level(self._program.template.body):
            if isinstance(statement, t.Walk):
                return [arm for one in statement.arms if (arm := self._arm(one, before)) is not None]
            before.of([statement])
        return []

    def _arm(self, arm: t.WalkArm, before: Residues) -> Arm | None:
        if ASSISTANT not in arm.roles:
            return None
        empty = frozenset() if arm.run is None or arm.is_run else frozenset({arm.run.number})
        constants: dict[int, Constant | None] = {self._generating: False}
        facts = Facts(constants=constants, last=True, empty=empty, messages=self._messages)
        folder = NormalForm(facts, before.folder.lets, self._kept)
        condition = None if arm.condition is None else folder.fold(arm.condition)
        if isinstance(condition, t.BoolConst):
            if not condition.value:
                return None
            condition = None
        body = Residues(folder, before.captures, keep_sampled=True).of(arm.body.statements)
        residue = None if body is None else _to_the_end(body)
        return Arm(condition, arm.variable, residue, folder) if residue else None

    def prefixes(self, constants: Mapping[int, Constant | None]) -> list[tuple[Residue, NormalForm]]:
        """What may be printed in order to have a reply, under values of parameters; `()` where that may be nothing."""
        facts = Facts(constants={**constants, self._generating: True}, messages=self._messages)
        folder = NormalForm(facts, {}, self._kept)
        before = Residues(folder)
        for statement in top_level(self._program.template.body):
            if not isinstance(statement, t.Walk):
                before.of([statement])
        out: list[tuple[Residue, NormalForm]] = []
        for generate in self._program.template.generates:
            asked = None if generate.condition is None else folder.truth(generate.condition)
            if asked is False:
                continue
            prefix = before.of(generate.body.statements)
            if prefix is not None:
                out.append((prefix, folder))
            if generate.condition is None or asked:
                return out
        return [*out, ((), folder)]


def _written(template: t.Template) -> frozenset[str]:
    """The fields of a message that stand in what is sampled."""
    values = let_values(template)
    captured: dict[int, t.Block] = {}
    blocks: list[t.Block] = []
    for statement in all_statements(template):
        match statement:
            case t.Capture(variable=variable, body=body):
                captured[variable.number] = body
            case t.Each(key=key, item=item, source=source):
                values |= {variable.number: source for variable in (key, item) if variable is not None}
            case t.Sampled(body=body):
                blocks.append(body)
            case _:
                pass
    found: set[str] = set()
    seen: set[int] = set()
    exprs: list[t.Expr] = []
    while blocks or exprs:
        if blocks:
            for statement in statements(blocks.pop()):
                if isinstance(statement, t.Print | t.Each | t.Match | t.CallDef):
                    exprs += expressions(statement)
            continue
        for expr in nested(exprs.pop()):
            match expr:
                case t.FieldOf(base=t.Var(variable=t.Variable(binding=t.Binding.WALK)), field=field):
                    found.add(field.name)
                case t.Var(variable=variable) if variable.number not in seen:
                    seen.add(variable.number)
                    exprs += [values[variable.number]] if variable.number in values else []
                    blocks += [captured[variable.number]] if variable.number in captured else []
                case _:
                    pass
    return frozenset(found)


def _sampled(statement: t.Statement) -> bool:
    match statement:
        case t.Sampled():
            return True
        case t.If(then=then, otherwise=otherwise):
            inner = [*then.statements, *(() if otherwise is None else otherwise.statements)]
            return any(map(_sampled, inner))
        case t.Each(body=body) | t.Joined(body=body) | t.ImageOf(body=body):
            return any(map(_sampled, body.statements))
        case t.Match(arms=arms):
            return any(_sampled(inner) for arm in arms for inner in arm.body.statements)
        case _:
            return False


def openings(residue: Residue) -> list[Residue]:
    """What a residue may print before the first that is sampled."""
    first = next((at for at, statement in enumerate(residue) if _sampled(statement)), 0)
    match residue[first] if residue else None:
        case t.If(then=then, otherwise=otherwise):
            rest = () if otherwise is None else otherwise.statements
            inner = [opening for branch in (then.statements, rest) for opening in openings(branch)]
            return [(*residue[:first], *opening) for opening in inner]
        case _:
            return [residue[:first]]


def _to_the_end(residue: Residue) -> Residue:
    """A residue up to the end of the last that is sampled; nothing where nothing is."""
    last = max((at for at, statement in enumerate(residue) if _sampled(statement)), default=-1)
    return residue[: last + 1]
