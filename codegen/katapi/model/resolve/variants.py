"""A file of several models → the file of one of them: its options are decided, and nothing of them is left.

What stands in an `if` that options alone decide stands in its place. All that follows (names, types, checks, emitters,
the oracle) sees one model at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, TypeVar

from katapi.language import syntax as s
from katapi.language.nodes import nodes
from katapi.language.source import Span
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.resolve.shared import adopted, has_template, needed

Constant: TypeAlias = str | bool | int
Literal: TypeAlias = s.TextLiteral | s.BoolLiteral | s.IntLiteral

NodeT = TypeVar("NodeT", bound=s.Node)

EntriesT = TypeVar("EntriesT", bound=s.RoleDecl | s.RecordDecl | s.Request)

#: The parts of a request, role or record, and what stands in each.
_ENTRIES: dict[str, type[s.Node]] = {
    "settings": s.Setting,
    "roles": s.RoleDecl,
    "records": s.RecordDecl,
    "tools": s.ToolsDecl,
    "documents": s.DocumentsDecl,
    "params": s.ParamDecl,
    "fields": s.FieldDecl,
}
_TYPES: dict[str, type[Constant]] = {"text": str, "bool": bool, "int": int}


@dataclass(frozen=True, slots=True)
class Option:
    """A declared option: the type and the values that it can have, and whether a model may leave it out."""

    name: str
    kind: type[Constant]
    values: tuple[str, ...]
    optional: bool
    default: Literal | None
    span: Span

    def takes(self, value: Constant | None) -> bool:
        """Whether a value is one of the option's."""
        return type(value) is self.kind and (not self.values or value in self.values)

    @property
    def remedy(self) -> str:
        """What a model may write."""
        if self.values:
            return " | ".join(f'"{value}"' for value in self.values)
        return {str: '"…"', bool: "true | false", int: "40960"}[self.kind]


def declared_options(file: s.File, findings: Findings) -> dict[str, Option]:
    """The options of a file by their names; what is wrong with them, with the models or with their use is reported."""
    out: dict[str, Option] = {}
    for node in file.options:
        if node.name.text in out:
            message = f"`{node.name.text}` is declared twice"
            findings.add("K107", node.name.span, message, first=out[node.name.text].span)
            continue
        option = _option(node, findings)
        if option is None:
            findings.untyped.add(node.name.text)
        else:
            out[option.name] = option
    if file.options and not file.models:
        findings.add("K116", file.options[0].span, "options are for models, of which this file names none")
        findings.untyped |= set(out)
    seen: dict[str, Span] = {}
    for model in file.models:
        if model.name in seen:
            findings.add("K107", model.span, f"the model `{model.name}` is declared twice", first=seen[model.name])
        seen.setdefault(model.name, model.span)
    _check_use(file, out, findings)
    return out


def _option(node: s.Option, findings: Findings) -> Option | None:
    optional = isinstance(node.type, s.OptionalOf)
    inner = node.type.item if isinstance(node.type, s.OptionalOf) else node.type
    match inner:
        case s.Choice(values=values):
            option = Option(node.name.text, str, values, optional, None, node.name.span)
        case s.NamedType(name=name) if name.text in _TYPES:
            option = Option(node.name.text, _TYPES[name.text], (), optional, None, node.name.span)
        case _:
            message = "an option is a `text`, a `bool`, an `int`, or one of some texts"
            findings.add("K106", node.type.span, message, help='write `option thinking: "never" | "always"`')
            return None
    if node.default is None:
        return option
    if not isinstance(node.default, Literal) or not option.takes(_constant(node.default)):
        findings.add("K112", node.default.span, f"this is no value of `{option.name}`", help=f"write {option.remedy}")
        return None
    return replace(option, default=node.default)


