"""What an expression of a template means: one case a kind of node, each in the plainest words.

A text keeps where it came from: a literal its place in the spec, content its path and its offset in the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, assert_never

from katapi.language.source import Source, Span
from katapi.language.syntax import End, Neighbour, Operator, Quantifier, Side
from katapi.model import template as t
from katapi.model.declarations import AbsentPairs
from katapi.model.declarations import ControlToken as DeclaredToken
from katapi.model.sites import site_of
from katapi.model.types import OptionalType, is_content
from katapi.oracle.characters import lower_case
from katapi.oracle.dates import formatted
from katapi.oracle.serialize import json_text
from katapi.oracle.values import (
    Absent,
    Items,
    Merged,
    Moment,
    OracleMessage,
    Pairs,
    Passage,
    Record,
    Text,
    Truth,
    Value,
    Whole,
    are_equal,
    common_path,
    is_given,
    is_text,
    kind_of,
    path_of,
)
from katapi.runtime.segments import (
    Content,
    ContentSegment,
    ControlSegment,
    ControlToken,
    Literal,
    LiteralSegment,
    Path,
    Site,
)

WHITE_SPACE = frozenset(
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What `trim` takes off unless it is told otherwise: Unicode's White_Space and U+001C to U+001F."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What does not change while a template runs: the source, and a control token for each that is declared."""

    source: Source
    controls: dict[DeclaredToken, ControlToken]

    def site(self, span: Span) -> Site:
        """Where something stands in the spec."""
        return site_of(span, self.source)


