"""Placeholders of images → Python statements that yield pieces."""

from __future__ import annotations

import keyword
import re
from typing import assert_never

from katapi.emit.python import Lines, call, string
from katapi.emit.terms import TermWriter, name_of
from katapi.model.formulas import Quantity
from katapi.model.images import ControlMark, EachMark, IfMark, Mark, Marks, NumberMark, RepeatMark, TextMark

_PIECES = "katapi.runtime.images.pieces"
_FIELD = re.compile(r"\{(\w+)\}")


class MarkWriter:
    """Writes marks below each other; what stands in loops says where each of these is."""

    def __init__(self, writer: TermWriter, lines: Lines) -> None:
        self._writer = writer
        self._lines = lines

    def block(self, marks: Marks, loops: tuple[Quantity, ...] = ()) -> None:
        """The statements of a block."""
        if not marks:
            self._lines.add("pass")
        for mark in marks:
            self._mark(mark, loops)

    def _mark(self, mark: Mark, loops: tuple[Quantity, ...]) -> None:
        lines, writer = self._lines, self._writer
        match mark:
            case ControlMark() | TextMark() | NumberMark():
                lines.statement("yield ", self._piece(mark, None, loops))
            case EachMark(variable, source, body):
                lines.loop(name_of(variable.name), writer.text(source))
                self._indented(body, (*loops, variable))
            case RepeatMark(count, (ControlMark() | TextMark() | NumberMark() as one,)):
                lines.statement("yield ", self._piece(one, writer.text(count), loops))
            case RepeatMark(count, body):
                lines.loop("_", call("range", [writer.text(count)]))
                self._indented(body, loops)
            case IfMark():
                self._choice(mark, loops)
            case _:
                assert_never(mark)

    def _choice(self, mark: IfMark, loops: tuple[Quantity, ...]) -> None:
        word = "if "
        rest: Marks = (mark,)
        while len(rest) == 1 and isinstance(rest[0], IfMark):
            self._lines.statement(word, self._writer.text(rest[0].test), ":")
            self._indented(rest[0].then, loops)
            word, rest = "elif ", rest[0].otherwise
        if rest:
            self._lines.add("else:")
            self._indented(rest, loops)

    def _indented(self, body: Marks, loops: tuple[Quantity, ...]) -> None:
        self._lines.indent()
        self.block(body, loops)
        self._lines.dedent()

    def _piece(self, mark: ControlMark | TextMark | NumberMark, count: str | None, loops: tuple[Quantity, ...]) -> str:
        """A control token or a text, once or so many times."""
        name = self._writer.need(_PIECES, "control" if isinstance(mark, ControlMark) else "text")
        match mark:
            case ControlMark():
                spelling = self._spelling(mark)
            case TextMark(written):
                spelling = string(written)
            case NumberMark(value, digits):
                spelling = f'f"{{{self._writer.text(value)}:.{digits}f}}"'
            case _:
                assert_never(mark)
        return call(name, [spelling, *([] if count is None else [count]), *map(_index, loops)])

    def _spelling(self, mark: ControlMark) -> str:
        control = mark.control
        if not control.parameters:
            return string(control.spelling)
        values = dict(zip(control.parameters, map(self._writer.text, mark.arguments), strict=True))
        parts = _FIELD.split(control.spelling)
        texts = [string(part)[1:-1].replace("{", "{{").replace("}", "}}") for part in parts[::2]]
        fields = [f"{{{values[name]}}}" for name in parts[1::2]]
        return f'f"{"".join(a + b for a, b in zip(texts, [*fields, ""], strict=True))}"'


def _index(variable: Quantity) -> str:
    """An argument that says where a loop is."""
    name = variable.name
    return f'**{{"{name}": {name_of(name)}}}' if keyword.iskeyword(name) else f"{name}={name_of(name)}"
