"""Expressions, types and block texts → layout documents, with the parentheses that the tree needs and no others."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import assert_never

from katapi.language import syntax as s
from katapi.language.layout import Doc, Group, HardLine, Line, Nest, concat, flat_text, joined
from katapi.language.literals import quote


class _Level(IntEnum):
    """How tightly an expression binds, loosest first: the rules of the grammar."""

    WHOLE = 0
    OR = 1
    AND = 2
    NOT = 3
    RELATION = 4
    COALESCE = 5
    AS = 6
    POST = 7
    ATOM = 8


def type_text(node: s.TypeRef) -> str:
    """A type as it is written."""
    match node:
        case s.NamedType(name):
            return name.text
        case s.ListOf(item):
            return f"[{type_text(item)}]"
        case s.OptionalOf(item):
            return f"{type_text(item)}?"
        case s.Choice(values):
            return " | ".join(quote(v) for v in values)
        case s.FromText(target, verbatim):
            return f"{target.text} from text" + (" verbatim" if verbatim else "")
        case s.FromParts(target, separator):
            return f"{target.text} from parts {quote(separator)}"
        case s.UnionOf(members):
            return " | ".join(map(type_text, members))
        case s.CarriedImage(kind):
            return kind.value
        case _:
            assert_never(node)


def expression(node: s.Expr) -> Doc:
    """An expression that may be broken into lines, which are then indented by one step."""
    return _Expressions(within_block=False).doc(node, _Level.WHOLE)


def block_text(node: s.BlockText) -> Doc:
    """A text between triple quotes, one line of it a line."""
    written = _Expressions(within_block=True)
    lines: list[list[str]] = [[]]
    raw_before = False
    for number, part in enumerate(node.parts):
        following = node.parts[number + 1] if number + 1 < len(node.parts) else None
        raw = not raw_before and isinstance(part, s.TextLiteral) and _may_be_raw(part.text, following)
        if raw and isinstance(part, s.TextLiteral):
            first, *others = part.text.replace("${", "$${").split("\n")
            lines[-1].append(first)
            lines.extend([line] for line in others)
        else:
            lines[-1].append("${" + flat_text(written.doc(part, _Level.WHOLE)) + "}")
        raw_before = raw
    body = [] if not node.parts else [part for line in lines for part in (HardLine(), "".join(line))]
    return concat('"""', *body, HardLine(), '"""')


def _may_be_raw(text: str, following: s.Expr | None) -> bool:
    """Whether a part of a block text can stand there by itself; else it is written as `${"…"}`."""
    return bool(text) and '"""' not in text and "\r" not in text and not (following and text.endswith("$"))


