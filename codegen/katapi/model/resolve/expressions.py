"""Expressions of a template → typed expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from katapi.language import syntax as s
from katapi.language.source import Span
from katapi.model import template as t
from katapi.model.declarations import AbsentPairs, ControlToken, Serialization, Vocabulary
from katapi.model.request import Record, Request
from katapi.model.resolve.empty_lists import with_item_types
from katapi.model.resolve.fields import Fields
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.functions import Functions
from katapi.model.resolve.scope import Scope, facts
from katapi.model.resolve.serializations import unknown_serialization
from katapi.model.types import (
    ANY_JSON,
    CONTENT,
    KIND_WORDS,
    LITERAL,
    OBJECT,
    BoolType,
    ControlType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    MessageType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Trust,
    Type,
    UnionType,
    describe,
    holds_verbatim,
    join,
    json_kinds,
    kinds_told_apart,
    may_be_absent,
    optional,
    present,
)

#: Bindings that no line of the file makes.
_GIVEN = (t.Binding.MESSAGES, t.Binding.GENERATING, t.Binding.TOOLS, t.Binding.DOCUMENTS)
_SCALAR = KIND_WORDS["text"] | KIND_WORDS["number"] | KIND_WORDS["bool"] | KIND_WORDS["null"]
BOOL = BoolType()
INT = IntType()


#: What is meant by words that begin a statement and are read as names where the rest of it is missing.
_HELP = {"image": "the image of a part `p` is shown by `image p by PIPELINE { … }`"}


class Expressions:
    """Resolves expressions against one vocabulary, request and set of serializations."""

    def __init__(
        self,
        findings: Findings,
        vocabulary: Vocabulary,
        request: Request,
        serializations: dict[str, Serialization],
    ) -> None:
        self._findings = findings
        self._vocabulary = vocabulary
        self._request = request
        self._serializations = serializations
        self._fields = Fields(findings, request)
        self._functions = Functions(findings)
        self._variables = 0
        self._loops: dict[int, bool] = {}

    def variable(self, name: str, binding: t.Binding, of: Type, span: Span) -> t.Variable:
        """A fresh variable."""
        self._variables += 1
        return t.Variable(name, self._variables, binding, of, span)

    def enter(self, loop: tuple[t.Variable, ...], *, filtered: bool) -> None:
        """Notes that the body of a loop begins, which may ask whether its item is the first or last."""
        self._loops.update({variable.number: filtered for variable in loop})

    def has_role(self, name: str) -> bool:
        """Whether the request declares a role."""
        return self._request.role(name) is not None

    @contextmanager
    def reading_replies(self) -> Iterator[None]:
        """Inside, names may mean fields that the template never prints."""
        self._fields.may_read_ignored = True
        try:
            yield
        finally:
            self._fields.may_read_ignored = False

    def fresh(self, name: s.Name, scope: Scope) -> None:
        """Insists that a name is not taken: the language has no shadowing."""
        taken = scope.names.get(name.text)
        if taken is not None:
            first = None if taken.binding in _GIVEN else taken.span
            raise self._findings.fail(
                "K107", name.span, f"the name `{name.text}` is taken already", help="choose another", first=first
            )

    def resolve(self, node: s.Expr, scope: Scope) -> t.Expr:
        """The typed expression, narrowed by what the scope knows; raises Unresolved after noting a finding."""
        expr = self._resolve(node, scope)
        known = scope.type_of(expr)
        return expr if known == expr.type else replace(expr, type=known)

    def condition(self, node: s.Expr, scope: Scope) -> t.Expr:
        """An expression that must be a bool."""
        expr = self.resolve(node, scope)
        if not isinstance(expr.type, BoolType):
            self._findings.add(
                "K205",
                node.span,
                f"a condition is a bool, and this is {describe(expr.type)}",
                help="write `given x` (there and not empty) or `exists x` (there)",
            )
            return t.Given(expr, type=BOOL, span=node.span)
        return expr

    def there(self, expr: t.Expr, why: str) -> t.Expr:
        """Insists that a value cannot be absent; after a finding, goes on with one that is there."""
        if may_be_absent(expr.type):
            self._findings.add(
                "K203",
                expr.span,
                f"this value may be absent, and {why}",
                label=describe(expr.type),
                help="give a substitute with `??`, or test it with `given` or `exists`",
            )
            if not isinstance(expr.type, OptionalType):
                raise Unresolved
            return replace(expr, type=present(expr.type))
        return expr

    def text(self, node: s.Expr, scope: Scope, why: str) -> t.Expr:
        """An expression that must be a text that is there."""
        expr = self.resolve(node, scope)
        if isinstance(expr.type, ControlType):
            raise self._findings.fail("K202", node.span, f"a control token is no text, and {why}")
        expr = self.there(expr, why)
        if not isinstance(expr.type, TextType):
            raise self._findings.fail("K201", node.span, f"{why}, and this is {describe(expr.type)}")
        return expr

    # ---- one method a kind of expression

    def _resolve(self, node: s.Expr, scope: Scope) -> t.Expr:
        match node:
            case s.ControlRef(name=name):
                return self.control(name, node.span)
            case s.TextLiteral(text=text):
                return t.TextConst(text, type=LITERAL, span=node.span)
            case s.IntLiteral(value=number):
                return t.IntConst(number, type=INT, span=node.span)
            case s.BoolLiteral(value=truth):
                return t.BoolConst(truth, type=BOOL, span=node.span)
            case s.ListLiteral(items=()):
                return self._list(node, scope, AbsentPairs.OMITTED)
            case s.ListLiteral():
                raise self._findings.fail(
                    "K210",
                    node.span,
                    "a list that is written in the template has no place in the request",
                    help="ask `x in […]`, or write it out at once: `[…] as json`",
                )
            case s.ObjectLiteral():
                raise self._findings.fail(
                    "K210",
                    node.span,
                    "an object that is written in the template has no place in the request",
                    help="write it out at once: `object { … } as json`",
                )
            case s.NameRef(name=name):
                return self._name(name, node.span, scope)
            case s.FieldRef():
                return self._field(node, scope)
            case s.MethodCall():
                return self._method(node, scope)
            case s.Call(name=called):
                raise self._findings.fail(
                    "K209",
                    node.span,
                    f"`{called.text}(…)` prints and has no value",
                    help="let it stand by itself in a block",
                )
            case s.Coalesce():
                return self._coalesce(node, scope)
            case s.As():
                return self._serialize(node, scope)
            case s.Conditional():
                return self._conditional(node, scope)
            case s.And() | s.Or():
                return self._logic(node, scope)
            case s.Not(operand=operand):
                return t.Not(self.condition(operand, scope), type=BOOL, span=node.span)
            case s.Compare():
                return self._compare(node, scope)
            case s.Within():
                return self._within(node, scope)
            case s.Has():
                return self._has(node, scope)
            case s.IsKind():
                return self._is_kind(node, scope)
            case s.IsEnd(value=value, end=end, negated=negated):
                variable = self._placed(value, scope, end)
                return self._negate(t.IsEnd(variable, end, type=BOOL, span=node.span), negated)
            case s.IsBeside():
                return self._is_beside(node, scope)
            case s.Given(value=value):
                return t.Given(self._testable(value, scope, "given"), type=BOOL, span=node.span)
            case s.Exists(value=value):
                return self._exists(node, scope)
            case s.Query():
                return self._query(node, scope)
            case s.Beside(neighbour=neighbour, name=of):
                variable = self._walked(s.NameRef(of.text, span=of.span), scope, f"`{neighbour.value}`")
                messages = scope.names["messages"]
                assert messages is not None, "a walk has messages"
                assert isinstance(messages.type, ListType)
                return t.NeighbourOf(variable, neighbour, type=OptionalType(messages.type.item), span=node.span)

    def control(self, name: str, span: Span) -> t.ControlConst:
        """A control token by its name."""
        token = self._vocabulary.control(name)
        if token is None:
            if name not in self._findings.untyped:
                owner = f"the vocabulary `{self._vocabulary.identity.name}`"
                self._findings.unknown_control(owner, name, self._vocabulary.controls, span)
            token = ControlToken(-1, name, "", span)
        return t.ControlConst(token, type=ControlType(), span=span)

    def _name(self, name: str, span: Span, scope: Scope) -> t.Expr:
        if name not in scope.names and name in self._findings.untyped:
            raise Unresolved
        if name not in scope.names:
            raise self._findings.fail(
                "K101",
                span,
                f"the name `{name}` is not defined here",
                help=_HELP.get(name) or nearest(name, scope.names),
            )
        variable = scope.names[name]
        if variable is None:
            raise Unresolved
        return t.Var(variable, type=variable.type, span=span)

    def _written(self, node: s.Expr, scope: Scope, absent: AbsentPairs) -> t.Expr:
        """A value that is serialized or looked into, or a part of one: only there may objects and lists be written."""
        match node:
            case s.ObjectLiteral():
                return self._object(node, scope, absent)
            case s.ListLiteral():
                return self._list(node, scope, absent)
            case _:
                return self.resolve(node, scope)

    def _list(self, node: s.ListLiteral, scope: Scope, absent: AbsentPairs) -> t.Expr:
        items = tuple(self._written(i, scope, absent) for i in node.items)
        item: Type = items[0].type if items else CONTENT
        for other in items[1:]:
            joined = join(item, other.type)
            if joined is None:
                raise self._findings.fail(
                    "K201", other.span, f"a list holds {describe(item)} here, and this is {describe(other.type)}"
                )
            item = joined
        return t.ListConst(items, type=ListType(item), span=node.span)

    def _object(self, node: s.ObjectLiteral, scope: Scope, absent: AbsentPairs) -> t.Expr:
        pairs: list[tuple[str, t.Expr]] = []
        for key, value in node.pairs:
            expr = self._written(value, scope, absent)
            if json_kinds(expr.type) is None:
                raise self._findings.fail("K201", value.span, f"{describe(expr.type)} is no JSON value")
            first = next((e.span for k, e in pairs if k == key), None)
            if first is not None:
                raise self._findings.fail("K107", value.span, f"the key `{key}` stands here twice", first=first)
            pairs.append((key, expr))
        return t.ObjectExpr(tuple(pairs), absent, type=OBJECT, span=node.span)

    def record(self, name: str) -> Record:
        """The record of a name that a type has."""
        record = self._request.record(name)
        assert record is not None, "the request was resolved before"
        return record

    def _field(self, node: s.FieldRef, scope: Scope) -> t.Expr:
        base = self.resolve(node.base, scope)
        name, absent = node.name.text, isinstance(base.type, OptionalType)
        inner = present(base.type)
        match inner:
            case MessageType(roles=roles):
                if name == "role":
                    spelled = any(r.open for r in self._request.roles if r.name in roles)
                    of: Type = CONTENT if spelled else TextType(Trust.LITERAL, roles)
                    return t.RoleOf(base, type=optional(of) if absent else of, span=node.span)
                found = self._fields.of_message(roles, node.name)
                return t.FieldOf(base, found, type=optional(found.type) if absent else found.type, span=node.span)
            case RecordType(name=record_name):
                field = self._fields.of_record(record_name, node.name)
                return t.FieldOf(base, field, type=optional(field.type) if absent else field.type, span=node.span)
            case TaggedType():
                field = self._fields.of_tagged(inner, node.name)
                return t.FieldOf(base, field, type=optional(field.type) if absent else field.type, span=node.span)
            case ListType(item=item) if name in ("first", "last"):
                return t.EndOf(base, s.End(name), type=optional(item), span=node.span)
            case ListType() | TextType() if name == "length":
                return t.LengthOf(base, type=optional(INT) if absent else INT, span=node.span)
            case JsonType(kinds=kinds) if JsonKind.OBJECT in kinds:
                return t.JsonFieldOf(base, name, type=ANY_JSON, span=node.span)
            case ParsedType():
                return t.JsonFieldOf(base, name, type=ANY_JSON, span=node.span)
            case _:
                raise self._findings.fail("K104", node.name.span, f"{describe(base.type)} has no field `{name}`")

    def _method(self, node: s.MethodCall, scope: Scope) -> t.Expr:
        name = self._functions.known(node)
        if name == "format":
            base = self.there(self.resolve(node.base, scope), "`format` works on a date")
        else:
            base = self.text(node.base, scope, f"`{name}` works on a text")
        return self._functions.call(node, base)

    def _coalesce(self, node: s.Coalesce, scope: Scope) -> t.Expr:
        options = tuple(self.resolve(o, scope) for o in node.options)
        for option in options[:-1]:
            if not may_be_absent(option.type):
                self._findings.add(
                    "K206", option.span, "this value is always there, so what follows `??` is never used"
                )
                return option
        options = with_item_types(options)
        of = options[-1].type
        for option in reversed(options[:-1]):
            joined = join(present(option.type), of)
            if joined is None:
                raise self._findings.fail(
                    "K201",
                    node.span,
                    f"the sides of `??` do not go together: {describe(present(option.type))} and {describe(of)}",
                )
            of = joined
        self._one_form(options, node.span, "sides of `??`")
        return t.Coalesce(options, type=of, span=node.span)

    def _one_form(self, values: tuple[t.Expr, ...], span: Span, where: str) -> None:
        """Insists that of two values of which one is chosen not only one keeps the text that it came as."""
        plain = next((value for value in values if not holds_verbatim(value.type)), None)
        if plain is not None and any(holds_verbatim(value.type) for value in values):
            raise self._findings.fail(
                "K201",
                span,
                f"of the {where} one is written as it came, and the other is {describe(present(plain.type))}",
                help="choose with `if`, and write each by itself; or declare the field as `object from text`",
            )

    def _serialize(self, node: s.As, scope: Scope) -> t.Expr:
        name, place = node.serialization.text, node.serialization.span
        found = self._serializations.get(name)
        if found is None:
            if name not in self._findings.untyped:
                known = self._serializations
                self._findings.add("K105", place, f"there is no serialization `{name}`", help=nearest(name, known))
                self._findings.untyped |= known.keys()  # one of them is meant
            found = unknown_serialization(node.serialization)
        value = self._written(node.value, scope, found.absent)
        if isinstance(value.type, ControlType):
            raise self._findings.fail("K202", node.value.span, "a control token is no JSON value")
        if isinstance(value.type, OptionalType):
            value = self.there(value, "absent is no JSON value")
        if json_kinds(value.type) is None:
            raise self._findings.fail("K201", node.value.span, f"{describe(value.type)} is no JSON value")
        return t.Serialize(value, found, type=CONTENT, span=node.span)

    def _conditional(self, node: s.Conditional, scope: Scope) -> t.Expr:
        test = self.condition(node.test, scope)
        then = self.resolve(node.then, scope.learn(facts(test, True)))
        otherwise = self.resolve(node.otherwise, scope.learn(facts(test, False)))
        then, otherwise = with_item_types((then, otherwise))
        of = join(then.type, otherwise.type)
        if of is None:
            raise self._findings.fail(
                "K201", node.span, f"the branches do not go together: {describe(then.type)}, {describe(otherwise.type)}"
            )
        self._one_form((then, otherwise), node.span, "branches")
        return t.Conditional(test, then, otherwise, type=of, span=node.span)

    def _logic(self, node: s.And | s.Or, scope: Scope) -> t.Expr:
        truth = isinstance(node, s.And)
        operands: list[t.Expr] = []
        for operand in node.operands:
            expr = self.condition(operand, scope)
            operands.append(expr)
            scope = scope.learn(facts(expr, truth))
        make = t.And if truth else t.Or
        return make(tuple(operands), type=BOOL, span=node.span)

    def _compare(self, node: s.Compare, scope: Scope) -> t.Expr:
        left, right = self.resolve(node.left, scope), self.resolve(node.right, scope)
        ordered = node.operator not in (s.Operator.EQUAL, s.Operator.NOT_EQUAL)
        kinds = json_kinds(left.type), json_kinds(right.type)
        for side, own in zip((left, right), kinds, strict=True):
            if own is None or (ordered and not isinstance(side.type, IntType)):
                raise self._findings.fail("K201", side.span, f"{describe(side.type)} cannot be compared here")
        assert kinds[0] is not None
        assert kinds[1] is not None
        if not kinds[0] & kinds[1] or not (kinds[0] <= _SCALAR or kinds[1] <= _SCALAR):
            raise self._findings.fail(
                "K201", node.span, f"{describe(left.type)} and {describe(right.type)} are never equal"
            )
        for one, other in ((left, right), (right, left)):
            choices = one.type.choices if isinstance(one.type, TextType) else None
            if choices is not None and isinstance(other, t.TextConst) and other.text not in choices:
                self._findings.add(
                    "K207", other.span, "the value is never this text", help=nearest(other.text, choices)
                )
        return t.Compare(node.operator, left, right, type=BOOL, span=node.span)

    def _within(self, node: s.Within, scope: Scope) -> t.Expr:
        value, container = self.resolve(node.value, scope), self._written(node.container, scope, AbsentPairs.OMITTED)
        container = self.there(container, "`in` looks into a list")
        if not isinstance(container.type, ListType):
            raise self._findings.fail("K201", container.span, f"`in` needs a list, not {describe(container.type)}")
        own, items = json_kinds(value.type), json_kinds(container.type.item)
        if own is None or items is None or not own & items:
            raise self._findings.fail(
                "K201", node.span, f"a list of {describe(container.type.item)} holds no {describe(value.type)}"
            )
        if not (own <= _SCALAR or items <= _SCALAR):
            raise self._findings.fail(
                "K201",
                node.span,
                f"`in` looks for a text, number, bool or null, and this is {describe(value.type)}",
                help="ask for its kind first: `x is text and x in …`",
            )
        if isinstance(container, t.ListConst) and len(container.items) == 1:
            return t.Compare(s.Operator.EQUAL, value, container.items[0], type=BOOL, span=node.span)
        return t.Within(value, container, type=BOOL, span=node.span)

    def _has(self, node: s.Has, scope: Scope) -> t.Expr:
        if not isinstance(node.value, s.TextLiteral) or not node.value.text:
            raise self._findings.fail("K201", node.value.span, "`has` looks for a text that is written in the template")
        base = self.resolve(node.container, scope)
        if isinstance(base.type, TextType):
            return t.TextTest(t.TextTestKind.HAS, base, node.value.text, type=BOOL, span=node.span)
        if isinstance(base.type, (JsonType, ParsedType)):
            return t.HasKey(base, node.value.text, type=BOOL, span=node.span)
        base = self.there(base, "`has` looks into a text or an object")
        if isinstance(base.type, TextType):
            return t.TextTest(t.TextTestKind.HAS, base, node.value.text, type=BOOL, span=node.span)
        raise self._findings.fail("K201", base.span, f"`has` needs a text or an object, not {describe(base.type)}")

    def _negate(self, expr: t.Expr, negated: bool) -> t.Expr:
        return t.Not(expr, type=BOOL, span=expr.span) if negated else expr

    def _is_kind(self, node: s.IsKind, scope: Scope) -> t.Expr:
        value = self.resolve(node.value, scope)
        words = tuple(k.text for k in node.kinds)
        inner = present(value.type)
        if isinstance(inner, MessageType):
            for kind in node.kinds:
                self.known_role(kind)
            return self._negate(t.IsRole(value, words, type=BOOL, span=node.span), node.negated)
        own = kinds_told_apart(value.type)
        if own is None or not isinstance(inner, (JsonType, ListType, UnionType)):
            raise self._findings.fail("K201", node.value.span, f"`is` cannot ask about {describe(value.type)}")
        for kind in node.kinds:
            if kind.text not in KIND_WORDS:
                raise self._findings.fail(
                    "K106", kind.span, f"`{kind.text}` is no kind of JSON", help=nearest(kind.text, KIND_WORDS)
                )
        kinds = frozenset().union(*(KIND_WORDS[w] for w in words))
        return self._negate(t.IsJson(value, kinds, type=BOOL, span=node.span), node.negated)

    def known_role(self, name: s.Name) -> str:
        """A role that the request declares."""
        if self._request.role(name.text) is None and name.text in self._findings.untyped:
            raise Unresolved
        if self._request.role(name.text) is None:
            known = [r.name for r in self._request.roles]
            raise self._findings.fail(
                "K103",
                name.span,
                f"the request `{self._request.identity.name}` has no role `{name.text}`",
                label="unknown role",
                help=nearest(name.text, known),
            )
        return name.text

    def _walked(self, node: s.Expr, scope: Scope, what: str) -> t.Variable:
        expr = self.resolve(node, scope)
        if not isinstance(expr, t.Var) or expr.variable.binding is not t.Binding.WALK:
            raise self._findings.fail(
                "K208",
                node.span,
                f"{what} asks about the message of the walk",
                help="that is the `m` of `each m in messages`",
            )
        return expr.variable

    def _placed(self, node: s.Expr, scope: Scope, end: s.End) -> t.Variable:
        """The message of the walk, or the item of a loop in whose body it stands."""
        expr = self.resolve(node, scope)
        variable = expr.variable if isinstance(expr, t.Var) else None
        filtered = None if variable is None else self._loops.get(variable.number)
        if variable is None or (variable.binding is not t.Binding.WALK and filtered is None):
            raise self._findings.fail(
                "K208",
                node.span,
                f"`is {end.value}` asks about the message of the walk, or about the item of a loop in its body",
                help="that is the `x` of `each x in …`",
            )
        if filtered and end is s.End.LAST:
            raise self._findings.fail(
                "K208",
                node.span,
                "which item is the last that a `where` leaves is not known before the loop ends",
                help="test with `if` inside the loop, or write `join` for what stands between",
            )
        return variable

    def _is_beside(self, node: s.IsBeside, scope: Scope) -> t.Expr:
        value, other = self.resolve(node.value, scope), self.resolve(node.other, scope)
        for side in (value, other):
            if not isinstance(present(side.type), MessageType):
                raise self._findings.fail(
                    "K201", side.span, f"`is {node.side.value}` compares two messages, not {describe(side.type)}"
                )
        return self._negate(t.IsBeside(value, node.side, other, type=BOOL, span=node.span), node.negated)

    def _testable(self, node: s.Expr, scope: Scope, word: str) -> t.Expr:
        expr = self.resolve(node, scope)
        if isinstance(expr.type, ControlType):
            raise self._findings.fail("K202", node.span, f"`{word}` asks about a value, and this is a control token")
        return expr

    def _exists(self, node: s.Exists, scope: Scope) -> t.Expr:
        expr = self._testable(node.value, scope, "exists")
        if not may_be_absent(expr.type):
            self._findings.add(
                "K206", node.value.span, "this value is always there", help="`given x` asks whether it is empty"
            )
        return t.Exists(expr, type=BOOL, span=node.span)

    def _view(self, node: s.View, source: t.Expr, scope: Scope) -> t.Expr:
        """A part of the messages, which are all that can be cut at the message of the walk."""
        word = f"`{node.side.value}`"
        if not isinstance(source, t.Var) or source.variable.binding is not t.Binding.MESSAGES:
            raise self._findings.fail("K208", source.span, f"{word} takes a part of `messages`, and of no other list")
        variable = self._walked(s.NameRef(node.name.text, span=node.name.span), scope, word)
        return t.View(variable, node.side, type=source.type, span=source.span.to(node.span))

    def _query(self, node: s.Query, scope: Scope) -> t.Expr:
        source = self.there(self.resolve(node.source, scope), "a query looks through a list")
        if node.view is not None:
            source = self._view(node.view, source, scope)
        if not isinstance(source.type, ListType):
            raise self._findings.fail("K201", source.span, f"a query looks through a list, not {describe(source.type)}")
        self.fresh(node.name, scope)
        variable = self.variable(node.name.text, t.Binding.QUERY, source.type.item, node.name.span)
        condition = self.condition(node.condition, scope.bind(variable.name, variable))
        narrowed = facts(condition, True).get((variable.number,), variable.type)
        of: dict[s.Quantifier, Type] = {s.Quantifier.COUNT: INT, s.Quantifier.ANY: BOOL, s.Quantifier.ALL: BOOL}
        result = of.get(node.quantifier, optional(narrowed))
        return t.Query(node.quantifier, variable, source, condition, type=result, span=node.span)