def _check_use(file: s.File, options: dict[str, Option], findings: Findings) -> None:
    """Each option is asked for, is compared with values that it has, and shares its name with nothing else.

    Options whose names mean something else as well are taken out of `options`.
    """
    used: set[str] = set()
    taken: set[str] = set()
    for node in nodes((file.declarations, needed(file).shared)):
        match node:
            case s.NameRef(name=name) if name in options:
                used.add(name)
            case s.Compare(left=s.NameRef(name=name), right=right) | s.Compare(left=right, right=s.NameRef(name=name)):
                if name in options:
                    _check_value(options[name], right, findings)
            case s.Within(value=s.NameRef(name=name), container=s.ListLiteral(items=items)) if name in options:
                for item in items:
                    _check_value(options[name], item, findings)
            case s.Match(subject=s.NameRef(name=name), arms=arms) if name in options:
                _check_arms(options[name], node.span, arms, findings)
            case s.Part(atoms=atoms):
                used |= {atom.text for atom in atoms if isinstance(atom, s.Name)} & set(options)
            case _:
                for bound in _bound(node):
                    if bound.text in options:
                        message = f"the name `{bound.text}` is taken already"
                        findings.add("K107", bound.span, message, first=options[bound.text].span)
                        taken.add(bound.text)
    for option in options.values():
        if option.name not in used | taken:
            findings.add("K310", option.span, f"the option `{option.name}` is never used", help="remove it, or use it")
    for name in taken:
        del options[name]
    findings.untyped |= taken


def _check_value(option: Option, value: s.Expr, findings: Findings) -> None:
    constant = _constant(value)
    if constant is not None and not option.takes(constant):
        message = f"`{option.name}` is never {_written(constant)}"
        findings.add("K207", value.span, message, help=f"its values: {option.remedy}")


def _check_arms(option: Option, span: Span, arms: Sequence[s.Arm], findings: Findings) -> None:
    left = set(option.values)
    for arm in arms:
        for pattern in arm.patterns:
            if isinstance(pattern, s.TextPattern) and option.values and pattern.text not in left:
                again = pattern.text in option.values
                message = f'"{pattern.text}" ' + ("has an arm already" if again else f"is no value of `{option.name}`")
                findings.add("K304" if again else "K303", pattern.span, message, help=f"its values: {option.remedy}")
            if isinstance(pattern, s.TextPattern):
                left.discard(pattern.text)
            elif isinstance(pattern, s.OtherPattern):
                return
    if left or not option.values:
        missing = ", ".join(f'"{value}"' for value in option.values if value in left) or "other texts"
        findings.add("K301", span, f"no arm for {missing}", help="add the arm, or `when other { … }`")


def _bound(node: s.Node) -> tuple[s.Name, ...]:
    """The names that a node gives to values."""
    match node:
        case s.Let(name=name) | s.Walk(name=name) | s.Query(name=name) | s.Parameter(name=name) | s.Def(name=name):
            return (name,)
        case s.ParamDecl(name=name) | s.Take(bound=name) | s.Counter(name=name):
            return (name,)
        case s.Each(name=name, value_name=value_name):
            return (name,) if value_name is None else (name, value_name)
        case s.Arm(bound=name) if name is not None:
            return (name,)
        case _:
            return ()


def decided(
    file: s.File, model: s.Model | None, options: Mapping[str, Option], of_options: Findings, findings: Findings
) -> s.File:
    """The file as it is for one of its models, or for itself where it names none.

    What is wrong with options goes to `of_options`, to `findings` what follows for this model alone.
    """
    values = {} if model is None else _values(model, options, of_options)
    findings.untyped |= of_options.untyped
    decider = _Decider(values, of_options)
    uses = file.uses if model is None else (*file.uses, *model.uses)
    variant = None if model is None else model.name
    declarations = tuple(decider.declaration(declaration) for declaration in file.declarations)
    file = replace(file, uses=uses, options=(), models=(), declarations=declarations, variant=variant)
    if has_template(file):
        file = adopted(replace(file, shared=decider.shared(needed(file).shared)), findings)
    for node in nodes(file.declarations):
        if isinstance(node, s.NameRef) and node.name in options and node.name not in findings.untyped:
            message = f"the option `{node.name}` is absent here"
            findings.add("K203", node.span, message, help=f"test it with `exists {node.name}`, or write `??`")
            findings.untyped.add(node.name)
    return file


