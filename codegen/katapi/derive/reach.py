"""How far a template looks: on which other messages it depends what is printed for one (`katapi.runtime.budget.reach`).

The template must have one walk, by itself. In front of it messages may be taken and asked for; what an arm prints may
depend on its message, on the messages beside it, and on questions whose answer each message decides by itself. Where
more is asked (a count over the conversation, say), the reach is unbounded, and what is printed for one message may
depend on any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from katapi.check.traverse import (
    all_statements,
    expressions,
    nested,
    statements,
    sub_expressions,
    top_level,
    value_parts,
    variables,
    with_inner,
)
from katapi.derive.counters import Counters
from katapi.language.source import Span
from katapi.language.syntax import End, Quantifier, Side
from katapi.model import template as t
from katapi.model.boundaries import guards
from katapi.model.program import Program
from katapi.model.types import BoolType, ControlType, MessageType, present
from katapi.runtime.budget.reach import Among, Counted, Finds

_FINDS = {
    Quantifier.ANY: Finds.ANY,
    Quantifier.ALL: Finds.ANY,  # of those that are otherwise
    Quantifier.FIRST: Finds.FIRST,
    Quantifier.LAST: Finds.LAST,
}
_STEADY = (t.Binding.PARAM, t.Binding.GENERATING)  # not the lists that a budget may shorten
_OWN = (t.Binding.WALK, t.Binding.LOOP, t.Binding.TAKE, t.Binding.QUERY)  # what is printed of these has its place


class UnboundedReach(Exception):
    """What is printed for a message may depend on any other."""

    def __init__(self, span: Span, why: str) -> None:
        super().__init__(why)
        self.span = span
        self.why = why


@dataclass(frozen=True, slots=True)
class DerivedQuestion:
    """A question about other messages; `variable` stands for each in the condition."""

    among: Among
    finds: Finds
    variable: t.Variable
    condition: t.Expr
    span: Span
    words: str


@dataclass(frozen=True, slots=True)
class DerivedReach:
    """A `katapi.runtime.budget.reach.Reach` whose questions are still expressions."""

    questions: tuple[DerivedQuestion, ...]
    neighbours: bool
    runs: frozenset[str]
    taken: tuple[frozenset[str], ...]
    everywhere: frozenset[str]
    first: bool
    late_first: bool
    late_last: bool
    elsewhere: bool
    parting: frozenset[str]
    counted: frozenset[Counted]
    advancing: frozenset[Counted] | None
    opening: frozenset[str]


def reach_of(program: Program) -> DerivedReach:
    """How far the template of a program looks. Raises `UnboundedReach`."""
    reach = _Reach(program.template).derived()
    named = reach.runs.union(reach.everywhere, *reach.taken, (one.role for one in reach.counted))
    if program.request.open_role is not None and program.request.open_role.name in named:
        raise UnboundedReach(program.template.span, "messages of roles that are not declared are taken together")
    return reach


class _Reach:
    def __init__(self, template: t.Template) -> None:
        self._template = template
        self._messages = next(v.number for v in template.variables if v.binding is t.Binding.MESSAGES)
        whole = list(top_level(template.body))
        walks = [at for at, one in enumerate(whole) if isinstance(one, t.Walk)]
        within = [one for one in all_statements(template) if isinstance(one, t.Walk)]
        if len(walks) != 1 or len(within) != 1:
            raise UnboundedReach(template.span, "the messages are not walked once, by themselves")
        self._early = whole[: walks[0]]
        walk = whole[walks[0]]
        assert isinstance(walk, t.Walk)
        self._walk = walk
        self._late = [walk, *whole[walks[0] + 1 :], *(one for g in template.generates for one in g.body.statements)]
        conditions = [generate.condition for generate in template.generates if generate.condition is not None]
        self._late_expressions = [*(expr for one in self._late for expr in _expressions(one)), *conditions]
        self._called: list[str] = []

    def derived(self) -> DerivedReach:
        boundaries = guards(self._template)
        if boundaries:
            raise UnboundedReach(boundaries[0].span, "contents are searched for what parts messages")
        taken, everywhere, holders = self._takes()
        early = [expr for statement in self._early for expr in _expressions(statement)]
        everything = [*early, *self._late_expressions]
        questions = [question for expr in everything for question in self._questions(expr)]
        ends = {End.FIRST: holders, End.LAST: set[int]()}
        for one in self._early:
            if isinstance(one, t.Let | t.Capture | t.If | t.Match | t.Each):
                for end, names in ends.items():
                    if any(self._looks_at(expr, end, names) for expr in _expressions(one)):
                        names |= {s.variable.number for s in with_inner(one) if isinstance(s, t.Let | t.Capture)}
        counters = Counters(self._template, self._walk)
        return DerivedReach(
            questions=tuple({(q.among, q.finds, q.condition): q for q in questions}.values()),
            neighbours=any(isinstance(n, t.NeighbourOf | t.IsEnd) for expr in everything for n in nested(expr)),
            runs=self._runs(),
            taken=taken,
            everywhere=everywhere,
            first=any(self._is_end(n, End.FIRST) for expr in everything for n in nested(expr)),
            late_first=self._counts_early()
            or any(self._looks_at(e, End.FIRST, ends[End.FIRST]) for e in self._late_expressions),
            late_last=any(self._looks_at(e, End.LAST, ends[End.LAST]) for e in (*early, *_expressions(self._walk))),
            elsewhere=any(map(_shows_another, all_statements(self._template))),
            parting=self._parting(),
            counted=counters.counted(),
            advancing=counters.advancing(),
            opening=self._opening(),
        )

    # ---- in front of the walk

    def _takes(self) -> tuple[tuple[frozenset[str], ...], frozenset[str], set[int]]:
        """What is taken: by itself off the beginning, or wherever it stands; and the names of the former."""
        taken: list[frozenset[str]] = []
        everywhere: frozenset[str] = frozenset()
        holders: set[int] = set()
        asked = False
        for one in self._early:
            if isinstance(one, t.Take):
                if asked:
                    raise UnboundedReach(one.span, "messages are taken behind a question about all of them")
                if one.all:
                    if taken:
                        raise UnboundedReach(one.span, "messages are taken behind one that was taken")
                    everywhere |= set(one.roles)
                else:
                    taken.append(frozenset(one.roles))
                    holders.add(one.variable.number)
            elif any(isinstance(inner, t.Take) for inner in with_inner(one)):
                raise UnboundedReach(one.span, "messages are taken under a condition")
            asked = asked or any(isinstance(n, t.Query) for expr in _expressions(one) for n in nested(expr))
        for expr in self._late_expressions:
            for variable in variables(expr):
                if variable.binding is t.Binding.TAKE and variable.number not in holders:
                    raise UnboundedReach(expr.span, f"`{variable.name}` is asked for again")
        return tuple(taken), everywhere, holders

    def _looks_at(self, expr: t.Expr, end: End, names: set[int]) -> bool:
        return any(self._is_end(n, end) or (isinstance(n, t.Var) and n.variable.number in names) for n in nested(expr))

    def _is_end(self, expr: t.Expr, end: End) -> bool:
        return isinstance(expr, t.EndOf) and expr.end is end and self._is_messages(expr.base)

    def _is_messages(self, expr: t.Expr) -> bool:
        return isinstance(expr, t.Var) and expr.variable.number == self._messages

    def _counts_early(self) -> bool:
        """Whether a counter may stand otherwise at the walk where other messages are taken."""
        early = [inner for one in self._early for inner in with_inner(one)]
        if any(isinstance(one, t.CallDef) for one in early):
            early += [inner for d in self._template.definitions for inner in statements(d.body)]
        return any(
            isinstance(one, t.Advance) or (isinstance(one, t.Begin) and not isinstance(one.value, t.IntConst))
            for one in early
        )

    # ---- questions

    def _questions(self, expr: t.Expr) -> Iterator[DerivedQuestion]:
        match expr:
            case t.Query(source=t.View() | t.Var() as source) if isinstance(source, t.View) or self._is_messages(
                source
            ):
                yield self._question(expr, source)
                return
            case t.EndOf(base=base) | t.Given(value=base) | t.Exists(value=base) if self._is_messages(base):
                return
            case t.Var() if self._is_messages(expr):
                raise UnboundedReach(expr.span, "it looks at the whole conversation")
            case t.View():
                raise UnboundedReach(expr.span, "it looks at all messages on one side")
            case _:
                pass
        for part in sub_expressions(expr):
            yield from self._questions(part)

    def _question(self, query: t.Query, source: t.View | t.Var) -> DerivedQuestion:
        asked = [v for v in variables(query.condition) if v.number != query.variable.number]
        if any(v.binding not in _STEADY for v in asked if not _is_inner(v, query.condition)):
            raise UnboundedReach(query.span, "what it asks of a message depends on others")
        if any(isinstance(n, t.View | t.NeighbourOf) for n in nested(query.condition)):
            raise UnboundedReach(query.span, "what it asks of a message depends on those beside it")
        among = Among.ALL
        if isinstance(source, t.View):
            among = Among.BEFORE if source.side is Side.BEFORE else Among.AFTER
        if query.quantifier is Quantifier.COUNT:
            raise UnboundedReach(query.span, "it counts messages")
        finds, condition = _FINDS[query.quantifier], query.condition
        if query.quantifier is Quantifier.ALL:
            condition = t.Not(condition, type=BoolType(), span=condition.span)
        words = f"{query.quantifier.value} {query.variable.name} … where …"
        return DerivedQuestion(among, finds, query.variable, condition, query.span, words)

    # ---- the walk

    def _runs(self) -> frozenset[str]:
        runs: set[str] = set()
        for arm in self._walk.arms:
            if arm.is_run:
                runs |= set(arm.roles)
            elif arm.then is not None:
                runs.add(arm.then)
        return frozenset(runs)

    def _parting(self) -> frozenset[str]:
        """The roles of messages that stand by themselves, and for which a control token is always printed."""
        surely = self._roles_whose_arms(self._prints_control)
        handled = {role: arm for arm in self._walk.arms for role in arm.roles}
        return frozenset(role for role in surely - self._runs() if handled[role].condition is None)

    def _opening(self) -> frozenset[str]:
        """Those of them for which what is printed always begins with a control token."""
        return self._roles_whose_arms(self._begins_with_control) & self._parting()

    def _roles_whose_arms(self, hold: Callable[[t.Block], bool]) -> frozenset[str]:
        roles = {role for arm in self._walk.arms for role in arm.roles}
        return frozenset(roles - {role for arm in self._walk.arms if not hold(arm.body) for role in arm.roles})

    def _begins_with_control(self, block: t.Block) -> bool:
        """Whether the first thing that a block prints is a control token."""
        for statement in block.statements:
            match statement:
                case t.Let() | t.Drop() | t.Begin() | t.Advance() | t.Capture():
                    continue
                case t.Print(value=value):
                    return isinstance(present(value.type), ControlType)
                case t.Block():
                    return self._begins_with_control(statement)
                case t.Sampled(body=body):
                    return self._begins_with_control(body)
                case t.If(then=then, otherwise=otherwise) if otherwise is not None:
                    return self._begins_with_control(then) and self._begins_with_control(otherwise)
                case t.CallDef(name=name):
                    return self._of_def(name, self._begins_with_control)
                case _:
                    return False
        return False

    def _of_def(self, name: str, holds: Callable[[t.Block], bool]) -> bool:
        """Whether something holds for the body of a def; of one within itself that is not known."""
        if name in self._called:
            return False
        self._called.append(name)
        found = holds(next(one.body for one in self._template.definitions if one.name == name))
        self._called.pop()
        return found

    def _prints_control(self, block: t.Block) -> bool:
        return any(map(self._surely, block.statements))

    def _surely(self, statement: t.Statement) -> bool:
        """Whether a statement always prints a control token, or refuses the request."""
        match statement:
            case t.Print(value=value):
                return isinstance(present(value.type), ControlType)
            case t.Reject():
                return True
            case t.Block() | t.Sampled() | t.ImageOf():
                return self._prints_control(statement if isinstance(statement, t.Block) else statement.body)
            case t.If(then=then, otherwise=otherwise):
                return otherwise is not None and self._prints_control(then) and self._prints_control(otherwise)
            case t.CallDef(name=name):
                return self._of_def(name, self._prints_control)
            case _:
                return False


def _shows_another(statement: t.Statement) -> bool:
    """Whether a statement prints, names or goes through something that a message has which may be another."""
    match statement:
        case t.CallDef(arguments=values):
            return any(_is_another(value) or _has_of_another(value) for value in values)
        case t.Print(value=value) | t.Let(value=value) | t.Each(source=value):
            return _has_of_another(value)
        case _:
            return False


def _has_of_another(value: t.Expr) -> bool:
    """Whether a value has a part that belongs to another message than the one that is printed."""
    parts = (value.base,) if isinstance(value, t.RoleOf) else value_parts(value)
    passed_on = isinstance(present(value.type), MessageType)
    return any((_is_another(part) and not passed_on) or _has_of_another(part) for part in parts)


def _is_another(expr: t.Expr) -> bool:
    own = isinstance(expr, t.Var) and expr.variable.binding in _OWN
    return isinstance(present(expr.type), MessageType) and not own


def _expressions(statement: t.Statement) -> Iterator[t.Expr]:
    """All expressions of a statement and of its blocks."""
    return (expr for inner in with_inner(statement) for expr in expressions(inner))


def _is_inner(variable: t.Variable, condition: t.Expr) -> bool:
    """Whether a variable is that of a query within a condition."""
    return any(isinstance(n, t.Query) and n.variable.number == variable.number for n in nested(condition))
