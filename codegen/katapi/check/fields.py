"""No field of the request is lost: on every path each is printed, dropped, or known to be empty (K309, K311).

A value is used where it is printed, passed to a `def` that uses it, looped over or dropped, directly or through `let`,
cuts, `as` and object literals. A test does not use it, except that asking for the truth of a bool or for a value of a
closed text does, and finding an open role equal to a text. A list of messages or records is used by a loop without
`where`, whose body must use each field of each item. Any part of a JSON value counts as the whole. Ways that end in
`reject` do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from katapi.check.losses import Loss, losses
from katapi.check.paths import Paths, Place, Way, join, limited
from katapi.check.traverse import all_statements, expressions, let_values, statements, unsure_words, variables
from katapi.check.wording import listed
from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import CARRIED, Field
from katapi.model.types import (
    CONTENT,
    BoolType,
    ImageType,
    JsonKind,
    JsonType,
    ListType,
    MessageType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    kinds_told_apart,
    may_be_absent,
    present,
    records_in,
)

#: Bindings whose values a template must not lose. Parameters steer a template and may be left unprinted; a message that
#: a query finds is printed where it is walked.
_KEPT = (t.Binding.WALK, t.Binding.RUN, t.Binding.TAKE, t.Binding.DOCUMENTS)

#: What a message or a part has that is no declared field.
_NO_FIELDS = (("role",), ("image",), ("video",))


def check(program: Program) -> list[Diagnostic]:
    """The findings about lost fields."""
    return _Analysis(program).template()


@dataclass(frozen=True, slots=True)
class _Notes:
    """What findings about one arm, or about the template around the walk, say beside the loss itself."""

    filters: dict[Place, Span] = field(default_factory=dict)
    partial: dict[Place, str] = field(default_factory=dict)


class _Analysis:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._lets = let_values(program.template)
        self._counting = bool(program.template.counters) or any(
            isinstance(s, t.Begin) for s in all_statements(program.template)
        )
        self._paths = self._new_paths()
        self._notes = _Notes()
        #: What a statement with a mistake names is not told as lost.
        self._unsure = unsure_words(program.template)
        self._kept_items: set[int] = set()
        self._captured = {s.variable.number for s in all_statements(program.template) if isinstance(s, t.Capture)}
        self._found: dict[tuple[Span, str], Diagnostic] = {}
        self._definitions = {d.name: d for d in program.template.definitions}
        self._uses = {d.name: [True] * len(d.parameters) for d in program.template.definitions}

    def _new_paths(self) -> Paths:
        return Paths(self._program.source, self._lets, self._program.request, counting=self._counting)

    def template(self) -> list[Diagnostic]:
        """Everything that the template prints."""
        self._settle_uses()
        body = self._program.template.body
        ends = self._run(body, [Way()])
        self._note_giving_up(self._program.template.span, "messages")
        for statement in statements(body):
            if isinstance(statement, t.Take):
                self._check_take(statement, ends)
        return list(self._found.values())

    def _settle_uses(self) -> None:
        """Finds which parameters each def uses on all its ways; a def that calls itself is first taken to use all."""
        changed = True
        while changed:
            changed = False
            for definition in self._program.template.definitions:
                self._paths = self._new_paths()
                kept = [p for p in definition.parameters if records_in(p.type)]
                self._kept_items.update(p.number for p in kept)
                starts = [Way()]
                for parameter in kept:
                    names = [name for name, _ in self._of_parameter(parameter) if name is not None]
                    starts = [way.with_role(parameter.number, n) for way in starts for n in names] or starts
                ends = self._run(definition.body, starts)
                mentioned = {
                    v.number for s in statements(definition.body) for e in expressions(s) for v in variables(e)
                }
                for index, parameter in enumerate(definition.parameters):
                    used = (
                        parameter.number in mentioned
                        if isinstance(present(parameter.type), (JsonType, ParsedType, ListType))
                        and not records_in(parameter.type)
                        else all(
                            way.uses(place)
                            for way in ends
                            for name, required in self._of_parameter(parameter)
                            if name is None or way.role(parameter.number) == name
                            for place in required
                        )
                    )
                    if not used and self._uses[definition.name][index]:
                        self._uses[definition.name][index] = False
                        changed = True

    # ---- what must be used

    def _fields(self, fields: Sequence[Field], place: Place) -> dict[Place, Type]:
        """The places below a message or record that a template must use."""
        return {p: of for f in fields if not f.ignored for p, of in self._leaves(f.type, (*place, f.name)).items()}

    def _leaves(self, of: Type, place: Place) -> dict[Place, Type]:
        inner = present(of)
        record = self._program.request.record(inner.name) if isinstance(inner, RecordType) else None
        if isinstance(inner, TextType) and inner.choices is not None and len(inner.choices) == 1 and of == inner:
            return {}  # one value tells nothing
        deeper = len(place) > len(self._program.request.records) + 2  # a record contains itself, which K502 reports
        if record is None or deeper:
            return {place: inner}
        carried = () if record.carries is None else (CARRIED[record.carries],)
        return self._fields((*record.fields, *carried), place)

    def _of_record(self, name: str, number: int) -> dict[Place, Type]:
        return self._leaves(RecordType(name), (number,))

    def _of_parameter(self, parameter: t.Variable) -> list[tuple[str | None, dict[Place, Type]]]:
        """What must be used of a parameter of a def, for each kind of record that it may hold."""
        of = present(parameter.type)
        if isinstance(of, TaggedType):
            return [(name, self._of_record(name, parameter.number)) for name in of.records]
        return [(None, self._leaves(of, (parameter.number,)))]

    def _of_role(self, role: str, number: int) -> dict[Place, Type]:
        declared = self._program.request.role(role)
        assert declared is not None, "roles come from the request"
        spelled: dict[Place, Type] = {(number, "role"): CONTENT} if declared.open else {}
        return spelled | self._fields(declared.fields, (number,))

    # ---- following statements

    def _run(self, block: t.Block, ways: list[Way]) -> list[Way]:
        """The ways that come to the end of a block; a text that is kept in it must be used up to there."""
        for statement in block.statements:
            ways = limited(self._step(statement, ways))
        for kept in block.statements:
            if isinstance(kept, t.Capture):
                name, place = kept.variable.name, (kept.variable.number,)
                self._report(losses(ways, {place: kept.variable.type}), name, kept.variable.span)
        return ways

    def _step(self, statement: t.Statement, ways: list[Way]) -> list[Way]:
        match statement:
            case t.Unsure():
                return limited(way.become_unsure() for way in ways)
            case t.Block() as block:
                return self._run(block, ways)
            case t.Sampled(body=body) | t.Joined(body=body) | t.Capture(body=body):
                return self._run(body, ways)
            case t.ImageOf(value=image, body=body):
                shown = self._use(ways, image)
                return limited([*shown, *self._run(body, shown)])
            case t.Print(value=value) | t.Drop(value=value):
                return self._use(ways, value)
            case t.CallDef(name=name, arguments=arguments):
                for index, argument in enumerate(arguments):
                    if self._uses[name][index]:
                        ways = self._use(ways, argument)
                    else:
                        self._note_partial(ways, argument, self._definitions[name].parameters[index], name)
                return ways
            case t.If(test=test, then=then, otherwise=otherwise):
                no = self._assume(ways, test, False)
                return self._run(then, self._assume(ways, test, True)) + (
                    no if otherwise is None else self._run(otherwise, no)
                )
            case t.Each():
                return self._each(statement, ways)
            case t.Walk():
                self._walk(statement, ways)
                printed = {v.number for s in statements(t.Block((statement,), span=statement.span)) for v in _used(s)}
                return [_with_all(way, printed & self._captured) for way in ways]
            case t.Match():
                return self._match(statement, ways)
            case t.Take():
                return self._take(statement, ways)
            case t.Let() | t.Begin() | t.Advance():
                return ways
            case t.Reject():
                return []

    def _use(self, ways: Iterable[Way], value: t.Expr) -> list[Way]:
        return limited(w for way in ways for w in self._paths.use(way, value))

    def _assume(self, ways: Iterable[Way], test: t.Expr, truth: bool) -> list[Way]:
        return limited(w for way in ways for w in self._paths.assume(way, test, truth))

    def _match(self, match: t.Match, ways: list[Way]) -> list[Way]:
        of = present(match.subject.type)
        if isinstance(of, TextType) and of.choices is not None:
            ways = self._use(ways, match.subject)
        there = t.Exists(match.subject, type=BoolType(), span=match.subject.span)
        null = {JsonKind.NULL}
        left = kinds_told_apart(match.subject.type) or frozenset()
        seen: set[str] = set()
        out: list[Way] = []
        for arm in match.arms:
            kinds = arm.kinds & left
            fits = [way for way in ways if self._may_fit(way, match.subject, arm, seen)]
            if may_be_absent(match.subject.type) and JsonKind.NULL not in kinds:
                fits = self._assume(fits, there, True)
            elif kinds <= null and not arm.texts:
                fits = self._assume(fits, there, False)
            if not kinds and (arm.texts == ("",) or isinstance(match.subject, t.RoleOf)):
                fits = self._use(fits, match.subject)
            if arm.condition is not None:
                fits = self._assume(fits, arm.condition, True)
            elif not arm.texts:
                left -= kinds
            if arm.condition is None:
                seen.update(arm.texts)
            out.extend(self._run(arm.body, fits))
        return out

    def _may_fit(self, way: Way, subject: t.Expr, arm: t.MatchArm, seen: set[str]) -> bool:
        """Whether a record of the kind at hand may come to an arm for some values of its tag."""
        if not isinstance(subject, t.FieldOf) or not isinstance(subject.base, t.Var):
            return True
        values = set(self._paths.tag_values(way, subject.base.variable, (subject.field.name,)))
        return not values or bool(values - seen if arm.kinds else (values - seen).intersection(arm.texts))

    def _take(self, take: t.Take, ways: list[Way]) -> list[Way]:
        place: Place = (take.variable.number,)
        name = take.variable.name
        absent = [w.use(place) for way in ways if (w := way.learn(("exists", place), False, f"`{name}` is absent"))]
        out = absent if take.otherwise is None else self._run(take.otherwise, absent)
        if take.all:
            return ways if take.otherwise is None else [*ways, *out]
        for way in ways:
            there = way.learn(("exists", place), True, f"`{name}` is there")
            if there is not None:
                out = out + [there.with_role(take.variable.number, role) for role in take.roles]
        return out

    def _check_take(self, take: t.Take, ends: list[Way]) -> None:
        number, name = take.variable.number, take.variable.name
        if take.all:
            self._report(losses(ends, {(number,): take.variable.type}), name, take.variable.span)
        for role in () if take.all else take.roles:
            own = [way for way in ends if way.role(number) in (role, None)]
            self._report(losses(own, self._of_role(role, number)), name, take.variable.span)

    def _note_partial(self, ways: list[Way], argument: t.Expr, parameter: t.Variable, name: str) -> None:
        """Keeps for the finding that a value went to a def which does not use it on each of its ways."""
        for way in join(ways):
            for _, value in self._paths.values(way, argument):
                if value.place is not None:
                    self._notes.partial[value.place] = f"`def {name}` does not use its `{parameter.name}` on every path"

    # ---- loops and arms: what they bind must be used inside them

    def _each(self, loop: t.Each, ways: list[Way]) -> list[Way]:
        start = join(ways)
        if loop.condition is not None:
            start = self._assume(start, loop.condition, True)
        of = present(loop.item.type)
        number = loop.item.number
        sources = [v for way in join(ways) for _, v in self._paths.values(way, loop.source)]
        kept = any(isinstance(v.expr, t.Var) and self._is_kept(v.expr.variable) for v in sources)
        if kept:
            self._kept_items.add(number)
        for role in _variants(of):
            inner = start if role is None else [way.with_role(number, role) for way in start]
            ends = self._run(loop.body, inner)
            if not kept or isinstance(of, (JsonType, ParsedType)):
                required: dict[Place, Type] = {}
            elif role is not None:
                required = (self._of_role if isinstance(of, MessageType) else self._of_record)(role, number)
            else:
                required = self._leaves(of, (number,))
            some = f" in the record `{role}`" if isinstance(of, TaggedType) else ""
            self._report(losses(ends, required), loop.item.name, loop.item.span, some)
        if loop.condition is None or not kept or isinstance(of, JsonType):
            return self._use(ways, loop.source)
        for place in (v.place for v in sources):
            if place is not None:
                self._notes.filters[place] = loop.condition.span
        return ways

    def _is_kept(self, variable: t.Variable) -> bool:
        return variable.binding in _KEPT or variable.number in self._kept_items

    def _walk(self, walk: t.Walk, ways: list[Way]) -> None:
        covered: set[str] = set()
        guards: dict[str, list[t.Expr]] = {}
        outer = self._notes
        for arm in walk.arms:
            self._notes = _Notes()
            lost: dict[Loss, list[str]] = {}
            for role in arm.roles:
                if role in covered:
                    continue
                self._paths = self._new_paths()
                ends = self._run(arm.body, self._entering(arm, role, guards.get(role, []), join(ways)))
                self._note_giving_up(arm.span, arm.variable.name)
                required = {} if arm.is_run else self._of_role(role, arm.variable.number)
                if arm.run is not None:
                    required[(arm.run.number,)] = arm.run.type
                for loss in losses(ends, required):
                    lost.setdefault(loss, []).append(role)
            for loss, roles in lost.items():
                named = arm.run if arm.run is not None and loss.place[0] == arm.run.number else arm.variable
                some = f" in a message of role {listed(roles, 'or')}" if len(roles) < len(arm.roles) else ""
                self._report([loss], named.name, arm.span, some)
            if arm.condition is None:
                covered.update(arm.roles)
            elif not arm.is_run:
                for role in arm.roles:
                    guards.setdefault(role, []).append(arm.condition)
        self._notes = outer

    def _entering(self, arm: t.WalkArm, role: str, guards: list[t.Expr], ways: list[Way]) -> list[Way]:
        """The ways on which a message comes to an arm: no arm before it for the role took it."""
        ways = [way.with_role(arm.variable.number, role) for way in ways]
        if not arm.is_run:
            for guard in guards:
                ways = self._assume(ways, guard, False)
        return ways if arm.condition is None else self._assume(ways, arm.condition, True)

    # ---- findings

    def _note_giving_up(self, span: Span, name: str) -> None:
        if self._paths.gave_up:
            message = f"whether something of `{name}` is lost cannot be told"
            finding = _too_many_paths(span, message, name)
            self._found.setdefault((finding.span, finding.message), finding)

    def _partly_used(self, place: Place) -> str:
        """What is said of a value that went, itself or with what holds it, to a def that does not use all of it."""
        return next((n for i in range(len(place), 0, -1) if (n := self._notes.partial.get(place[:i]))), "")

    def _report(self, lost: Iterable[Loss], name: str, span: Span, some: str = "") -> None:
        for loss in lost:
            if not self._unsure.isdisjoint(loss.place[1:] or (name,)):
                continue
            path = ".".join([name, *(str(step) for step in loss.place[1:])])
            in_list = isinstance(loss.type, ListType)
            filtered = self._notes.filters.get(loss.place)
            if not loss.certain:
                finding = _too_many_paths(span, f"whether `{path}` is lost cannot be told{some}", path)
            elif filtered is not None:
                finding = Diagnostic(
                    "K309",
                    filtered,
                    f"what this `where` passes over in `{path}` is lost",
                    help=f"test with `if` inside the loop, or write `drop {path}`",
                )
            else:
                print_it = f"go through it with `each … in {path} {{ … }}`" if in_list else "print it"
                if isinstance(loss.type, ImageType):
                    word = loss.type.kind.value
                    print_it = f"show it with `{word} {path.removesuffix(f'.{word}')} {{ … }}`"
                where = "where " + " and ".join(loss.where) if loss.where else "on every path"
                ignore = (
                    "; a field that is never wanted is declared `ignore`"
                    if len(loss.place) > 1 and not loss.where and loss.place[1:] not in _NO_FIELDS
                    else ""
                )
                finding = Diagnostic(
                    "K309",
                    span,
                    f"`{path}` is lost{some}",
                    self._partly_used(loss.place) or where,
                    f"{print_it}, or write `drop {path}`{ignore}",
                )
            self._found.setdefault((finding.span, finding.message), finding)


def _used(statement: t.Statement) -> Iterator[t.Variable]:
    """The variables whose values a statement prints, passes on or drops."""
    if isinstance(statement, (t.Print, t.CallDef, t.Drop, t.Let, t.ImageOf)):
        for expr in expressions(statement):
            yield from variables(expr)


def _with_all(way: Way, numbers: Iterable[int]) -> Way:
    for number in numbers:
        way = way.use((number,))
    return way


def _variants(of: Type) -> tuple[str, ...] | tuple[None]:
    """The roles or records that an item of a loop may be of, each of which has fields of its own."""
    match of:
        case MessageType(roles=roles):
            return roles
        case TaggedType():
            return of.records
        case _:
            return (None,)


def _too_many_paths(span: Span, message: str, path: str) -> Diagnostic:
    return Diagnostic(
        "K311",
        span,
        message,
        "the tests here go together in too many ways",
        f"test less at once: put a part into a `def`, or use `{path}` before the tests",
    )