def _values(model: s.Model, options: Mapping[str, Option], findings: Findings) -> dict[str, Literal | None]:
    """The value of each option of a model, or None where it is absent."""
    out: dict[str, Literal | None] = {}
    for node in model.values:
        name = node.name.text
        option = options.get(name)
        if option is None:
            if name not in findings.untyped:
                findings.add("K110", node.name.span, f"there is no option `{name}`", help=nearest(name, options))
        elif name in out:
            findings.add("K107", node.name.span, f"`{name}` is set twice", label="again here")
        elif not isinstance(node.value, Literal) or not option.takes(_constant(node.value)):
            findings.add("K112", node.value.span, f"this is no value of `{name}`", help=f"write {option.remedy}")
            findings.untyped.add(name)
        else:
            out[name] = node.value
    for option in options.values():
        if option.name in out or option.name in findings.untyped:
            continue
        if option.default is None and not option.optional:
            message = f"the model `{model.name}` does not say `{option.name}`"
            findings.add("K111", model.span, message, help=f"add `{option.name}: {option.remedy}`")
            findings.untyped.add(option.name)
        else:
            out[option.name] = option.default
    return out


def _constant(node: s.Expr | None) -> Constant | None:
    match node:
        case s.TextLiteral(text=text):
            return text
        case s.BoolLiteral(value=value) | s.IntLiteral(value=value):
            return value
        case _:
            return None


def _written(value: Constant) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