class _Expressions:
    def __init__(self, *, within_block: bool) -> None:
        self._within_block = within_block

    def _quote(self, text: str) -> str:
        return quote(text, within_block=self._within_block)

    def doc(self, node: s.Expr, least: _Level) -> Doc:
        """An expression where one is needed that binds at least so tightly."""
        level, doc = self._built(node)
        return doc if level >= least else concat("(", doc, ")")

    def _built(self, node: s.Expr) -> tuple[_Level, Doc]:
        match node:
            case s.ControlRef(name):
                return _Level.ATOM, f"@{name}"
            case s.TextLiteral(text):
                return _Level.ATOM, self._quote(text)
            case s.IntLiteral(number):
                return _Level.ATOM, str(number)
            case s.BoolLiteral(truth):
                return _Level.ATOM, "true" if truth else "false"
            case s.NameRef(name):
                return _Level.ATOM, name
            case s.Beside(neighbour, of):
                return _Level.ATOM, f"{neighbour.value} {of.text}"
            case s.ListLiteral(items):
                return _Level.ATOM, self._enclosed("[", items, "]")
            case s.Call(called, arguments):
                return _Level.ATOM, self._enclosed(f"{called.text}(", arguments, ")")
            case s.ObjectLiteral(pairs):
                return _Level.ATOM, self._object(pairs)
            case s.FieldRef() | s.MethodCall():
                return _Level.POST, self._chain(node)
            case s.As(value, serialization):
                return _Level.AS, concat(self.doc(value, _Level.POST), f" as {serialization.text}")
            case s.Coalesce(options):
                return _Level.COALESCE, self._operands("??", options, _Level.AS)
            case s.Not(operand):
                return _Level.NOT, concat("not ", self.doc(operand, _Level.NOT))
            case s.And(operands):
                return _Level.AND, self._operands("and", operands, _Level.NOT)
            case s.Or(operands):
                return _Level.OR, self._operands("or", operands, _Level.AND)
            case s.Conditional() | s.Query():
                return _Level.WHOLE, self._whole(node)
            case _:
                return _Level.RELATION, self._relation(node)

    def _relation(
        self, node: s.Compare | s.Within | s.Has | s.IsKind | s.IsEnd | s.IsBeside | s.Given | s.Exists
    ) -> Doc:
        match node:
            case s.Compare(operator, left, right):
                return self._pair(left, operator.value, right)
            case s.Within(value, container):
                return self._pair(value, "in", container)
            case s.Has(container, value):
                return self._pair(container, "has", value)
            case s.IsKind(value, kinds, negated):
                return concat(self._operand(value), _is(negated), " | ".join(k.text for k in kinds))
            case s.IsEnd(value, end, negated):
                return concat(self._operand(value), _is(negated), end.value)
            case s.IsBeside(value, side, other, negated):
                return concat(self._operand(value), _is(negated), f"{side.value} ", self._operand(other))
            case s.Given(value):
                return concat("given ", self._operand(value))
            case s.Exists(value):
                return concat("exists ", self._operand(value))
            case _:
                assert_never(node)

    def _operand(self, node: s.Expr) -> Doc:
        return self.doc(node, _Level.COALESCE)

    def _pair(self, left: s.Expr, word: str, right: s.Expr) -> Doc:
        return Group(Nest(concat(self._operand(left), Line(), f"{word} ", self._operand(right))))

    def _operands(self, word: str, operands: Sequence[s.Expr], least: _Level) -> Doc:
        return Group(Nest(joined([Line(), f"{word} "], [self.doc(o, least) for o in operands])))

    def _whole(self, node: s.Conditional | s.Query) -> Doc:
        if isinstance(node, s.Query):
            words = f"{node.quantifier.value} {node.name.text} in "
            view = "" if node.view is None else f" {node.view.side.value} {node.view.name.text}"
            return concat(words, self._operand(node.source), view, " where ", self.doc(node.condition, _Level.OR))
        parts: list[Doc] = []
        rest: s.Expr = node
        while isinstance(rest, s.Conditional):
            parts += ["if ", self.doc(rest.test, _Level.WHOLE), Line()]
            parts += ["then ", self.doc(rest.then, _Level.WHOLE), Line(), "else "]
            rest = rest.otherwise
        return Group(Nest(concat(*parts, self.doc(rest, _Level.WHOLE))))

    def _enclosed(self, opening: str, items: Sequence[s.Expr], closing: str) -> Doc:
        if not items:
            return opening + closing
        inner = joined([",", Line()], [self.doc(i, _Level.WHOLE) for i in items])
        return Group(concat(opening, Nest(concat(Line(""), inner)), Line(""), closing))

    def _object(self, pairs: Sequence[tuple[str, s.Expr]]) -> Doc:
        if not pairs:
            return "object {}"
        inner = joined([",", Line()], [concat(f"{key}: ", self.doc(value, _Level.WHOLE)) for key, value in pairs])
        return Group(concat("object {", Nest(concat(Line(), inner)), Line(), "}"))

    def _chain(self, node: s.FieldRef | s.MethodCall) -> Doc:
        """Fields and methods of a value; a chain of several calls is broken before each of them."""
        chain: list[s.FieldRef | s.MethodCall] = [node]
        while isinstance(chain[-1].base, (s.FieldRef, s.MethodCall)):
            chain.append(chain[-1].base)
        several = sum(isinstance(link, s.MethodCall) for link in chain) > 1
        parts = [self.doc(chain[-1].base, _Level.POST)]
        for link in reversed(chain):
            if isinstance(link, s.FieldRef):
                parts.append(f".{link.name.text}")
                continue
            if several:
                parts.append(Line(""))
            parts.append(self._enclosed(f".{link.name.text}(", link.arguments, ")"))
        return Group(Nest(concat(*parts)) if several else concat(*parts))


def _is(negated: bool) -> str:
    return " is not " if negated else " is "
