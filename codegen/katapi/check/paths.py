"""What is known and what has been used on each way through a block.

A way is a set of answers to the tests that it passes. Two tests are the same when they ask the same about the same
value, so a field that is tested twice gives two ways and not four. Where ways would grow beyond a limit, those that use
the same values are joined into one that knows only what all of them know, and if need be all of them. A joined way
remembers what it forgot: where that would matter, it is not certain that there is such a way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from dataclasses import replace as with_

from katapi.check.traverse import value_parts, variables
from katapi.language.source import Source, Span
from katapi.language.syntax import Operator
from katapi.model import template as t
from katapi.model.declarations import ControlToken, Serialization
from katapi.model.request import Field, Request
from katapi.model.types import (
    BoolType,
    JsonKind,
    JsonType,
    ParsedType,
    TaggedType,
    TextType,
    is_content,
    kinds_told_apart,
    may_be_absent,
    present,
)

#: A variable's number and the steps from it to a value: names of declared fields, then `.key` for steps inside JSON.
Place = tuple[int | str, ...]

_MOST_WAYS = 32
_FUEL = 30_000  # steps of one analysis; a template that people wrote takes a few hundred
_SHOWN = 48  # code points of a test in a message


@dataclass(frozen=True, slots=True)
class Fact:
    """The answer to one test; `words` say it in a message."""

    key: Hashable
    truth: bool
    words: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Way:
    """One way through a block: the values used on it, the answers given, the roles of the messages at hand.

    An unsure way leads through a statement with a mistake, which may use any value. A joined way has `forgotten` tests
    whose answers differed, and values that only `some` of the ways used. It is vague once such a test comes again.
    """

    used: frozenset[Place] = frozenset()
    facts: tuple[Fact, ...] = ()
    roles: tuple[tuple[int, str], ...] = ()
    unsure: bool = False
    vague: bool = False
    forgotten: frozenset[Hashable] = frozenset()
    some: frozenset[Place] = frozenset()

    def become_unsure(self) -> Way:
        """The way through a statement with a mistake."""
        return with_(self, unsure=True)

    def use(self, place: Place) -> Way:
        """The way on which one more value is used; using a part of a JSON value uses the value."""
        declared = tuple(step for step in place if isinstance(step, int) or not step.startswith("."))
        return self if self.uses(declared) else with_(self, used=self.used | {declared})

    def uses(self, place: Place) -> bool:
        """Whether a value, or one that holds it, is used."""
        return self.unsure or place in self.used or any(place[:n] in self.used for n in range(1, len(place)))

    def answer(self, key: Hashable) -> bool | None:
        """The answer to a test, where it is known."""
        return next((fact.truth for fact in self.facts if fact.key == key), None)

    def learn(self, key: Hashable, truth: bool, words: str) -> Way | None:
        """The way after one more answer; None where it contradicts an earlier one."""
        known = self.answer(key)
        if known is None:
            vague = self.vague or not self.forgotten.isdisjoint(_subjects(key))
            return with_(self, facts=(*self.facts, Fact(key, truth, words)), vague=vague)
        return self if known is truth else None

    def role(self, number: int) -> str | None:
        """The role of the message in a variable, or the kind of record in it, where it is known."""
        return next((role for variable, role in self.roles if variable == number), None)

    def with_role(self, number: int, role: str) -> Way:
        """The way on which the message in a variable has a role."""
        return with_(self, roles=(*self.roles, (number, role)))


def join(ways: Iterable[Way]) -> list[Way]:
    """At most one way, which knows what all of them know."""
    each = list(ways)
    if not each:
        return []
    first = each[0]
    places = frozenset().union(*(way.used for way in each))
    used = frozenset(p for p in places if all(way.uses(p) for way in each))
    known = frozenset(first.facts).intersection(*(way.facts for way in each))
    facts = tuple(fact for fact in first.facts if fact in known)
    roles = tuple(r for r in first.roles if all(r in w.roles for w in each))
    kept = frozenset(facts)
    lost = frozenset(f.key for way in each for f in way.facts if f not in kept)
    forgotten = frozenset(_subjects(key)[-1] for key in lost).union(*(way.forgotten for way in each))
    some = (places - used).union(*(way.some for way in each))
    unsure, vague = all(way.unsure for way in each), all(way.vague for way in each)
    return [Way(used, facts, roles, unsure, vague, forgotten, some)]


def _subjects(key: Hashable) -> tuple[Hashable, ...]:
    """What a test asks about: a variable and its field, or the test itself; two that share none are independent."""
    match key:
        case ("exists" | "given", (int(), *_) as place):
            return (place[:1], place[:2])
        case _:
            return (key,)


def limited(ways: Iterable[Way]) -> list[Way]:
    """The ways without doubles, joined into one where they are too many."""
    each = list(dict.fromkeys(ways))
    if len(each) <= _MOST_WAYS:
        return each
    groups: dict[Hashable, list[Way]] = {}
    for way in each:
        groups.setdefault((way.used, way.roles, way.unsure, way.vague), []).append(way)
    return join(each) if len(groups) > _MOST_WAYS else [one for group in groups.values() for one in join(group)]


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression comes to on a way: an expression without choices, and the fields asked of it."""

    expr: t.Expr
    steps: tuple[str, ...]

    @property
    def place(self) -> Place | None:
        """The place of the value, where it is a variable or a part of one."""
        return (self.expr.variable.number, *self.steps) if isinstance(self.expr, t.Var) else None


