"""Every test can come out either way, and what is asked for can be there (K214).

A test that is always true, or never, has a branch in vain: it is a slip, or a rest of something that was changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from katapi.check.knowledge import (
    ABSENT,
    KINDS,
    ROLES,
    Known,
    Possible,
    Split,
    constant_of,
    either,
    falsy,
    learnt,
    place_of,
    possible,
    possible_kinds,
    possible_roles,
    renamed,
    split,
    texts,
    without,
)
from katapi.check.traverse import statements, sub_expressions
from katapi.check.wording import unreachable_arm
from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.language.syntax import Operator
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import LITERAL, BoolType, DateType, MessageType, OptionalType, may_be_absent, present

_BOOL = BoolType()
_ORDER = {
    Operator.LESS: lambda a, b: a < b,
    Operator.LESS_EQUAL: lambda a, b: a <= b,
    Operator.GREATER: lambda a, b: a > b,
    Operator.GREATER_EQUAL: lambda a, b: a >= b,
}


def check(program: Program) -> list[Diagnostic]:
    """The findings about tests whose outcome is known, and about values that are known to be absent."""
    template = program.template
    walked = [v.number for v in template.variables if v.binding is t.Binding.MESSAGES]
    analysis = _Outcomes(_advanced(template), walked)
    for definition in template.definitions:
        analysis.block(definition.body, {})
    after = analysis.block(template.body, {})
    for generate in template.generates:
        state = after if after is not None else {}
        if generate.condition is not None:
            state = analysis.test(generate.condition, state)[0] or {}
        analysis.block(generate.body, state)
    return list(dict.fromkeys(analysis.found))


def _advanced(template: t.Template) -> dict[str, frozenset[int]]:
    """The counters that each def may advance, itself or through others."""
    own = {d.name: _counters(d.body, {}) for d in template.definitions}
    for _ in own:
        own = {d.name: _counters(d.body, own) for d in template.definitions}
    return own


def _counters(block: t.Block, of_defs: dict[str, frozenset[int]]) -> frozenset[int]:
    """The counters that a block may advance."""
    out: set[int] = set()
    for statement in statements(block):
        match statement:
            case t.Advance(variable=variable):
                out.add(variable.number)
            case t.CallDef(name=name):
                out |= of_defs.get(name, frozenset())
            case _:
                pass
    return frozenset(out)


class _Outcomes:
    """Follows the statements with what is known at each."""

    def __init__(self, advanced: dict[str, frozenset[int]], walked: list[int]) -> None:
        self.found: list[Diagnostic] = []
        self._advanced = advanced
        self._walked = walked

    # ---- statements

    def block(self, block: t.Block, state: Known) -> Known | None:
        """What is known behind a block; None where it never comes to its end."""
        after: Known | None = state
        for statement in block.statements:
            if after is None:
                return None
            after = self._statement(statement, after)
        return after

    def _statement(self, statement: t.Statement, state: Known) -> Known | None:
        match statement:
            case t.Reject():
                return None
            case t.Block() | t.Sampled(body=_) | t.Joined(body=_) | t.Capture(body=_):
                inner = statement if isinstance(statement, t.Block) else statement.body
                return self.block(inner, state)
            case t.ImageOf(body=body):
                return either(state, self.block(body, state))
            case t.Let(variable=variable, value=value):
                self._value(value, state)
                return renamed(state, value, variable)
            case t.Print(value=value) | t.Begin(value=value):
                self._value(value, state)
            case t.CallDef(name=name, arguments=arguments):
                for argument in arguments:
                    self._value(argument, state)
                return without(state, self._advanced.get(name, ()))
            case t.Advance(variable=variable):
                return without(state, (variable.number,))
            case t.If():
                return self._if(statement, state, chained=False)
            case t.Each():
                self._each(statement, state)
                return without(state, _counters(statement.body, self._advanced))
            case t.Match():
                return self._match(statement, state)
            case t.Walk():
                changed = frozenset().union(*(_counters(arm.body, self._advanced) for arm in statement.arms))
                self._walk(statement, without(state, changed))
                return without(state, changed)
            case t.Take(otherwise=otherwise):
                state = without(state, self._walked)
                if otherwise is not None:
                    self.block(otherwise, state)
            case t.Drop():
                pass
        return state

    def _if(self, branch: t.If, state: Known, *, chained: bool) -> Known | None:
        """An `if`, or an `else if`, of which the last may say what is left."""
        found = len(self.found)
        yes, no = self.test(branch.test, state)
        if no is None and chained and branch.otherwise is None:
            self.found[found:] = [f for f in self.found[found:] if f.span != branch.test.span]
        ends = self.block(branch.then, state if yes is None else yes)
        other = no
        match branch.otherwise:
            case t.Block(statements=(t.If() as inner,)):
                other = self._if(inner, state if no is None else no, chained=True)
            case t.Block() as block:
                other = self.block(block, state if no is None else no)
            case None:
                pass
        if yes is None or no is None:
            return other if yes is None else ends
        return either(ends, other)

    def _each(self, each: t.Each, state: Known) -> None:
        self._list(each.source, state)
        inner: Known | None = without(state, _counters(each.body, self._advanced))
        assert inner is not None
        if each.condition is not None:
            inner = self.test(each.condition, inner)[0]
        if inner is not None:
            self.block(each.body, inner)

    def _walk(self, walk: t.Walk, state: Known) -> None:
        assert isinstance(walk.variable.type, MessageType)
        left: dict[str, Known | None] = dict.fromkeys(walk.variable.type.roles, state)
        for arm in walk.arms:
            message = t.Var(arm.variable, type=arm.variable.type, span=arm.span)
            ways = [
                learnt(known, message, Possible(texts([role])), ROLES)
                for role in arm.roles
                if (known := left[role]) is not None
            ]
            inside = either(*ways)
            if inside is None:
                self._in_vain(arm.span)
                continue
            if arm.condition is None:
                left.update(dict.fromkeys(arm.roles, None))
            else:
                inside, outside = self.test(arm.condition, inside)
                left.update({role: outside for role in arm.roles if left[role] is not None})
            if inside is not None:
                self.block(arm.body, inside)

    def _match(self, match: t.Match, state: Known) -> Known | None:
        self._value(match.subject, state)
        ends: list[Known | None] = []
        left: Known | None = state
        for arm in match.arms:
            fits, rest = (None, None) if left is None else self._fits(match.subject, arm, left)
            if fits is None:
                self._in_vain(arm.span)
                continue
            if arm.condition is not None:
                fits, outside = self.test(arm.condition, fits)
                rest = either(rest, outside)
            left = rest
            if fits is not None:
                ends.append(self.block(arm.body, fits))
        return either(*ends, left if match.unsure else None)

    def _fits(self, subject: t.Expr, arm: t.MatchArm, state: Known) -> Split:
        """What is known in an arm whose pattern fits, and where it does not."""
        if arm.other:
            return state, None
        inside: list[Known | None] = []
        rest: Known | None = state
        for text in arm.texts:
            if rest is not None:
                constant = t.TextConst(text, type=LITERAL, span=arm.span)
                yes, rest = self._equality(subject, constant, rest)
                inside.append(yes)
        if arm.kinds and rest is not None:
            yes, rest = split(rest, subject, possible_kinds(subject, rest), frozenset(arm.kinds), KINDS)
            inside.append(yes)
        return either(*inside), rest

    # ---- tests

    def test(self, test: t.Expr, state: Known) -> Split:
        """What is known where a test is true, and where it is false."""
        match test:
            case t.Not(operand=operand):
                yes, no = self.test(operand, state)
                return no, yes
            case t.And(operands=operands):
                return self._in_turn(operands, state, True)
            case t.Or(operands=operands):
                yes, no = self._in_turn(operands, state, False)
                return no, yes
            case _:
                found = len(self.found)
                if not isinstance(test, (t.Exists, t.Given)) or place_of(test.value) is None:
                    for part in () if place_of(test) is not None else sub_expressions(test):
                        self._part(test, part, state)
                yes, no = self._leaf(test, state)
                if (yes is None or no is None) and len(self.found) == found:
                    self._known(test.span, "never" if yes is None else "always")
                return yes, no

    def _in_turn(self, operands: tuple[t.Expr, ...], state: Known, truth: bool) -> Split:
        """Operands that are asked as long as they come out as `truth`: where all do, and where one does not."""
        all_: Known | None = state
        broken: list[Known | None] = []
        for operand in operands:
            if all_ is None:
                break
            yes, no = self.test(operand, all_)
            all_ = yes if truth else no
            broken.append(no if truth else yes)
        return all_, either(*broken)

    def _leaf(self, test: t.Expr, state: Known) -> Split:
        match test:
            case t.BoolConst(value=truth):
                return (state, None) if truth else (None, state)
            case t.Exists(value=value):
                no, yes = split(state, value, possible(value, state), frozenset({ABSENT}))
                return (yes, no) if may_be_absent(value.type) and no is not None else (yes, state)
            case t.Given(value=value):
                no, yes = split(state, value, possible(value, state), falsy(value.type))
                if isinstance(present(value.type), (DateType, MessageType)) or not may_be_absent(value.type):
                    return yes, no
                return yes, state if no is None else no
            case t.Compare(operator=operator, left=left, right=right):
                if operator in _ORDER:
                    return self._order(test, state)
                yes, no = self._equality(left, right, state)
                return (yes, no) if operator is Operator.EQUAL else (no, yes)
            case t.Within(value=value, container=t.ListConst(items=items)):
                return self._among(value, items, state)
            case t.IsRole(value=value, roles=roles):
                return self._role(value, roles, state)
            case t.IsJson(value=value, kinds=kinds):
                return split(state, value, possible_kinds(value, state), frozenset(kinds), KINDS)
            case t.TextTest(kind=kind, base=t.TextConst(text=text), needle=needle):
                outcomes = {
                    t.TextTestKind.HAS: needle in text,
                    t.TextTestKind.STARTS_WITH: text.startswith(needle),
                    t.TextTestKind.ENDS_WITH: text.endswith(needle),
                }
                return (state, None) if outcomes[kind] else (None, state)
            case _ if isinstance(test.type, BoolType):
                return split(state, test, possible(test, state), frozenset({("bool", True)}))
            case _:
                return state, state

    def _role(self, value: t.Expr, roles: tuple[str, ...], state: Known) -> Split:
        of = possible_roles(value, state)
        inside, outside = of.among(texts(roles)), of.but(texts(roles))
        there = possible(value, state).but(frozenset({ABSENT}))
        yes: Known | None = None
        if not inside.is_nothing and not there.is_nothing:
            yes = learnt(learnt(state, value, there), value, inside, ROLES)
        if not outside.is_nothing:
            return yes, learnt(state, value, outside, ROLES)
        return yes, learnt(state, value, Possible(frozenset({ABSENT}))) if may_be_absent(value.type) else None

    def _equality(self, left: t.Expr, right: t.Expr, state: Known) -> Split:
        one, other = possible(left, state), possible(right, state)
        for value, of, constant in ((left, one, constant_of(right)), (right, other, constant_of(left))):
            if constant is not None:
                return split(state, value, of, frozenset({constant}))
        if place_of(left) is not None and place_of(left) == place_of(right):
            return state, None
        if one.only is not None and other.only is not None and one.only.isdisjoint(other.only):
            return None, state
        return state, state

    def _order(self, test: t.Compare, state: Known) -> Split:
        """A comparison of whole numbers of which only few are possible."""
        left, right = possible(test.left, state).only, possible(test.right, state).only
        if left is None or right is None:
            return state, state
        numbers = [[c[1] for c in side if isinstance(c, tuple) and c[0] == "int"] for side in (left, right)]
        outcomes = {_ORDER[test.operator](a, b) for a in numbers[0] for b in numbers[1]}
        return state if True in outcomes else None, state if False in outcomes else None

    def _among(self, value: t.Expr, items: tuple[t.Expr, ...], state: Known) -> Split:
        constants = [constant_of(item) for item in items]
        if None in constants:
            return state, state
        return split(state, value, possible(value, state), frozenset(constants))

    # ---- values

    def _value(self, expr: t.Expr, state: Known) -> None:
        """The tests inside of an expression, and whether what it asks for can be there."""
        match expr:
            case t.Not() | t.And() | t.Or() | t.Compare() | t.Within() | t.Given() | t.Exists() | t.IsRole():
                self.test(expr, state)
            case t.IsJson():
                self.test(expr, state)
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                yes, no = self.test(test, state)
                for way, branch in ((yes, then), (no, otherwise)):
                    if way is not None:
                        self._value(branch, way)
            case t.Coalesce(options=options):
                self._coalesce(options, state)
            case t.Query(source=source, condition=condition):
                self._list(source, state)
                self.test(condition, state)
            case _:
                if isinstance(expr.type, OptionalType) and possible(expr, state).only == frozenset({ABSENT}):
                    self._absent(expr.span)
                    return
                for part in sub_expressions(expr):
                    self._value(part, state)

    def _list(self, source: t.Expr, state: Known) -> None:
        """What is gone through."""
        self._value(source, state)
        if isinstance(source, t.ListConst) and not source.items:
            self._nothing(source.span, "this list is always empty", "remove what goes through it")

    def _part(self, test: t.Expr, part: t.Expr, state: Known) -> None:
        """A part of a test; the condition of a query is a test itself."""
        if isinstance(test, t.Query) and part is test.condition:
            self.test(part, state)
        elif isinstance(test, t.Query):
            self._list(part, state)
        else:
            self._value(part, state)

    def _coalesce(self, options: Iterable[t.Expr], state: Known) -> None:
        for option in options:
            self._value(option, state)
            gone, _ = split(state, option, possible(option, state), frozenset({ABSENT}))
            state = state if gone is None else gone

    # ---- findings

    def _known(self, span: Span, word: str) -> None:
        help = "the types, or the tests before it, have settled it: remove it, or test something else"
        self._nothing(span, f"this test is {word} true here", help)

    def _absent(self, span: Span) -> None:
        help = "the tests before have shown that it is absent: remove it, or move it to where it is there"
        self._nothing(span, "this value is never there here", help)

    def _nothing(self, span: Span, message: str, help: str) -> None:
        self.found.append(Diagnostic("K214", span, message, help=help))

    def _in_vain(self, span: Span) -> None:
        self.found.append(unreachable_arm(span))
