"""Terms of formulas → layout documents, with the parentheses that the tree needs and no others."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import assert_never

from katapi.language import syntax_formulas as f
from katapi.language.layout import Doc, Group, Line, Nest, concat, joined


class _Level(IntEnum):
    """How tightly a term binds, loosest first: the rules of the grammar."""

    WHOLE = 0
    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    FACTOR = 7
    POST = 8


_SUMS = (f.Sign.PLUS, f.Sign.MINUS)


def term(node: f.Term) -> Doc:
    """A term that may be broken into lines, which are then indented by one step."""
    return _doc(node, _Level.WHOLE)


def _doc(node: f.Term, least: _Level) -> Doc:
    """A term where one is needed that binds at least so tightly."""
    level, doc = _built(node)
    return doc if level >= least else concat("(", doc, ")")


def _built(node: f.Term) -> tuple[_Level, Doc]:
    match node:
        case f.Number(value):
            return _Level.POST, repr(value)
        case f.Truth(value):
            return _Level.POST, "true" if value else "false"
        case f.Ref(name):
            return _Level.POST, name.text
        case f.Member(base, name):
            return _Level.POST, concat(_doc(base, _Level.POST), f".{name.text}")
        case f.Item(base, index):
            return _Level.POST, concat(_doc(base, _Level.POST), "[", term(index), "]")
        case f.Apply(name, arguments):
            return _Level.POST, _enclosed(f"{name.text}(", arguments, ")")
        case f.Listed(items):
            return _Level.POST, _enclosed("[", items, "]")
        case f.Collected():
            return _Level.POST, _collected(node)
        case f.Negative(operand):
            return _Level.FACTOR, concat("-", _doc(operand, _Level.FACTOR))
        case f.Binary(sign):
            level = _Level.SUM if sign in _SUMS else _Level.PRODUCT
            return level, Group(Nest(concat(*_chain(node, level))))
        case f.Comparison(operator, left, right):
            pair = concat(_doc(left, _Level.SUM), Line(), f"{operator.value} ", _doc(right, _Level.SUM))
            return _Level.COMPARISON, Group(Nest(pair))
        case f.NotOf(operand):
            return _Level.NOT, concat("not ", _doc(operand, _Level.NOT))
        case f.AllOf(operands):
            return _Level.AND, _operands("and", operands, _Level.NOT)
        case f.AnyOf(operands):
            return _Level.OR, _operands("or", operands, _Level.AND)
        case f.When():
            return _Level.WHOLE, _when(node)
        case f.Pick():
            return _Level.WHOLE, _pick(node)
        case f.Bisect(name, low, high, width, condition):
            ends = [_doc(one, _Level.SUM) for one in (low, high, width)]
            words = [f"bisect {name.text} from ", ends[0], " to ", ends[1], " until ", ends[2]]
            return _Level.WHOLE, Group(Nest(concat(*words, Line(), "where ", _doc(condition, _Level.OR))))
        case _:
            assert_never(node)


def _chain(node: f.Binary, level: _Level) -> list[Doc]:
    """Operations of one level, which are grouped from the left."""
    left = node.left
    same = isinstance(left, f.Binary) and (_Level.SUM if left.sign in _SUMS else _Level.PRODUCT) is level
    first = _chain(left, level) if same and isinstance(left, f.Binary) else [_doc(left, _Level(level + same))]
    return [*first, Line(), f"{node.sign.value} ", _doc(node.right, _Level(level + 1))]


def _operands(word: str, operands: Sequence[f.Term], least: _Level) -> Doc:
    return Group(Nest(joined([Line(), f"{word} "], [_doc(one, least) for one in operands])))


def _enclosed(opening: str, items: Sequence[f.Term], closing: str) -> Doc:
    if not items:
        return opening + closing
    inner = joined([",", Line()], [term(one) for one in items])
    return Group(concat(opening, Nest(concat(Line(""), inner)), Line(""), closing))


def _collected(node: f.Collected) -> Doc:
    parts: list[Doc] = [term(node.item)]
    for loop in node.loops:
        parts += [Line(), f"for {loop.name.text} in ", _doc(loop.source, _Level.SUM)]
    if node.condition is not None:
        parts += [Line(), "where ", _doc(node.condition, _Level.OR)]
    return Group(concat("[", Nest(concat(Line(""), *parts)), Line(""), "]"))


def _when(node: f.When) -> Doc:
    parts: list[Doc] = []
    rest: f.Term = node
    while isinstance(rest, f.When):
        parts += ["if ", term(rest.test), Line(), "then ", term(rest.then), Line(), "else "]
        rest = rest.otherwise
    return Group(Nest(concat(*parts, term(rest))))


def _pick(node: f.Pick) -> Doc:
    parts: list[Doc] = [f"{node.choice.value} {node.name.text} in ", _doc(node.source, _Level.SUM)]
    if node.condition is not None:
        parts += [Line(), "where ", _doc(node.condition, _Level.OR)]
    if node.key is not None:
        parts += [Line(), "by ", _doc(node.key, _Level.SUM)]
    return Group(Nest(concat(*parts)))