def _merged(found: list[tuple[Way, Value]]) -> list[tuple[Way, Value]]:
    """The values with as many ways for each as are followed."""
    if len(found) <= _MOST_WAYS:
        return found
    groups: dict[Hashable, tuple[Value, list[Way]]] = {}
    for way, value in found:
        groups.setdefault((value.place or id(value.expr), value.steps), (value, []))[1].append(way)
    return [(way, value) for value, ways in groups.values() for way in limited(ways)]


class Paths:
    """Follows expressions and tests along ways."""

    def __init__(self, source: Source, lets: Mapping[int, t.Expr], request: Request, *, counting: bool) -> None:
        """`counting` says whether the template has counters."""
        self._source = source
        self._lets = {number: value for number, value in lets.items() if not _is_counter(value)}
        self._named_roles = request.named_roles
        self._counting = counting
        self._fuel = _FUEL

    @property
    def gave_up(self) -> bool:
        """Whether there were more steps than are followed; a way that was not followed is unsure."""
        return self._fuel < 0

    # ---- values

    def values(self, way: Way, expr: t.Expr, steps: tuple[str, ...] = ()) -> list[tuple[Way, Value]]:
        """What an expression may come to, each with the way on which it does."""
        self._fuel -= 1
        if self._fuel < 0:
            return [(way.become_unsure(), Value(t.BoolConst(False, type=BoolType(), span=expr.span), ()))]
        match expr:
            case t.Var(variable=variable) if variable.number in self._lets:
                return self.values(way, self._lets[variable.number], steps)
            case t.FieldOf(base=base, field=declared):
                return self.values(way, base, (declared.name, *steps))
            case t.RoleOf(base=base) if is_content(expr.type):
                return self.values(way, base, ("role", *steps))
            case t.JsonFieldOf(base=base, key=key):
                return self.values(way, base, ("." + key, *steps))
            case t.EndOf(base=base, end=end) if self._inside_json(base):
                return self.values(way, base, (f".[{end.value}]", *steps))
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                branches = ((then, True), (otherwise, False))
                return _merged(
                    [
                        v
                        for part, truth in branches
                        for w in self.assume(way, test, truth)
                        for v in self.values(w, part, steps)
                    ]
                )
            case t.Coalesce(options=options):
                return self._coalesced(way, options, steps)
            case _:
                return [(way, Value(expr, steps))]

    def _coalesced(self, way: Way, options: tuple[t.Expr, ...], steps: tuple[str, ...]) -> list[tuple[Way, Value]]:
        out: list[tuple[Way, Value]] = []
        ways = [way]
        for option in options[:-1]:
            absent: list[Way] = []
            for one in ways:
                for found, value in self.values(one, option):
                    there = self._exists(found, value, True, option.span)
                    if there is not None:
                        out.append((there, Value(value.expr, value.steps + steps)))
                    gone = self._exists(found, value, False, option.span)
                    if gone is not None:
                        absent.append(gone)
            ways = limited(absent)
        return _merged(out + [v for one in ways for v in self.values(one, options[-1], steps)])

    def _inside_json(self, expr: t.Expr) -> bool:
        match expr:
            case t.JsonFieldOf():
                return True
            case t.Var(variable=variable) if variable.number in self._lets:
                return self._inside_json(self._lets[variable.number])
            case t.Var(variable=variable):
                return isinstance(present(variable.type), (JsonType, ParsedType))
            case t.FieldOf(field=declared):
                return isinstance(present(declared.type), (JsonType, ParsedType))
            case _:
                return False

    def use(self, way: Way, expr: t.Expr) -> list[Way]:
        """The ways after the value of an expression has been printed, passed on or dropped."""
        return limited(w for one, value in self.values(way, expr) for w in self._use_value(one, value))

    def _use_value(self, way: Way, value: Value) -> list[Way]:
        if value.place is not None:
            return [way.use(value.place)]
        match value.expr:
            case t.Cut() | t.Rewrite() | t.FormatDate() | t.Serialize() | t.ObjectExpr() | t.ListConst():
                ways = [way]
                for part in value_parts(value.expr):
                    ways = limited(w for one in ways for w in self.use(one, part))
                return ways
            case _:
                return [way]

    # ---- tests

    def assume(self, way: Way, test: t.Expr, truth: bool) -> list[Way]:
        """The ways on which a test has this answer."""
        self._fuel -= 1
        if self._fuel < 0:
            return [way.become_unsure()]
        match test:
            case t.Not(operand=operand):
                return self.assume(way, operand, not truth)
            case t.And(operands=operands):
                return self._assume_all(way, operands, True) if truth else self._assume_any(way, operands, False)
            case t.Or(operands=operands):
                return self._assume_any(way, operands, True) if truth else self._assume_all(way, operands, False)
            case _ if self._counting and any(v.binding is t.Binding.COUNTER for v in variables(test)):
                return [way]
            case t.Given(value=asked):
                found = self.values(way, asked)
                return limited(w for one, v in found for w in self._given(one, v, truth, asked.span))
            case t.Exists(value=asked):
                found = self.values(way, asked)
                return limited(w for one, v in found if (w := self._exists(one, v, truth, asked.span)) is not None)
            case t.Var() | t.FieldOf() | t.JsonFieldOf() | t.EndOf() | t.Conditional() | t.Coalesce():
                found = self.values(way, test)
                return limited(w for one, v in found for w in self._bool(one, v, truth, test.span))
            case _:
                return self._plain(way, test, truth)

    def _assume_all(self, way: Way, operands: tuple[t.Expr, ...], truth: bool) -> list[Way]:
        ways = [way]
        for operand in operands:
            ways = limited(w for one in ways for w in self.assume(one, operand, truth))
        return ways

    def _assume_any(self, way: Way, operands: tuple[t.Expr, ...], truth: bool) -> list[Way]:
        out: list[Way] = []
        ways = [way]
        for operand in operands:
            out.extend(w for one in ways for w in self.assume(one, operand, truth))
            ways = limited(w for one in ways for w in self.assume(one, operand, not truth))
        return limited(out)

    def _bool(self, way: Way, value: Value, truth: bool, span: Span) -> list[Way]:
        """A value that is itself a test; asking a field for its truth uses it."""
        if isinstance(value.expr, t.BoolConst):
            return [way] if value.expr.value is truth else []
        if value.place is None and (value.steps or isinstance(value.expr, t.EndOf)):
            answer = way.learn(("given", _key(value.expr), value.steps), truth, self._says(span, truth))
            return [] if answer is None else [answer]
        if value.place is None:
            return self.assume(way, value.expr, truth)
        known = way.learn(("given", value.place), truth, self._says(span, truth))
        return [] if known is None else [known.use(value.place)]

    def _exists(self, way: Way, value: Value, truth: bool, span: Span) -> Way | None:
        place = value.place
        if place is None:
            if value.steps or may_be_absent(value.expr.type):
                return way.learn(("exists", _key(value.expr), value.steps), truth, self._presence(span, truth))
            return way if truth else None
        if any(way.answer(("exists", place[:n])) is False for n in range(1, len(place))):
            return None if truth else way
        if way.answer(("given", place)) and not truth:
            return None
        known = way.learn(("exists", place), truth, self._presence(span, truth))
        return known if truth or known is None else _without(known, place)

    def _given(self, way: Way, value: Value, truth: bool, span: Span) -> list[Way]:
        match value.expr:
            case t.TextConst(text=constant):
                return [way] if bool(constant) is truth else []
            case t.ListConst(items=items):
                return [way] if bool(items) is truth else []
            case t.BoolConst() | t.IntConst():
                return [way] if bool(value.expr.value) is truth else []
            case t.Var() if _is_counter(value.expr):
                return [way]
            case _:
                pass
        says = f"`{self._quoted(span)}` is " + ("given" if truth else "not given")
        if value.place is None:
            known = way.learn(("given", _key(value.expr), value.steps), truth, says)
            if known is None:
                return []
            # Nothing is left of a text that was cut: what the cut took off would not have been printed either.
            empty = isinstance(value.expr, t.Cut | t.Rewrite) and not truth
            return self._use_value(known, value) if empty else [known]
        if truth and self._exists(way, value, True, span) is None:
            return []
        known = way.learn(("given", value.place), truth, says)
        if known is None:
            return []
        return [known] if truth else [_without(known, value.place)]

    def _plain(self, way: Way, test: t.Expr, truth: bool) -> list[Way]:
        """A test without structure of its own."""
        match test:
            case t.IsRole(value=t.Var(variable=variable), roles=roles) if role := way.role(variable.number):
                return [way] if (role in roles) is truth else []
            case t.Compare(operator=operator, left=left, right=right) if operator in (
                Operator.EQUAL,
                Operator.NOT_EQUAL,
            ):
                return self._equality(way, left, right, (operator is Operator.EQUAL) is truth, test.span)
            case _:
                pass
        known = way.learn(_key(test), truth, self._says(test.span, truth))
        if known is None:
            return []
        if isinstance(test, t.IsJson):
            kinds = kinds_told_apart(test.value.type) or frozenset()
            left_over = kinds & test.kinds if truth else kinds - test.kinds
            if left_over <= {JsonKind.NULL}:
                return self.use(known, test.value)
        return [known]

    def _equality(self, way: Way, left: t.Expr, right: t.Expr, equal: bool, span: Span) -> list[Way]:
        for side, other in ((left, right), (right, left)):
            if isinstance(other, t.TextConst):
                found = self.values(way, side)
                return limited(w for one, v in found for w in self._text(one, v, other.text, equal, side, span))
        answer = way.learn(("equal", _key(left), _key(right)), equal, self._says(span, equal))
        if answer is None:
            return []
        ways = [answer]
        for side, other in ((left, right), (right, left)):
            if isinstance(present(side.type), BoolType):
                ways = limited(w for one in ways for w in self.use(one, side))
            if equal and isinstance(side, t.LengthOf) and isinstance(other, t.IntConst) and not other.value:
                ways = limited(w for one in ways for w in self.use(one, side.base))
        return ways

    def _text(self, way: Way, value: Value, text: str, equal: bool, side: t.Expr, span: Span) -> list[Way]:
        """Whether a value is a text that is written in the template."""
        match value.expr:
            case t.TextConst(text=constant):
                return [way] if (constant == text) is equal else []
            case t.RoleOf(base=t.Var(variable=variable)) if role := way.role(variable.number):
                return [way] if (role == text) is equal else []
            case t.Var(variable=variable) if values := self.tag_values(way, variable, value.steps):
                if text not in values or values == (text,):
                    return [way.use(value.place or ())] if (text in values) is equal else []
            case t.Var(variable=variable) if value.steps == ("role",) and (role := way.role(variable.number)):
                if role in self._named_roles or text in self._named_roles:
                    return [way] if (role == text) is equal else []
            case _:
                pass
        if value.place is not None and not text:
            given = self._given(way, value, not equal, side.span)
            absent = None if equal else self._exists(way, value, False, side.span)
            there = [w for one in given if (w := self._exists(one, value, True, side.span)) is not None]
            return [*there, absent] if absent is not None and may_be_absent(side.type) else there
        known = way.learn(("equal", _key(value.expr), value.steps, text), equal, self._says(span, equal))
        if known is None:
            return []
        of = present(side.type)
        if isinstance(of, TextType) and (of.choices is not None or (equal and _is_role(value))):
            return self.use(known, side)
        return self._given(known, value, True, side.span) if equal and value.place is not None else [known]

    def tag_values(self, way: Way, variable: t.Variable, steps: tuple[str, ...]) -> tuple[str, ...]:
        """The values of a tag, where it is known which of the records that it tells apart a variable holds."""
        of = present(variable.type)
        record = way.role(variable.number)
        if not isinstance(of, TaggedType) or steps != (of.tag,) or record is None:
            return ()
        return dict(of.members)[record]

    # ---- words

    def _quoted(self, span: Span) -> str:
        text = " ".join(self._source.text_of(span).split())
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    def _says(self, span: Span, truth: bool) -> str:
        return f"`{self._quoted(span)}` is {'true' if truth else 'false'}"

    def _presence(self, span: Span, truth: bool) -> str:
        return f"`{self._quoted(span)}` is {'there' if truth else 'absent'}"


def _is_role(value: Value) -> bool:
    """Whether a value is the role of a message; a role is known once it is equal to a text."""
    return value.steps[-1:] == ("role",)


def _without(way: Way, place: Place) -> Way:
    """The way on which a value is absent or empty, so that nothing of it can be lost; keys inside JSON tell nothing."""
    inside_json = any(isinstance(step, str) and step.startswith(".") for step in place)
    return way if inside_json else way.use(place)


def _is_counter(value: t.Expr) -> bool:
    """Whether a value changes while the template prints, so that two tests of it may have different answers."""
    return isinstance(value, t.Var) and value.variable.binding is t.Binding.COUNTER


def _key(part: object) -> Hashable:
    """What tells two expressions apart: everything but their types and places."""
    match part:
        case t.Var(variable=variable):
            return ("variable", variable.number)
        case t.Variable(number=number):
            return number
        case Field(name=name) | ControlToken(name=name):
            return name
        case Serialization(identity=identity):
            return identity
        case tuple():
            return tuple(_key(item) for item in part)
        case t.Typed():
            return (
                type(part).__name__,
                *(_key(getattr(part, f.name)) for f in fields(part) if f.name not in ("type", "span")),
            )
        case _:
            assert isinstance(part, Hashable)
            return part