class _Decider:
    """Puts the values of options in place of their names, and takes out what they decide."""

    def __init__(self, values: Mapping[str, Literal | None], findings: Findings) -> None:
        self._values = values
        self._findings = findings

    def declaration(self, node: s.Declaration) -> s.Declaration:
        """The same declaration, its parts decided."""
        return self.node(self._with_choices(node) if isinstance(node, s.Request) else node)

    def shared(self, nodes: Sequence[s.Shared]) -> tuple[s.Shared, ...]:
        """The same shared parts, decided."""
        return tuple(self.node(self._with_choices(one) if isinstance(one, s.RecordDecl) else one) for one in nodes)

    def node(self, node: NodeT) -> NodeT:
        """The same node, its parts decided."""
        changes: dict[str, Any] = {}
        for part in fields(node):
            before = getattr(node, part.name)
            after = self._part(before, in_budget=isinstance(node, s.Budget))
            if after is not before:
                changes[part.name] = after
        return replace(node, **changes) if changes else node

    def _with_choices(self, node: EntriesT) -> EntriesT:
        """A request, role or record with what its `if`s come to, in the order of the file."""
        chosen = [entry for choice in node.choices for entry in self._entries(choice)]
        parts: dict[str, Any] = {"choices": ()}
        for part, kind in _ENTRIES.items():
            if hasattr(node, part):
                entries = [*getattr(node, part), *(entry for entry in chosen if isinstance(entry, kind))]
                parts[part] = tuple(sorted(entries, key=lambda entry: entry.span.start))
        return replace(node, **parts)

    def _part(self, value: object, *, in_budget: bool = False) -> object:
        if isinstance(value, tuple):
            whole = tuple(one for part in value for one in self._many(part, in_budget=in_budget))
            return value if _same(whole, value) else whole
        if isinstance(value, s.Expr):
            return self._expression(value)
        return self.node(value) if isinstance(value, s.Node) else value

    def _many(self, value: object, *, in_budget: bool) -> Sequence[object]:
        """What stands in place of one of several parts."""
        match value:
            case s.If():
                return self._if(value)
            case s.Put(value=printed) if self._empty(printed):
                return ()
            case s.BlockText(parts=parts) if any(map(self._empty, parts)):
                left = tuple(part for part in parts if not self._empty(part))
                return [self.node(replace(value, parts=left))] if left else ()
            case s.Match(subject=s.NameRef(name=name), arms=arms) if self._values.get(name) is not None:
                text = _constant(self._values[name])
                arm = next((arm for arm in arms if self._fits(arm, text)), None)
                return () if arm is None else self._items(arm.body)
            case s.Parse(condition=test) if test is not None and self._test(test) is False:
                return ()
            case s.Parse(condition=test) if test is not None and self._test(test) is True:
                return [self.node(replace(value, condition=None))]
            case s.Each(condition=test) | s.Arm(condition=test) | s.Generate(condition=test) if test is not None:
                condition = self._test(test)
                if condition is False:
                    return [s.NoPrefix(span=value.span)] if isinstance(value, s.Generate) else ()
                plain = replace(value, condition=None)
                return [self.node(plain) if condition is True else replace(self.node(plain), condition=condition)]
            case s.RoleDecl() | s.RecordDecl():
                return [self.node(self._with_choices(value))]
            case s.Setting() if in_budget:
                whole = value.key.text in ("window", "reserve")
                return [replace(value, parts=tuple(self._numbers(part, whole=whole) for part in value.parts))]
            case _:
                return [self._part(value)]

    def _numbers(self, part: s.Part, *, whole: bool) -> s.Part:
        """A value of a budget, in which options may give the numbers: the `whole` of it, or one behind a word."""
        atoms: list[s.Atom] = []
        for before, atom in zip((None, *part.atoms), part.atoms, strict=False):
            numeric = whole or (isinstance(before, s.Name) and before.text in ("priority", "least", "most"))
            value = self._values.get(atom.text) if isinstance(atom, s.Name) and numeric else None
            if isinstance(atom, s.Name) and numeric and atom.text in self._findings.untyped:
                atoms.append(s.Number(0, span=atom.span))
            else:
                atoms.append(s.Number(value.value, span=value.span) if isinstance(value, s.IntLiteral) else atom)
        return replace(part, atoms=tuple(atoms))

    @staticmethod
    def _fits(arm: s.Arm, value: Constant | None) -> bool:
        return any(
            isinstance(pattern, s.OtherPattern) or (isinstance(pattern, s.TextPattern) and pattern.text == value)
            for pattern in arm.patterns
        )

    def _items(self, block: s.Block) -> Sequence[s.Item]:
        return self.node(block).items

    def _if(self, node: s.If) -> Sequence[s.Item]:
        """What stands in place of an `if`: itself, or the items of one of its blocks."""
        test = self._test(node.test)
        if test is True:
            return self._items(node.then)
        otherwise: Sequence[s.Item] = ()
        match node.otherwise:
            case s.If() as chained:
                otherwise = self._if(chained)
            case s.Block() as block:
                otherwise = self._items(block)
            case None:
                pass
        if test is False:
            return otherwise
        then = self.node(node.then)
        match node.otherwise:
            case s.Block() as block:
                return [replace(node, test=test, then=then, otherwise=self.node(block))]
            case s.If() as chained if len(otherwise) == 1 and isinstance(otherwise[0], s.If):
                return [replace(node, test=test, then=then, otherwise=otherwise[0])]
            case s.If() as chained if otherwise:
                return [replace(node, test=test, then=then, otherwise=s.Block(tuple(otherwise), span=chained.span))]
            case _:
                return [replace(node, test=test, then=then, otherwise=None)]

    def _entries(self, node: s.EntryIf) -> Sequence[s.RequestEntry]:
        """The entries of a request that stand in place of an `if`."""
        test = self._test(node.test)
        if not isinstance(test, bool):
            self._undecided(test)
            return ()
        match node.then if test else node.otherwise:
            case s.Entries() as chosen:
                return self.node(chosen).entries
            case s.EntryIf() as chained:
                return self._entries(chained)
            case None:
                return ()

    def _undecided(self, test: s.Expr) -> None:
        names = [node for node in nodes(test) if isinstance(node, s.NameRef)]
        if any(node.name in self._findings.untyped for node in names):
            return
        for node in names:
            message = f"there is no option `{node.name}`"
            self._findings.add("K101", node.span, message, help=nearest(node.name, self._values))
        if not names:
            self._findings.add("K205", test.span, "an `if` in a request asks about options")

    def _test(self, test: s.Expr) -> s.Expr | bool:
        """A condition, or its value where options decide it."""
        after = self._expression(test)
        return after.value if isinstance(after, s.BoolLiteral) and after is not test else after

    # ---- expressions

    def _expression(self, node: s.Expr) -> s.Expr:
        if isinstance(node, s.NameRef):
            return self._values.get(node.name) or node
        after = self.node(node)
        if any(isinstance(one, s.NameRef) and one.name in self._values for one in nodes(node)):
            return self._folded(after)
        return after

    def _absent(self, node: s.Expr) -> bool:
        return isinstance(node, s.NameRef) and node.name in self._values and self._values[node.name] is None

    def _empty(self, node: s.Expr) -> bool:
        """Whether an expression is an option that has the empty text: printed, it leaves nothing."""
        return isinstance(node, s.NameRef) and _constant(self._values.get(node.name)) == ""

    def _folded(self, node: s.Expr) -> s.Expr:
        """What an expression comes to, where its parts are known."""
        match node:
            case s.Not(operand=s.BoolLiteral(value=value)):
                return s.BoolLiteral(not value, span=node.span)
            case s.And(operands=operands):
                return self._joined(node, operands, neutral=True)
            case s.Or(operands=operands):
                return self._joined(node, operands, neutral=False)
            case s.Conditional(test=s.BoolLiteral(value=value), then=then, otherwise=otherwise):
                return then if value else otherwise
            case s.Exists(value=value) | s.Given(value=value) if self._absent(value):
                return s.BoolLiteral(False, span=node.span)
            case s.Exists(value=value) if _constant(value) is not None:
                return s.BoolLiteral(True, span=node.span)
            case s.Given(value=value) if (known := _constant(value)) is not None:
                return s.BoolLiteral(bool(known), span=node.span)
            case s.Compare(operator=operator, left=left, right=right):
                first, second = _constant(left), _constant(right)
                known = None if first is None or second is None else _compared(operator, first, second)
                return node if known is None else s.BoolLiteral(known, span=node.span)
            case s.Has(container=s.TextLiteral(text=text), value=s.TextLiteral(text=sought)):
                return s.BoolLiteral(sought in text, span=node.span)
            case s.MethodCall(base=s.TextLiteral(text=text), name=name, arguments=(s.TextLiteral(text=sought),)):
                tests = {"starts_with": text.startswith, "ends_with": text.endswith}
                return s.BoolLiteral(tests[name.text](sought), span=node.span) if name.text in tests else node
            case s.Within(value=value, container=s.ListLiteral(items=items)):
                constants = [_constant(item) for item in items]
                known = _constant(value)
                if known is None or None in constants:
                    return node
                return s.BoolLiteral(any(_equal(known, one) for one in constants), span=node.span)
            case s.Coalesce(options=choices):
                return self._first(node, [choice for choice in choices if not self._absent(choice)])
            case _:
                return node

    @staticmethod
    def _joined(node: s.And | s.Or, operands: Sequence[s.Expr], *, neutral: bool) -> s.Expr:
        """Operands of `and` or `or`; a known one is left out, or decides."""
        if any(isinstance(one, s.BoolLiteral) and one.value is not neutral for one in operands):
            return s.BoolLiteral(not neutral, span=node.span)
        rest = tuple(one for one in operands if not isinstance(one, s.BoolLiteral))
        if not rest:
            return s.BoolLiteral(neutral, span=node.span)
        return rest[0] if len(rest) == 1 else replace(node, operands=rest)

    @staticmethod
    def _first(node: s.Coalesce, choices: Sequence[s.Expr]) -> s.Expr:
        """What is left of `a ?? b`: nothing counts behind a value that is there."""
        sure = next((number for number, one in enumerate(choices) if _constant(one) is not None), len(choices) - 1)
        rest = tuple(choices[: sure + 1])
        return rest[0] if len(rest) == 1 else replace(node, options=rest)


def _compared(operator: s.Operator, left: Constant, right: Constant) -> bool | None:
    if operator is s.Operator.EQUAL or operator is s.Operator.NOT_EQUAL:
        return _equal(left, right) is (operator is s.Operator.EQUAL)
    if isinstance(left, str) or isinstance(right, str):
        return None
    match operator:
        case s.Operator.LESS:
            return left < right
        case s.Operator.LESS_EQUAL:
            return left <= right
        case s.Operator.GREATER:
            return left > right
        case s.Operator.GREATER_EQUAL:
            return left >= right


def _equal(left: Constant, right: Constant | None) -> bool:
    return type(left) is type(right) and left == right


def _same(after: tuple[object, ...], before: tuple[object, ...]) -> bool:
    return len(after) == len(before) and all(one is other for one, other in zip(after, before, strict=True))


def models_of(file: s.File) -> Iterator[s.Model | None]:
    """The models of a file; a file that names none is one itself."""
    yield from file.models or (None,)