@dataclass(slots=True)
class Frame:
    """The values of all names in force. A `def` that is called gets a frame of its own.

    `walked` is what the walk goes through; it is empty outside of a walk. `rounds` tells for the item of each loop
    whether it is the first and whether it is the last. All frames share the `counters`.
    """

    spec: Spec
    counters: dict[int, int]
    values: dict[int, Value] = field(default_factory=dict)
    walked: tuple[OracleMessage, ...] = ()
    rounds: dict[int, tuple[bool, bool]] = field(default_factory=dict)

    def bind(self, variable: t.Variable, value: Value) -> None:
        """Gives a name its value; every variable of a template has a number of its own."""
        self.values[variable.number] = value

    def advance(self, counter: t.Variable) -> None:
        """Lets a counter go up by one: one that all frames share, or one of a block."""
        if counter.number in self.counters:
            self.counters[counter.number] += 1
            return
        value = self.values[counter.number]
        assert isinstance(value, Whole), "a counter is a whole number"
        self.values[counter.number] = Whole(value.value + 1, None)

    def holds(self, condition: t.Expr | None) -> bool:
        """Whether a condition comes out true; one that is not there does."""
        if condition is None:
            return True
        value = self.evaluate(condition)
        assert isinstance(value, Truth), "the resolver knows conditions to be bools"
        return value.value

    def evaluate(self, expr: t.Expr) -> Value:
        """The value of an expression."""
        match expr:
            case t.Var(variable=variable) if variable.number in self.counters:
                return Whole(self.counters[variable.number], None)
            case t.Var(variable=variable):
                return self.values[variable.number]
            case t.FieldOf():
                return self._field(expr)
            case t.RoleOf(base=base, span=span):
                message = self.evaluate(base)
                if not isinstance(message, OracleMessage):
                    return Absent(None)
                if is_content(expr.type):
                    return ContentSegment(Content(message.spelled), (*message.path, "role"), 0)
                return LiteralSegment(Literal(message.role), self.spec.site(span))
            case t.JsonFieldOf(base=base, key=key):
                return self._json_field(self.evaluate(base), key)
            case t.LengthOf(base=base):
                return self._length(self.evaluate(base))
            case t.EndOf(base=base, end=end):
                return self._end(self.evaluate(base), end)
            case t.ControlConst(token=token, span=span):
                return ControlSegment(self.spec.controls[token], self.spec.site(span))
            case t.TextConst(text=text, span=span):
                return LiteralSegment(Literal(text), self.spec.site(span))
            case t.IntConst(value=number):
                return Whole(number, None)
            case t.BoolConst(value=truth):
                return Truth(truth, None)
            case t.ListConst(items=expressions):
                values = tuple(self.evaluate(e) for e in expressions)
                return Items(values, common_path(map(path_of, values)))
            case t.ObjectExpr():
                return self._object(expr)
            case t.Cut(kind=kind, base=base, argument=argument):
                return _cut(self.text(base), kind, argument)
            case t.Rewrite(kind=rewrite, base=base, arguments=arguments):
                return _rewrite(self.text(base), rewrite, [argument.text for argument in arguments])
            case t.FormatDate(base=base, pattern=pattern):
                date = self.evaluate(base)
                assert isinstance(date, Moment), "the resolver knows this to be a date"
                return ContentSegment(Content(formatted(date.value, pattern.text)), date.path, None)
            case t.TextTest(kind=test, base=base, needle=needle):
                return Truth(_text_test(self.text(base).text, test, needle), None)
            case t.HasKey(base=base, key=key):
                value = self.evaluate(base)
                return Truth(isinstance(value, Pairs) and value.get(key) is not None, None)
            case t.Coalesce(options=options):
                return self._coalesce(options)
            case t.Conditional(test=condition, then=then, otherwise=otherwise):
                return self.evaluate(then if self.holds(condition) else otherwise)
            case t.Or(operands=operands):
                return Truth(any(self.holds(o) for o in operands), None)
            case t.And(operands=operands):
                return Truth(all(self.holds(o) for o in operands), None)
            case t.Not(operand=operand):
                return Truth(not self.holds(operand), None)
            case t.Compare(operator=operator, left=left, right=right):
                return Truth(_compare(operator, self.evaluate(left), self.evaluate(right)), None)
            case t.Within(value=value_expr, container=container):
                value = self.evaluate(value_expr)
                return Truth(any(are_equal(value, item) for item in self.items(container)), None)
            case t.IsRole(value=value_expr, roles=roles):
                value = self.evaluate(value_expr)
                return Truth(isinstance(value, OracleMessage) and value.role in roles, None)
            case t.IsJson(value=value_expr, kinds=kinds):
                return Truth(kind_of(self.evaluate(value_expr)) in kinds, None)
            case t.IsEnd(variable=variable, end=end) if variable.binding is not t.Binding.WALK:
                is_first, is_last = self.rounds[variable.number]
                return Truth(is_first if end is End.FIRST else is_last, None)
            case t.IsEnd(variable=variable, end=end):
                edge = self.walked[0] if end is End.FIRST else self.walked[-1]
                return Truth(self._message(variable).position == edge.position, None)
            case t.IsBeside(value=value_expr, side=side, other=other):
                return Truth(_is_beside(self.evaluate(value_expr), side, self.evaluate(other)), None)
            case t.Given(value=value_expr):
                return Truth(is_given(self.evaluate(value_expr)), None)
            case t.Exists(value=value_expr):
                return Truth(not isinstance(self.evaluate(value_expr), Absent), None)
            case t.Query():
                return self._query(expr)
            case t.View(variable=variable, side=side):
                here = self._message(variable)
                return Items(tuple(m for m in self.walked if _is_beside(m, side, here)), ("messages",))
            case t.NeighbourOf(variable=variable, neighbour=neighbour):
                return self._neighbour(self._message(variable), neighbour)
            case t.Serialize(value=value_expr, serialization=serialization):
                value = self.evaluate(value_expr)
                return ContentSegment(Content(json_text(value, serialization)), path_of(value) or (), None)
            case _:
                assert_never(expr)

    def text(self, expr: t.Expr) -> Text:
        """The value of an expression that the resolver knows to be a text."""
        text = is_text(self.evaluate(expr))
        assert text is not None, "the resolver knows this to be a text"
        return text

    def items(self, expr: t.Expr) -> tuple[Value, ...]:
        """The items of an expression that the resolver knows to be a list."""
        items = self._items_or_none(expr)
        assert items is not None, "the resolver knows this to be a list"
        return items

    def _items_or_none(self, expr: t.Expr) -> tuple[Value, ...] | None:
        value = self.evaluate(expr)
        return value.items if isinstance(value, Items) else None

    def _message(self, variable: t.Variable) -> OracleMessage:
        value = self.values[variable.number]
        assert isinstance(value, OracleMessage), "a walk binds its variable to a message"
        return value

    def _field(self, expr: t.FieldOf) -> Value:
        base = self.evaluate(expr.base)
        if isinstance(base, (OracleMessage, Record)):
            return base.fields[expr.field.name]
        return Absent(_below(path_of(base), expr.field.name))

    def _json_field(self, base: Value, key: str) -> Value:
        found = base.get(key) if isinstance(base, Pairs) else None
        if found is not None:
            return found
        return Absent(_below(path_of(base), key))

    def _end(self, base: Value, end: End) -> Value:
        if not isinstance(base, Items) or not base.items:
            return Absent(_below(path_of(base), 0 if end is End.FIRST else -1))
        return base.items[0] if end is End.FIRST else base.items[-1]

    def _length(self, base: Value) -> Value:
        if isinstance(base, Items):
            return Whole(len(base.items), None)
        text = is_text(base)
        return Absent(None) if text is None else Whole(len(text.text), None)

    def _object(self, expr: t.ObjectExpr) -> Value:
        """Pairs whose value may be left out, and is, are left out or null; a null that came as JSON stays.

        The object comes from the place that its values share, those that were left out included.
        """
        values = [(key, value, self.evaluate(value)) for key, value in expr.pairs]
        pairs = tuple(
            (key, found)
            for key, value, found in values
            if expr.absent is AbsentPairs.NULL
            or not (isinstance(found, Absent) and isinstance(value.type, OptionalType))
        )
        return Pairs(pairs, common_path(path_of(found) for _, _, found in values))

    def _coalesce(self, options: tuple[t.Expr, ...]) -> Value:
        for option in options[:-1]:
            value = self.evaluate(option)
            if not isinstance(value, Absent):
                return value
        return self.evaluate(options[-1])

    def _query(self, expr: t.Query) -> Value:
        hits: list[Value] = []
        items = self.items(expr.source)
        for item in items:
            self.bind(expr.variable, item)
            if self.holds(expr.condition):
                hits.append(item)
        nothing = Absent(_below(self._searched(expr.source), -1))
        match expr.quantifier:
            case Quantifier.ANY:
                return Truth(len(hits) > 0, None)
            case Quantifier.ALL:
                return Truth(len(hits) == len(items), None)
            case Quantifier.COUNT:
                return Whole(len(hits), None)
            case Quantifier.FIRST:
                return hits[0] if hits else nothing
            case Quantifier.LAST:
                return hits[-1] if hits else nothing

    def _searched(self, source: t.Expr) -> Path | None:
        """Where the items of a list would stand: `[]`, which may stand for the list, has none."""
        match source:
            case t.Coalesce(options=(listed, t.ListConst(items=()))):
                return path_of(self.evaluate(listed))
            case t.Conditional(then=listed, otherwise=t.ListConst(items=())):
                return path_of(self.evaluate(listed))
            case t.Conditional(then=t.ListConst(items=()), otherwise=listed):
                return path_of(self.evaluate(listed))
            case _:
                return path_of(self.evaluate(source))

    def _neighbour(self, message: OracleMessage, neighbour: Neighbour) -> Value:
        if neighbour is Neighbour.PREV:
            before = [other for other in self.walked if other.position < message.position]
            return before[-1] if before else Absent(None)
        after = [other for other in self.walked if other.position > message.position]
        return after[0] if after else Absent(None)


