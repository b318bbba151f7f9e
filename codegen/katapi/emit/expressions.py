"""Expressions of a template → Python expressions.

One expression can be wanted in four forms: as a truth value, as a plain Python value, as a `str`, or as something to
print, which knows where its text came from. Each form is a method of `Expressions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import groupby

from katapi.emit.code import AND, ATOM, COMPARE, NOT, OR, TERNARY, Code, ternary
from katapi.emit.comparisons import OPPOSITES, Comparisons
from katapi.emit.kinds import is_kind, narrowed
from katapi.emit.lifts import is_testable, is_unchanging, there
from katapi.emit.module import ControlPiece, LiteralPiece, Module, RolePiece, site_source
from katapi.emit.names import control_member
from katapi.emit.paths import carries_path
from katapi.emit.python import string, tuple_of
from katapi.language.syntax import End, Neighbour, Quantifier, Side
from katapi.model import template as t
from katapi.model.declarations import AbsentPairs
from katapi.model.types import (
    ControlType,
    DateType,
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
    Type,
    UnionType,
    holds_text,
    holds_verbatim,
    may_be_absent,
    present,
)


class Expressions(Comparisons):
    """Emits expressions for one function."""

    def __init__(self, module: Module, package: str, needed: frozenset[str], unread: frozenset[int]) -> None:
        super().__init__(module, package, needed, unread)
        self._aliases: dict[t.Expr, str] = {}
        self._alias_count = 0
        self.answers: dict[int, str] = {}
        """For the variable of a query that a pass before the walk answers, the list of its answers."""
        self.rounds: dict[int, dict[End, Code]] = {}
        """For the item of each loop that is emitted, by its number, the tests for the first and the last round."""

    # ---- forms

    def piece(self, expr: t.Expr) -> ControlPiece | LiteralPiece | RolePiece | None:
        """What an expression prints, where that never changes or depends on a role alone."""
        match expr:
            case t.ControlConst(token=token):
                self.module.use(f"{self.module.lender}.vocabulary", "Control")
                return ControlPiece(control_member(token), self.module.site(expr.span))
            case t.TextConst(text=text) | t.RoleOf(type=TextType(choices=(text,))):
                return LiteralPiece(text, self.module.site(expr.span))
            case t.RoleOf(type=TextType(choices=roles)) if roles is not None:
                return RolePiece(roles, self.module.site(expr.span))
            case _:
                return None

    def printed(self, expr: t.Expr) -> Code:
        """A text or control token as something to print, which knows where it came from."""
        piece = self.piece(expr)
        if isinstance(piece, ControlPiece):
            return Code(self.module.fixed((piece,)))
        if isinstance(piece, LiteralPiece):
            return Code(self.module.text(piece))
        if isinstance(piece, RolePiece):
            return Code(f"{self.module.text(piece)}[{self.value(expr).text}]")
        match expr:
            case t.Var(variable=variable) if self.is_printed(variable):
                return Code(self.name(variable))
            case t.Cut(kind=kind, base=base, argument=argument):
                self.module.use("katapi.runtime.text", kind.value)
                more = "" if argument is None else f", {string(argument)}"
                return Code(f"{kind.value}({self.printed(base).text}{more})")
            case t.Rewrite(kind=rewrite, base=base, arguments=arguments):
                self.module.use("katapi.runtime.text", rewrite.value)
                texts = [string(a.text) for a in arguments]
                return Code(f"{rewrite.value}({', '.join([self.printed(base).text, *texts])})")
            case t.FormatDate(base=base):
                return self._content(self.string(expr).text, self.path(base), "None")
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                return ternary(self.condition(test), self.printed(then), self.printed(otherwise))
            case t.Coalesce(options=options):
                return self._first_there(options, self.printed)
            case t.Serialize():
                return Code(f"({self._dump(expr)}, {self.path(expr.value)}, None)")
            case _ if isinstance(expr.type, OptionalType):
                return self._where_there(expr, self.printed, Code("None"))
            case t.Var(variable=variable) if variable.binding is t.Binding.KEY:
                return self._content(self.name(variable), self.path(expr), "None")
            case _ if isinstance(expr.type, IntType):
                return self._number(expr)
            case t.FieldOf(field=f) if holds_text(f.type):
                return Code(f"({self.value(expr).text}, {self.path(expr)}, 0)")
            case _:
                return self._content(self.value(expr).text, self.path(expr), "0")

    def string(self, expr: t.Expr) -> Code:
        """A text as a `str`."""
        if expr in self._aliases:
            return Code(self._aliases[expr])
        match expr:
            case t.TextConst(text=text):
                return Code(string(text))
            case t.Serialize():
                return Code(self._dump(expr))
            case t.Var(variable=variable) if self.is_printed(variable):
                return self._text_of(expr)
            case t.Cut() | t.Rewrite():
                return Code(f"{self.printed(expr).text}[0]")
            case t.FormatDate(base=base, pattern=pattern):
                self.module.use("katapi.runtime.dates", "format_date")
                return Code(f"format_date({self.value(base).text}, {string(pattern.text)})")
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                return ternary(self.condition(test), self.string(then), self.string(otherwise))
            case t.Coalesce(options=options):
                return self._first_there(options, self.string)
            case _:
                return self.value(expr)

    def condition(self, expr: t.Expr) -> Code:
        """A bool of the language as something that Python can test; not always a `bool`."""
        match expr:
            case t.Given(value=value):
                return self._given(value)
            case t.And(operands=operands):
                return Code(" and ".join(self.condition(o).within(AND) for o in operands), AND)
            case t.Or(operands=operands):
                return Code(" or ".join(self._beside_or(self.condition(o)) for o in operands), OR)
            case t.Not(operand=operand):
                return self._not(operand)
            case _:
                return self.value(expr)

    def value(self, expr: t.Expr) -> Code:
        """A value as Python has it: `str`, `int`, `bool`, JSON, a record, a message."""
        if expr in self._aliases:
            return Code(self._aliases[expr])
        match expr:
            case t.Var(variable=variable):
                return self._text_of(expr) if self.is_printed(variable) else Code(self.name(variable))
            case t.FieldOf(base=base, field=f):
                return self._reach(base, f.name)
            case t.RoleOf(base=base):
                return self._reach(base, "role")
            case t.JsonFieldOf(base=base, key=key):
                code = f"{self.module.helper('json_field')}({self._json(base).text}, {string(key)})"
                return Code(narrowed(self.module, code, expr.type))
            case t.LengthOf(base=base):
                if isinstance(base.type, OptionalType):
                    return self._where_there(base, self._length, Code("None"))
                return self._length(base)
            case t.EndOf(base=base, end=end):
                return self._end_of(base, end)
            case t.IntConst(value=number):
                return Code(str(number))
            case t.BoolConst(value=truth):
                return Code(str(truth))
            case t.ListConst(items=items):
                return Code(tuple_of(self.plain(i).text for i in items) if items else "()")
            case t.ObjectExpr():
                return self._object(expr)
            case t.TextTest():
                return self.text_test(expr)
            case t.HasKey(base=base, key=key):
                return Code(f"{self.module.helper('has_key')}({self._json(base).text}, {string(key)})")
            case t.Coalesce(options=options):
                return self._first_there(options, self.value)
            case t.Conditional(test=test, then=t.BoolConst(value=one), otherwise=t.BoolConst(value=other)):
                if one is other:
                    return Code(str(one))
                return self.value(test if one else t.Not(test, type=expr.type, span=expr.span))
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                return ternary(self.condition(test), self.value(then), self.value(otherwise))
            case t.Compare():
                return self.compare(expr)
            case t.Within(value=value, container=container):
                return self.within(value, container)
            case t.IsRole(value=value, roles=roles):
                return self._is_role(value, roles)
            case t.IsJson(value=value, kinds=kinds):
                return self.is_of(value, kinds)
            case t.IsEnd(variable=variable, end=end) if variable.binding is not t.Binding.WALK:
                self.used.add(f"{variable.number}_{end.value}")
                return self.rounds[variable.number][end]
            case t.IsEnd(end=end):
                edge = "0" if end is End.FIRST else f"len({self.messages}) - 1"
                self.used.add(self.index)
                return Code(f"{self.index} == {edge}", COMPARE)
            case t.IsBeside():
                return self._is_beside(expr)
            case t.Exists(value=value):
                return self.not_none(value)
            case t.Query():
                return self._query(expr)
            case t.View(side=side):
                self.used.add(self.index)
                part = f":{self.index}" if side is Side.BEFORE else f"{self.index} + 1 :"
                return Code(f"{self.messages}[{part}]")
            case t.NeighbourOf(neighbour=neighbour):
                step = "- 1" if neighbour is Neighbour.PREV else "+ 1"
                self.used.add(self.index)
                return Code(f"{self.module.helper('message_at')}({self.messages}, {self.index} {step})")
            case t.TextConst() | t.Cut() | t.Rewrite() | t.FormatDate() | t.Serialize():
                return self.string(expr)
            case t.Given() | t.And() | t.Or() | t.Not():
                tested = self.condition(expr)
                return tested if self.gives_bool(expr) else Code(f"bool({tested.text})")
            case t.ControlConst():
                return self.printed(expr)

    def argument(self, expr: t.Expr, of: Type) -> list[str]:
        """A value for a parameter of a def: a control, a segment, or a plain value with its path."""
        if isinstance(present(of), (TextType, ControlType)):
            return [self.printed(expr).text]
        code = (self._json(expr) if isinstance(present(of), JsonType) else self.value(expr)).text
        return [code, self.path(expr)] if carries_path(of) else [code]

    # ---- helpers

    def is_of(self, expr: t.Expr, kinds: frozenset[JsonKind]) -> Code:
        """A test for the kinds of a value."""
        value = self.value(expr)
        if not isinstance(present(expr.type), UnionType):
            return is_kind(self.module, value, kinds)
        words = {
            JsonKind.TEXT: "isinstance({}, str)",
            JsonKind.LIST: "isinstance({}, tuple)",
            JsonKind.NULL: "{} is None",
        }
        tests = [word.format(value.within(ATOM)) for kind, word in words.items() if kind in kinds]
        return Code(" or ".join(tests), OR if len(tests) > 1 else COMPARE)

    def has_tag(self, expr: t.FieldOf, of: TaggedType, texts: Collection[str], left: set[str]) -> Code:
        """Whether the tag of a record has one of some values; the class says so, where it has no other that is left."""
        value = self.value(expr.base).text
        whole = [name for name, own in of.members if left.intersection(own) <= set(texts) and left.intersection(own)]
        possible = [name for name, own in of.members if left.intersection(own)]
        tests = [f"isinstance({value}, {self.record_classes(whole)})"] if whole else []
        for name, own in of.members:
            some = [string(text) for text in own if text in texts]
            if some and name not in whole:
                equal = f"== {some[0]}" if len(some) == 1 else f"in {tuple_of(some)}"
                if possible == [name]:  # its class is known already
                    return Code(f"{value}.{of.tag} {equal}", COMPARE)
                tests.append(f"(isinstance({value}, {self.record_classes([name])}) and {value}.{of.tag} {equal})")
        if len(tests) == 1:
            return Code(
                tests[0].removeprefix("(").removesuffix(")") + (")" if whole else ""), COMPARE if whole else AND
            )
        return Code(" or ".join(tests), OR)

    def _content(self, text: str, path: str, start: str) -> Code:
        return Code(f"({self.module.segment('Content')}({text}), {path}, {start})")

    def _number(self, expr: t.Expr) -> Code:
        path = self._path(expr)
        text = f"str({self.value(expr).text})"
        if path and not any(part.startswith("*") for part in path):
            return self._content(text, self.path(expr), "None")
        self.module.segment("Site")
        site = site_source(self.module.site(expr.span))
        if path:
            return Code(f"{self.module.helper('number')}({self.value(expr).text}, {self.path(expr)}, {site})")
        return Code(f"({self.module.segment('Literal')}({text}), {site})")

    def _first_there(self, options: tuple[t.Expr, ...], form: Callable[[t.Expr], Code]) -> Code:
        code = form(options[-1])
        for option in reversed(options[:-1]):
            code = self._where_there(option, form, code)
        return code

    def _where_there(self, expr: t.Expr, form: Callable[[t.Expr], Code], otherwise: Code) -> Code:
        """A value in some form where it is there; what must be computed is computed once and kept in a name."""
        if is_testable(expr):
            return ternary(self.not_none(expr), form(there(expr)), otherwise)
        narrowed = replace(expr, type=present(expr.type))
        self._alias_count += 1
        alias = f"value_{self._alias_count}"
        test = Code(f"({alias} := {self.value(expr).text}) is not None", COMPARE)
        self._aliases[narrowed] = alias
        then = form(narrowed)
        del self._aliases[narrowed]
        return ternary(test, then, otherwise)

    def not_none(self, expr: t.Expr) -> Code:
        """Whether a value is there; a field of something absent is asked for in two steps, so that both are known."""
        if isinstance(expr, t.Var) and self.is_printed(expr.variable):
            return Code(f"{self.name(expr.variable)} is not None", COMPARE)
        if isinstance(expr, t.LengthOf):
            return self.not_none(expr.base)
        if isinstance(expr, t.RoleOf) and is_unchanging(expr.base):
            return self.not_none(expr.base)
        if isinstance(expr, t.FieldOf) and isinstance(expr.base.type, OptionalType) and is_unchanging(expr.base):
            field = f"{self.value(expr.base).text}.{expr.field.name}"
            own = f" and {field} is not None" if isinstance(expr.field.type, OptionalType) else ""
            return Code(self.not_none(expr.base).text + own, AND if own else COMPARE)
        return Code(f"{self.value(expr).within(ATOM)} is not None", COMPARE)

    def _reach(self, base: t.Expr, attribute: str) -> Code:
        inner = self.value(base)
        if isinstance(base.type, OptionalType):
            reached = Code(f"{inner.within(ATOM)}.{attribute}")
            return ternary(Code(f"{inner.within(ATOM)} is not None", COMPARE), reached, Code("None"))
        return Code(f"{inner.within(ATOM)}.{attribute}")

    def _text_of(self, expr: t.Var) -> Code:
        """The text of a variable that holds a text with its origin."""
        text = Code(f"{self.name(expr.variable)}[0]")
        return ternary(self.not_none(expr), text, Code("None")) if isinstance(expr.type, OptionalType) else text

    def _length(self, expr: t.Expr) -> Code:
        return Code(f"len({self.plain(expr).text})")

    def _json(self, expr: t.Expr) -> Code:
        """A value with keys: the object inside of parsed arguments."""
        of = present(expr.type)
        if not isinstance(of, ParsedType) or not of.verbatim:
            return self.value(expr)
        if isinstance(expr.type, OptionalType):
            return self._where_there(expr, self._json, Code("None"))
        return Code(f"{self.value(expr).within(ATOM)}.value")

    def pairs(self, expr: t.Expr) -> str:
        """The pairs of an object."""
        return f"{self._json(expr).within(ATOM)}.items()"

    def _given(self, value: t.Expr) -> Code:
        of = present(value.type)
        if isinstance(of, (MessageType, RecordType, TaggedType, DateType)):
            return self.not_none(value)
        if isinstance(value, t.Var) and self.is_printed(value.variable):
            name = self.name(value.variable)
            if isinstance(value.type, OptionalType):
                return Code(f"{name} is not None and {name}[0]", AND)
            return Code(f"{name}[0]")
        if isinstance(of, ParsedType):
            return self._json(value)
        if isinstance(value, t.FieldOf) and isinstance(value.base.type, OptionalType) and is_unchanging(value.base):
            return Code(f"{self.not_none(value.base).text} and {self.value(value.base).text}.{value.field.name}", AND)
        return self.plain(value)

    def _not(self, operand: t.Expr) -> Code:
        match operand:
            case t.Exists(value=value):
                test = self.not_none(value)
                if test.binds == AND:
                    return Code(f"not {test.within(NOT)}", NOT)
                return Code(test.text.removesuffix(" is not None") + " is None", COMPARE)
            case t.Not(operand=inner):
                return self.condition(inner)
            case t.IsJson(value=value, kinds=kinds) if kinds == frozenset({JsonKind.NULL}):
                return Code(f"{self.value(value).within(ATOM)} is not None", COMPARE)
            case t.Compare(operator=operator):
                return self.compare(replace(operand, operator=OPPOSITES[operator]))
            case t.TextTest(kind=t.TextTestKind.HAS, base=base, needle=needle):
                return Code(f"{string(needle)} not in {self.string(base).within(ATOM)}", COMPARE)
            case t.Within(value=value, container=container):
                code = self.within(value, container)
                if code.binds == COMPARE:
                    return Code(code.text.replace(" in ", " not in ", 1), COMPARE)
                return Code(f"not {code.text}", NOT)
            case t.IsEnd() if (test := self.value(operand)).binds == COMPARE:
                return Code(test.text.replace(" == ", " != "), COMPARE)
            case t.IsRole(value=value, roles=(role,)):
                return self.has_other_role(self.value(value).text, role)
            case _:
                return Code(f"not {self.condition(operand).within(NOT)}", NOT)

    @staticmethod
    def _beside_or(code: Code) -> str:
        """An operand of `or`; an `and` in it gets parentheses for the reader."""
        return f"({code.text})" if code.binds == AND else code.within(OR)

    def gives_bool(self, expr: t.Expr) -> bool:
        """Whether a condition is a `bool` in Python, not only something to test."""
        match expr:
            case t.Given():
                return False
            case t.And(operands=operands) | t.Or(operands=operands):
                return all(self.gives_bool(o) for o in operands)
            case _:
                return True

    def _object(self, expr: t.ObjectExpr) -> Code:
        """A display; what may be absent is left out of it by itself where a null beside it must stay."""
        pairs = [(f"{string(key)}: {self.plain(value).within(TERNARY)}", value.type) for key, value in expr.pairs]
        omits = expr.absent is AbsentPairs.OMITTED and any(isinstance(of, OptionalType) for _, of in pairs)
        if not omits:
            return Code(_display(pair for pair, _ in pairs))
        helper = self.module.helper("without_absent")
        if not any(may_be_absent(of) and not isinstance(of, OptionalType) for _, of in pairs):
            return Code(f"{helper}({_display(pair for pair, _ in pairs)})")
        parts: list[str] = []
        for is_omitted, run in groupby(pairs, lambda pair: isinstance(pair[1], OptionalType)):
            texts = [pair for pair, _ in run]
            parts += [f"**{helper}({_display(texts)})"] if is_omitted else texts
        return Code(_display(parts))

    def _end_of(self, base: t.Expr, end: End) -> Code:
        helper = f"{end.value}_message" if self.is_messages(base) else f"{end.value}_item"

        def of(items: t.Expr) -> Code:
            return Code(f"{self.module.helper(helper)}({self.value(items).text})")

        return self._where_there(base, of, Code("None")) if isinstance(base.type, OptionalType) else of(base)

    def _is_role(self, value: t.Expr, roles: tuple[str, ...]) -> Code:
        code = self.value(value)
        if isinstance(value, t.Var) or len(roles) == 1:
            return self.has_role(code.text, roles)
        return Code(f"isinstance({code.text}, {self.classes(roles)})")

    def has_role(self, name: str, roles: tuple[str, ...]) -> Code:
        """Whether a message has one of some roles.

        Their classes are final, so that mypy knows what each test leaves, and no test reads a field.
        """
        tests = [f"type({name}) is {self.classes((role,))}" for role in roles]
        return Code(" or ".join(tests), OR if len(tests) > 1 else COMPARE)

    def has_other_role(self, name: str, role: str) -> Code:
        """Whether a message has not a role, or is none."""
        return Code(f"type({name}) is not {self.classes((role,))}", COMPARE)

    def _is_beside(self, expr: t.IsBeside) -> Code:
        sign = ">" if expr.side is Side.AFTER else "<"
        tests = [self.not_none(e).text for e in (expr.value, expr.other) if isinstance(e.type, OptionalType)]
        tests.append(f"{self.position(expr.value).within(ATOM)} {sign} {self.position(expr.other).within(ATOM)}")
        return Code(" and ".join(tests), AND if len(tests) > 1 else COMPARE)

    def _query(self, expr: t.Query) -> Code:
        if expr.variable.number in self.answers:
            answer = self.answer(expr)
            finds = expr.quantifier in (Quantifier.FIRST, Quantifier.LAST)
            return Code(f"({answer} or (-1, None))[1]" if finds else answer)
        name = self.declare(expr.variable)
        self._pathless.add(expr.variable.number)
        pair = self.is_messages(expr.source)
        source = self.value(expr.source)
        test = self.condition(expr.condition)
        target = (f"{name}_at, {name}" if self.reads_place(expr.variable) else f"_, {name}") if pair else name
        match expr.quantifier:
            case Quantifier.ANY:
                return Code(f"any({test.within(OR)} for {target} in {source.within(OR)})")
            case Quantifier.ALL:
                return Code(f"all({test.within(OR)} for {target} in {source.within(OR)})")
            case Quantifier.COUNT:
                return Code(f"sum(1 for {target} in {source.within(OR)} if {test.within(OR)})")
            case Quantifier.FIRST | Quantifier.LAST:
                raise AssertionError("a query that finds an item has a name")

    def answer(self, query: t.Query) -> str:
        """What a pass before the walk has found for the walk's message: a value, or a message behind its index."""
        self.used.add(self.index)
        return f"{self.answers[query.variable.number]}[{self.index}]"

    def _dump(self, expr: t.Serialize) -> str:
        self.module.serializations[expr.serialization.identity.name] = expr.serialization
        value = self.plain(expr.value)
        received = isinstance(present(expr.value.type), (JsonType, ListType)) and not isinstance(
            expr.value, (t.ObjectExpr, t.ListConst)
        )
        method = "dump_known" if received and not holds_verbatim(expr.value.type) else "dump"
        return f"{expr.serialization.identity.name.upper()}.{method}({value.text})"


def _display(pairs: Iterable[str]) -> str:
    """A display of a dict."""
    return "{" + ", ".join(pairs) + "}"
