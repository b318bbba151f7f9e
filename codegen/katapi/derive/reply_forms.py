"""Statements that print, read backwards: the forms of a reply's grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from katapi.check.traverse import statements as all_in
from katapi.derive.fold import ABSENT
from katapi.derive.reply_moment import NormalForm
from katapi.derive.residue import Residues
from katapi.language.source import Span
from katapi.model import template as t
from katapi.model.declarations import Serialization
from katapi.model.program import Program
from katapi.model.types import (
    IntType,
    JsonKind,
    TextType,
    UnionType,
    holds_verbatim,
    json_kinds,
    may_be_absent,
    present,
)
from katapi.oracle.serialize import json_text
from katapi.oracle.values import from_json
from katapi.runtime.json_types import Json
from katapi.runtime.reply import grammar as g

_KINDS: dict[JsonKind, g.Kind] = {
    JsonKind.TEXT: "text",
    JsonKind.INTEGER: "integer",
    JsonKind.FRACTION: "fraction",
    JsonKind.BOOL: "bool",
    JsonKind.NULL: "null",
    JsonKind.LIST: "list",
    JsonKind.OBJECT: "object",
}


class NotInvertible(Exception):
    """What a place of a template prints cannot be read backwards."""

    def __init__(self, span: Span, why: str) -> None:
        super().__init__(why)
        self.span = span
        self.why = why


@dataclass(frozen=True)
class Declared:
    """A serialization as the spec declares it."""

    serialization: Serialization

    def dump(self, value: Json) -> str:
        """The text of a value. Raises `TemplateError` where it has none."""
        return json_text(from_json(value, ()), self.serialization)


@dataclass(frozen=True)
class Known:
    """What is known of places on the way to a form."""

    filled: frozenset[g.Place] = frozenset()
    empty: frozenset[g.Place] = frozenset()
    kinds: Mapping[g.Place, frozenset[JsonKind]] = field(default_factory=dict)
    beside_text: frozenset[g.Place] = frozenset()
    """Values that may as well be a text which is printed as it is."""


class Forms:
    """Turns residues into forms; `rules` are those of defs that print themselves."""

    def __init__(self, program: Program) -> None:
        self._definitions = {definition.name: definition for definition in program.template.definitions}
        self._recursive = frozenset(name for name in self._definitions if self._calls_itself(name))
        self._names: dict[int, str] = {}
        self._rule_names: dict[tuple[str, tuple[t.Expr, ...]], str] = {}
        self.rules: dict[str, g.Rule] = {}

    def message(self, variable: t.Variable) -> None:
        """Names the variable that is the message."""
        self._names[variable.number] = "m"

    def of(self, residue: Sequence[t.Statement], folder: NormalForm, known: Known) -> g.Form:
        """The form of what is printed. Raises NotInvertible."""
        return self._all(residue, folder, known)

    # ---- statements

    def _all(self, statements: Sequence[t.Statement], folder: NormalForm, known: Known) -> g.Form:
        forms: list[g.Form] = []
        for statement in statements:
            form = self._statement(statement, folder, known)
            before = next((one for one in reversed(forms) if one not in ((), "")), ())
            if _is_open(before, -1) and _is_open(form, 0):
                raise NotInvertible(statement.span, "nothing tells where the text before it ends")
            forms.append(form)
        return _sequence(forms)

    def _statement(self, statement: t.Statement, folder: NormalForm, known: Known) -> g.Form:
        match statement:
            case (
                t.Block(statements=statements)
                | t.Sampled(body=t.Block(statements=statements))
                | t.ImageOf(body=t.Block(statements=statements))
            ):
                return self._all(statements, folder, known)
            case t.Print(value=value):
                return self._printed(value, known)
            case t.CallDef():
                return self._call(statement, folder, known)
            case t.If():
                return self._if(statement, folder, known)
            case t.Each(key=None):
                return self._items(statement, folder, known)
            case t.Each():
                return self._members(statement, folder, known)
            case t.Match():
                return self._match(statement, folder, known)
            case t.Capture() | t.Begin() | t.Advance() | t.Drop() | t.Let() | t.Take() | t.Reject():
                return ()
            case t.Joined():
                raise NotInvertible(statement.span, "what stands between the parts of `joined` is not known")
            case t.Walk():
                raise NotInvertible(statement.span, "a reply is one message")

    def _if(self, statement: t.If, folder: NormalForm, known: Known) -> g.Form:
        test = statement.test
        then = self._all(statement.then.statements, folder, self.learned(test, known, holds=True))
        rest = () if statement.otherwise is None else statement.otherwise.statements
        otherwise = self._all(rest, folder, self.learned(test, known, holds=False))
        kinds = _kind_test(test)
        if kinds is None:
            return either(then, otherwise)
        place = self._place(kinds[0])
        if place is None:
            return either(then, otherwise)
        text_first = JsonKind.TEXT in kinds[1]
        return _beside_text(place, [otherwise, then] if text_first else [then, otherwise])

    def _match(self, statement: t.Match, folder: NormalForm, known: Known) -> g.Form:
        place = self._place(statement.subject)
        if place is None:
            return either(*(self._all(arm.body.statements, folder, known) for arm in statement.arms))
        if isinstance(present(statement.subject.type), UnionType):
            arm = next((arm for arm in statement.arms if arm.other or JsonKind.TEXT in arm.kinds), None)
            return () if arm is None else self._all(arm.body.statements, folder, known)
        texts: list[g.Form] = []
        others: list[g.Form] = []
        left = known.kinds.get(place, json_kinds(statement.subject.type) or frozenset(JsonKind))
        for arm in statement.arms:
            kinds = (left & arm.kinds) if arm.kinds else left
            inner = replace(known, kinds={**known.kinds, place: kinds})
            if arm.texts:
                form = self._all(arm.body.statements, folder, inner)
                texts += [_sequence([g.Constant(place, text), form]) for text in arm.texts]
                continue
            form = self._all(arm.body.statements, folder, inner)
            if arm.condition is None and arm.kinds:
                left -= arm.kinds
            if kinds:
                (texts if JsonKind.TEXT in kinds and not arm.other else others).append(form)
        return _beside_text(place, [*others, *texts])

    def _items(self, statement: t.Each, folder: NormalForm, known: Known) -> g.Form:
        place = self._place(statement.source)
        if place is None:
            raise NotInvertible(statement.source.span, "it goes through something that is no part of the reply")
        if place in known.empty:
            return ()
        item = self._name(statement.item)
        form = self._all(statement.body.statements, folder, known)
        return g.Items(place, item, form, statement.join or "", place in known.filled)

    def _members(self, statement: t.Each, folder: NormalForm, known: Known) -> g.Form:
        place = self._place(statement.source)
        if place is None or statement.key is None:
            raise NotInvertible(statement.source.span, "it goes through something that is no part of the reply")
        key, value = self._name(statement.key), self._name(statement.item)
        form = self._all(statement.body.statements, folder, known)
        return g.Members(place, key, value, form, statement.join or "")

    # ---- defs

    def _call(self, statement: t.CallDef, folder: NormalForm, known: Known) -> g.Form:
        definition = self._definitions[statement.name]
        pairs = list(zip(definition.parameters, statement.arguments, strict=True))
        if statement.name in self._recursive:
            return self._rule_call(statement, definition, pairs, folder)
        inner = folder.inside({parameter.number: argument for parameter, argument in pairs})
        residue = Residues(inner).of(definition.body.statements)
        return () if residue is None else self._all(residue, inner, known)

    def _rule_call(
        self,
        statement: t.CallDef,
        definition: t.Def,
        pairs: list[tuple[t.Variable, t.Expr]],
        folder: NormalForm,
    ) -> g.Form:
        """A def that prints itself is a rule, one for each setting of its constant arguments."""
        open_ones = [(p, place) for p, argument in pairs if (place := self._place(argument)) is not None]
        if len(open_ones) != 1:
            raise NotInvertible(statement.span, f"`{definition.name}` is given more than one part of the reply")
        parameter, place = open_ones[0]
        bound = {p.number: argument for p, argument in pairs if p != parameter}
        key = definition.name, tuple(bound.values())
        name = self._rule_names.get(key)
        if name is None:
            same = sum(1 for other, _ in self._rule_names if other == definition.name)
            name = self._rule_names[key] = definition.name if not same else f"{definition.name}_{same + 1}"
            inner = folder.inside(bound)
            residue = Residues(inner).of(definition.body.statements)
            variable = self._name(parameter)
            self.rules[name] = g.Rule(variable, self._all(residue or (), inner, Known()))
        return g.Call(name, place)

    def _calls_itself(self, name: str) -> bool:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for statement in all_in(self._definitions[waiting.pop()].body):
                if isinstance(statement, t.CallDef) and statement.name not in seen:
                    seen.add(statement.name)
                    waiting.append(statement.name)
        return name in seen

    # ---- expressions

    def _printed(self, value: t.Expr, known: Known) -> g.Form:
        match value:
            case t.ControlConst(token=token):
                return token
            case t.TextConst(text=text):
                return text
            case t.IntConst(value=number):
                return str(number)
            case t.Conditional(then=then, otherwise=otherwise, test=test):
                return either(
                    self._printed(then, self.learned(test, known, holds=True)),
                    self._printed(otherwise, self.learned(test, known, holds=False)),
                )
            case t.Serialize(value=inside):
                return self._serialized(value, inside, known)
            case t.Coalesce(options=(first, t.TextConst(text=default))):
                return self._text(self._printed(first, known), value.span, default=default)
            case t.Cut(kind=kind, base=base, argument=argument):
                form = self._printed(base, known)
                match form:
                    case str():
                        return form
                    case g.Either(options=options):
                        return g.Either(tuple(_cut(option, kind, argument, value.span) for option in options))
                    case _:
                        return _cut(form, kind, argument, value.span)
            case t.RoleOf():
                return "assistant"
            case _ if value == ABSENT:
                return ()
        place = self._place(value)
        of = present(value.type)
        if place is not None and place in known.empty:
            return ()
        if place is not None and isinstance(of, TextType | UnionType):
            if isinstance(of, TextType) and of.choices is not None:
                return either(*((g.Constant(place, choice), choice) for choice in of.choices))
            return g.FreeText(place)
        if isinstance(of, IntType):
            return g.Number()
        raise NotInvertible(value.span, "it is not printed as it is in the reply")

    def _text(self, form: g.Form, span: Span, *, default: str) -> g.Form:
        match form:
            case g.FreeText():
                return replace(form, default=default)
            case g.Either():
                return either(default, *(one for one in form.options if not _is_choice(one, default)))
            case () | str():
                return default if form == () else form
            case (g.Constant(), str(text)):
                return default if text == default else either(default, form)
            case _:
                raise NotInvertible(span, "it is not printed as it is in the reply")

    def _serialized(self, whole: t.Serialize, value: t.Expr, known: Known) -> g.Form:
        if isinstance(value, t.ObjectExpr):
            return g.JsonMembers(tuple((key, self._json(whole, part, known)) for key, part in value.pairs))
        return self._json(whole, value, known)

    def _json(self, whole: t.Serialize, value: t.Expr, known: Known) -> g.JsonText:
        inner = value.options[0] if isinstance(value, t.Coalesce) else value
        place = self._place(inner)
        if place is None:
            raise NotInvertible(value.span, "it is no part of the reply")
        kinds = known.kinds.get(place, json_kinds(inner.type))
        named: tuple[g.Kind, ...] | None = None
        if kinds is not None and kinds != frozenset(JsonKind):
            named = tuple(_KINDS[kind] for kind in JsonKind if kind in kinds)
        return g.JsonText(
            place,
            Declared(whole.serialization),
            kinds=named,
            python=whole.serialization.python is not None,
            optional=may_be_absent(inner.type),
            verbatim=holds_verbatim(inner.type),
        )

    def _place(self, expr: t.Expr) -> g.Place | None:
        """The part of the reply that an expression is, if it is one."""
        match expr:
            case t.Var(variable=variable) if variable.number in self._names:
                return (self._names[variable.number],)
            case t.FieldOf(base=base, field=field):
                place = self._place(base)
                return None if place is None else (*place, field.name)
            case t.Coalesce(options=(first, t.ListConst(items=()))):
                return self._place(first)
            case _:
                return None

    def _name(self, variable: t.Variable) -> str:
        """A name for a variable that no other has."""
        name = variable.name
        taken = {other for number, other in self._names.items() if number != variable.number}
        while name in taken:
            name += "_"
        self._names[variable.number] = name
        return name

    def learned(self, test: t.Expr, known: Known, *, holds: bool) -> Known:
        """What is known besides where a test holds, or does not."""
        match test:
            case t.Not(operand=operand):
                return self.learned(operand, known, holds=not holds)
            case t.And(operands=operands) if holds:
                for operand in operands:
                    known = self.learned(operand, known, holds=True)
                return known
            case t.Or(operands=operands) if not holds:
                for operand in operands:
                    known = self.learned(operand, known, holds=False)
                return known
            case t.Given(value=value) | t.Exists(value=value):
                place = self._place(value)
                if place is None:
                    return known
                if holds:
                    return replace(known, filled=known.filled | {place})
                return replace(known, empty=known.empty | {place})
            case t.IsJson(value=value, kinds=kinds):
                place = self._place(value)
                if place is None:
                    return known
                before = known.kinds.get(place, json_kinds(value.type) or frozenset(JsonKind))
                return replace(known, kinds={**known.kinds, place: before & kinds if holds else before - kinds})
            case _:
                return known


def _sequence(parts: Iterator[g.Form] | Sequence[g.Form]) -> g.Form:
    """Forms one after the other; texts that stand beside each other are one."""
    out: list[g.Form] = []
    for part in parts:
        for one in part if isinstance(part, tuple) else (part,):
            last = out[-1] if out else None
            if isinstance(one, str) and isinstance(last, str):
                out[-1] = last + one
            elif one != "":
                out.append(one)
    return out[0] if len(out) == 1 else tuple(out)


def _is_open(form: g.Form, end: int) -> bool:
    """Whether a form has a text of any length at its beginning (0) or at its end (-1)."""
    match form:
        case g.FreeText():
            return True
        case tuple():
            return bool(form) and _is_open(form[end], end)
        case g.Either(options=options):
            return any(_is_open(option, end) for option in options)
        case g.Items(form=inner, join="") | g.Members(form=inner, join=""):
            return _is_open(inner, end)
        case _:
            return False


def either(*options: g.Form) -> g.Form:
    """One of some forms; those that are alike count once, and one of another choice is one of this."""
    flat: list[g.Form] = []
    for option in options:
        for one in option.options if isinstance(option, g.Either) else (option,):
            if one not in flat:
                flat.append(one)
    return flat[0] if len(flat) == 1 else g.Either(tuple(flat))


def _beside_text(place: g.Place, options: list[g.Form]) -> g.Form:
    """Ways to write a value; where a text stands as it is, what would be written otherwise is no other value."""
    whole = either(*options)
    if not isinstance(whole, g.Either) or not any(_is_text(one, place) for one in whole.options):
        return whole
    exact = [replace(one, exact=True) if isinstance(one, g.JsonText) else one for one in whole.options]
    texts = [one for one in exact if _is_text(one, place)]
    return g.Either((*(one for one in exact if one not in texts), *texts))


def _is_choice(form: g.Form, text: str) -> bool:
    """Whether a form is one of the texts of a closed set."""
    match form:
        case (g.Constant(), str(own)):
            return own == text
        case _:
            return False


def _is_text(form: g.Form, place: g.Place) -> bool:
    return isinstance(form, g.FreeText) and form.place == place


def _cut(form: g.Form, kind: t.CutKind, argument: str | None, span: Span) -> g.Form:
    """A text of which the template takes off the ends; what is taken off first counts."""
    if form in ((), ""):
        return form
    if not isinstance(form, g.FreeText):
        raise NotInvertible(span, "it is not printed as it is in the reply")
    if form.strip is not None or form.strip_start is not None or form.strip_end is not None:
        return form
    characters = argument or ""
    match kind:
        case t.CutKind.TRIM:
            return replace(form, strip=characters)
        case t.CutKind.TRIM_START:
            return replace(form, strip_start=characters)
        case t.CutKind.TRIM_END:
            return replace(form, strip_end=characters)
        case _:
            raise NotInvertible(span, "it is not printed as it is in the reply")


def _kind_test(test: t.Expr) -> tuple[t.Expr, frozenset[JsonKind]] | None:
    """The value and the kinds of a test on the kind of a value, one that is turned round as well."""
    match test:
        case t.IsJson(value=value, kinds=kinds):
            return value, kinds
        case t.Not(operand=t.IsJson(value=value, kinds=kinds)):
            return value, frozenset(JsonKind) - kinds
        case _:
            return None