def _below(path: Path | None, step: str | int) -> Path | None:
    """Where a field or item would stand that is not there."""
    return None if path is None else (*path, step)


def _cut(source: Text, kind: t.CutKind, argument: str | None) -> Text:
    text = source.text
    start, end = 0, len(text)
    if kind in (t.CutKind.TRIM, t.CutKind.TRIM_START, t.CutKind.TRIM_END):
        taken = WHITE_SPACE if argument is None else frozenset(argument)
        while kind is not t.CutKind.TRIM_END and start < end and text[start] in taken:
            start += 1
        while kind is not t.CutKind.TRIM_START and start < end and text[end - 1] in taken:
            end -= 1
        return _stretch(source, start, end)
    assert argument is not None, "the resolver asks for what to look for"
    places = [at for at in range(len(text)) if text.startswith(argument, at)]
    if not places:
        return source
    match kind:
        case t.CutKind.BEFORE:
            end = places[0]
        case t.CutKind.BEFORE_LAST:
            end = places[-1]
        case t.CutKind.AFTER:
            start = places[0] + len(argument)
        case t.CutKind.AFTER_LAST:
            start = places[-1] + len(argument)
    return _stretch(source, start, end)


def _stretch(source: Text, start: int, end: int) -> Text:
    """A part of a text, which remembers where it stood."""
    if isinstance(source, LiteralSegment):
        return LiteralSegment(Literal(source.text[start:end]), source.site)
    if isinstance(source, Passage):
        whole = (start, end) == (0, len(source.text))
        return source if whole else Passage(tuple(_within(source.pieces, start, end)))
    if isinstance(source, Merged):
        return Merged(tuple(_within(source.pieces, start, end)), source.path)
    moved = None if source.start is None else source.start + start
    return ContentSegment(Content(source.text[start:end]), source.path, moved)


