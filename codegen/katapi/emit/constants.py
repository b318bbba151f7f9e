"""Constants of a generated renderer: what the template always prints in one go, and texts that variables hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from katapi.emit.module import Constant, ControlPiece, LiteralPiece, MarkPiece, Piece, RolePiece, site_source
from katapi.emit.python import Lines, string, string_lines, tuple_of, width

_ROLE = "role"


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, or a tuple where `name` is empty."""

    name: str
    arguments: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is written in the template."""

    text: str


_Node: TypeAlias = _Call | _Text | str


def constant_source(constant: Constant) -> str:
    """The assignment of a constant."""
    lines = Lines()
    value = _value(constant)
    role = constant.role
    if role is None:
        _add(lines, f"{constant.name} = ", value, "")
        return lines.text()
    element = f"{_ROLE}: {_line(value)}"
    roles = f"for {_ROLE} in {tuple_of(map(string, role.roles))}"
    whole = f"{constant.name} = {{{element} {roles}}}"
    if width(whole) <= lines.room():
        lines.add(whole)
        return lines.text()
    lines.add(f"{constant.name} = {{")
    lines.indent()
    _add(lines, f"{_ROLE}: ", value, "")
    lines.add(roles)
    lines.dedent()
    lines.add("}")
    return lines.text()


def _value(constant: Constant) -> _Node:
    if constant.printed:
        return _Call("fixed", tuple(map(_printed, constant.pieces)))
    (piece,) = constant.pieces
    return _Call("", _kept(piece))


def _printed(piece: Piece) -> _Node:
    match piece:
        case MarkPiece(name=name):
            return name
        case ControlPiece(name=name, site=site):
            return _Call("ControlSegment", (f"Control.{name}", site_source(site)))
        case LiteralPiece() | RolePiece():
            return _Call("LiteralSegment", _kept(piece))


def _kept(piece: Piece) -> tuple[_Node, ...]:
    assert isinstance(piece, LiteralPiece | RolePiece)
    text = _ROLE if isinstance(piece, RolePiece) else _Text(piece.text)
    return _Call("Literal", (text,)), site_source(piece.site)


def _line(node: _Node) -> str:
    """A value on one line."""
    match node:
        case _Call(name=name, arguments=arguments):
            return f"{name}({', '.join(map(_line, arguments))})"
        case _Text(text=text):
            return string(text)
        case str():
            return node


def _add(lines: Lines, head: str, node: _Node, tail: str) -> None:
    """Adds a value; where it does not fit on a line, one argument a line, and of a text one line a line.

    A text fits whatever stands behind it, as the project's formatter has it.
    """
    behind = 0 if isinstance(node, _Text) else width(tail)
    if width(head + _line(node)) + behind <= lines.room() or isinstance(node, str):
        lines.add(head + _line(node) + tail)
        return
    if isinstance(node, _Text):
        pieces = string_lines(node.text)
        for piece in pieces[:-1]:
            lines.add(piece)
        lines.add(pieces[-1] + (tail if len(pieces) == 1 else ""))
        return
    lines.add(f"{head}{node.name}(")
    lines.indent()
    for argument in node.arguments:
        _add(lines, "", argument, ",")
    lines.dedent()
    lines.add(")" + tail)