PieceT = TypeVar("PieceT", bound=LiteralSegment | ContentSegment)


def _within(pieces: Sequence[PieceT], start: int, end: int) -> Iterator[PieceT]:
    """Of each piece what lies in a part of the whole text, without the pieces of which nothing does."""
    place = 0
    for piece in pieces:
        inner = max(start - place, 0), min(end - place, len(piece.text))
        if inner[0] < inner[1]:
            part = _stretch(piece, *inner)
            assert isinstance(part, type(piece)), "a part of a piece is such a piece"
            yield part
        place += len(piece.text)


def _rewrite(source: Text, kind: t.RewriteKind, arguments: list[str]) -> Text:
    """A new text, which comes from all of the value; where it is the same text, it is that text."""
    made = _rewritten(source.text, kind, arguments)
    if made == source.text:
        return source
    if isinstance(source, Passage):
        path = common_path(piece.path for piece in source.pieces if isinstance(piece, ContentSegment))
        first = source.pieces[0]
        if path is None and isinstance(first, LiteralSegment):
            return LiteralSegment(Literal(made), first.site)
        return ContentSegment(Content(made), path or (), None)
    if isinstance(source, LiteralSegment):
        return LiteralSegment(Literal(made), source.site)
    return ContentSegment(Content(made), source.path, None)


def _rewritten(text: str, kind: t.RewriteKind, arguments: list[str]) -> str:
    match kind:
        case t.RewriteKind.REPLACE:
            return arguments[1].join(text.split(arguments[0]))
        case t.RewriteKind.WITHOUT:
            return _without(text, *arguments)
        case t.RewriteKind.LOWER:
            return in_lower_case(text)
        case t.RewriteKind.UPPER:
            return "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in text)


def _without(text: str, opening: str, closing: str) -> str:
    kept = ""
    left = True
    while left:
        end = text.find(closing)
        part, left = (text, False) if end < 0 else (text[:end], True)
        start = part.find(opening)
        kept += part if start < 0 else part[:start]
        text = text[end + len(closing) :]
    return kept


def in_lower_case(text: str) -> str:
    """A text in lower case, a character at a time, as Unicode 17.0 has it."""
    table = lower_case("17.0")
    return "".join(table.get(c, c) for c in text)


def _text_test(text: str, kind: t.TextTestKind, needle: str) -> bool:
    match kind:
        case t.TextTestKind.STARTS_WITH:
            return text.startswith(needle)
        case t.TextTestKind.ENDS_WITH:
            return text.endswith(needle)
        case t.TextTestKind.HAS:
            return needle in text


def _compare(operator: Operator, left: Value, right: Value) -> bool:
    if operator is Operator.EQUAL:
        return are_equal(left, right)
    if operator is Operator.NOT_EQUAL:
        return not are_equal(left, right)
    assert isinstance(left, Whole), "the resolver lets only whole numbers be ordered"
    assert isinstance(right, Whole), "the resolver lets only whole numbers be ordered"
    match operator:
        case Operator.LESS:
            return left.value < right.value
        case Operator.LESS_EQUAL:
            return left.value <= right.value
        case Operator.GREATER:
            return left.value > right.value
        case Operator.GREATER_EQUAL:
            return left.value >= right.value


def _is_beside(value: Value, side: Side, other: Value) -> bool:
    if not isinstance(value, OracleMessage) or not isinstance(other, OracleMessage):
        return False
    return value.position > other.position if side is Side.AFTER else value.position < other.position
