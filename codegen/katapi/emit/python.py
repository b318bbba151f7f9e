"""Pieces of Python source: string literals, imports, and lines that keep to the width of the project."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

WIDTH = 120


def width(source: str) -> int:
    """How many columns source text takes: a wide character of East Asia takes two, a combining mark none."""
    if source.isascii():
        return len(source)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in source
    )


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def string(text: str) -> str:
    """A string literal, in double quotes unless single ones save an escape."""
    quote = "'" if '"' in text and "'" not in text else '"'
    out = []
    for c in text:
        if c in _ESCAPES:
            out.append(_ESCAPES[c])
        elif c == quote:
            out.append("\\" + c)
        elif c.isprintable():
            out.append(c)
        elif ord(c) < 0x100:
            out.append(f"\\x{ord(c):02x}")
        elif ord(c) < 0x10000:
            out.append(f"\\u{ord(c):04x}")
        else:
            out.append(f"\\U{ord(c):08x}")
    return quote + "".join(out) + quote


def string_lines(text: str) -> list[str]:
    """A long text as string literals that Python joins, one a line of the text with the blank lines after it."""
    return [string(line) for line in re.findall(r"[^\n]*\n+|[^\n]+", text)]


def tuple_of(items: Iterable[str]) -> str:
    """A tuple display."""
    parts = list(items)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def from_import(module: str, names: Iterable[str]) -> str:
    """An import statement, one name a line where it is too long."""
    ordered = sorted(set(names), key=_import_order)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {n},\n" for n in ordered) + ")"


def _import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as the project's linter sorts them."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def imports(by_module: Mapping[str, Iterable[str]]) -> list[str]:
    """Import statements in order of their modules; modules without names are left out."""
    return [from_import(m, names) for m, names in sorted(by_module.items()) if list(names)]


class Lines:
    """Source lines under construction, with the indentation of the block they stand in."""

    def __init__(self, depth: int = 0) -> None:
        self._lines: list[str] = []
        self._depth = depth

    def add(self, line: str) -> None:
        """Adds a line."""
        self._lines.append("    " * self._depth + line if line else "")

    def room(self) -> int:
        """How many columns a line may take here."""
        return WIDTH - 4 * self._depth

    def statement(self, head: str, body: str, tail: str = "") -> None:
        """Adds `head body tail`; an expression that does not fit is broken over lines."""
        if width(head + body + tail) <= self.room():
            self.add(head + body + tail)
            return
        for operator in (" if ", " or ", " and "):
            parts = _split(body, operator)
            bare = len(parts) == 2 and operator != " if " and _may_stand_bare(body)
            if bare and self._fits_opened(head, body + tail):
                return
            if len(parts) > 1:
                self.add(head + "(")
                self._operands(parts, operator)
                self.add(")" + tail)
                return
        compared = _parts(body, _COMPARISONS)
        lines = _broken(body, self.room(), beside=width(head + tail), enclosed=False)
        fits = width(body) <= self.room() - 4
        if len(compared) == 2 and _group(compared[0]) and self._fits_opened(head, body + tail):
            return
        hugs = compared[-1].endswith((")", "]", "}")) and not compared[-1].endswith("[0]")
        if (len(lines) == 1 and fits) or (len(compared) > 1 and not hugs):
            self.add(head + "(")
            for line in _broken(body, self.room() - 4):
                self.add("    " + line)
            self.add(")" + tail)
            return
        if width(head + lines[0]) > self.room():
            for line in _opened(head + body + tail, len(head), self.room()):
                self.add(line)
            return
        if len(lines) == 1:
            self.add(head + body + tail)
            return
        self.add(head + lines[0])
        for line in lines[1:-1]:
            self.add(line)
        self.add(lines[-1] + tail)

    def _fits_opened(self, head: str, rest: str) -> bool:
        """Adds a statement whose brackets are opened, if its lines fit so."""
        lines = _opened(head + rest, len(head), self.room())
        if any(width(line) > self.room() for line in lines):
            return False
        for line in lines:
            self.add(line)
        return True

    def loop(self, target: str, source: str) -> None:
        """Adds the head of a loop; names that do not fit beside what it goes through stand one a line."""
        opening = _opening(source)
        names = _split(target, ", ")
        if len(names) == 1 or width(f"for {target} in {source[: opening + 1]}") <= self.room():
            self.statement(f"for {target} in ", source, ":")
            return
        self.add("for (")
        for name in names:
            self.add(f"    {name},")
        self.statement(") in ", source, ":")

    def _operands(self, parts: list[str], operator: str) -> None:
        whole = operator.join(parts)
        if width(whole) <= self.room() - 4:
            lines = [whole]
        elif operator == " if ":
            lines = _choices(whole)
        else:
            lines = _parts(whole, _OR + _AND)
        for line in lines:
            for piece in _broken(line, self.room() - 4):
                self.add("    " + piece)

    def items(self, head: str, items: list[str]) -> None:
        """Adds `head (items)`, one item a line where they do not fit."""
        line = head + tuple_of(items)
        if width(line) <= self.room():
            self.add(line)
            return
        self.add(head + "(")
        for item in items:
            lines = _broken(item, self.room() - 4, beside=1)
            for part in lines[:-1]:
                self.add("    " + part)
            self.add("    " + lines[-1] + ",")
        self.add(")")

    def indent(self) -> None:
        """Enters a block."""
        self._depth += 1

    def dedent(self) -> None:
        """Leaves a block."""
        self._depth -= 1

    def __len__(self) -> int:
        return len(self._lines)

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines)


def call(name: str, arguments: Iterable[str]) -> str:
    """A call."""
    return f"{name}({', '.join(arguments)})"


def _broken(code: str, room: int, beside: int = 0, *, enclosed: bool = True) -> list[str]:
    """An expression that does not fit in lines: a choice in three parts, a call or display with its parts below.

    `beside` is the width of what shares its line as long as it is one. Only what brackets enclose is broken at `|`.
    """
    if width(code) + beside <= room:
        return [code]
    choices = _choices(code)
    if len(choices) > 1:
        *first, last = choices
        return [*(line for part in first for line in _broken(part, room)), *_broken(last, room, beside)]
    for operators in (_OR, _AND, _COMPARISONS) if enclosed and not code.startswith("for ") else ():
        *before, end = _parts(code, operators)
        if before:
            return [*(line for part in before for line in _broken(part, room)), *_broken(end, room, beside)]
    united = _split(code, " | ") if enclosed else [code]
    if len(united) > 1:
        parts = [united[0], *(f"| {part}" for part in united[1:])]
        return [line for part in parts for line in _broken(part, room, beside)]
    if code.endswith(")[0]"):
        *before, end = _broken(code.removesuffix("[0]"), room, beside + 3)
        return [*before, end + "[0]"]
    opening = _opening(code)
    if opening < 0:
        return [code]
    called_on = code.rfind(")[0].", 0, opening) + 1
    if called_on and width(code[: opening + 1]) > room:
        *before, end = _broken(code[:called_on], room)
        return [*before, end + code[called_on:]]
    inner = code[opening + 1 : -1]
    alone = inner.endswith(",")  # a tuple of one
    items = _split(inner.removesuffix(","), ", ")
    called = code[:opening][-1:].isalnum() or code[:opening].endswith(("_", ")", "]"))
    grouped = code[opening] == "(" and not (called or alone) and len(items) == 1
    if width(inner) <= room - 4 and (called or grouped or len(_clauses(inner)) > 1):
        return [code[: opening + 1], "    " + inner, code[-1]]
    lines = [code[: opening + 1]]
    clauses = _clauses(inner)
    if len(clauses) > 1:
        return [*lines, *("    " + part for clause in clauses for part in _broken(clause, room - 4)), code[-1]]
    for item in _parts(inner, _OR + _AND) if grouped and len(_choices(inner)) == 1 else items:
        comma = alone or len(items) > 1 or not (grouped or item.startswith("*"))
        parts = _broken(item, room - 4, beside=1 if comma else 0)
        lines.extend("    " + part for part in parts[:-1])
        lines.append("    " + parts[-1] + ("," if comma else ""))
    return [*lines, code[-1]]


def _may_stand_bare(code: str) -> bool:
    """Whether an operator stands without parentheses around all: it begins or ends with brackets that can be opened."""
    if code.endswith((")", "]", "}")) and not code.endswith(("()", "[]", "{}")):
        return True
    return code.startswith(("(", "[", "{")) and not code.startswith(("()", "[]", "{}"))


def _opened(code: str, start: int, room: int) -> list[str]:
    """A line whose brackets are opened, one after the other from a place on, until the rest of it fits."""
    lines: list[str] = []
    line, rest = code[:start], code[start:]
    while width(line + rest) > room and (end := _closing(rest)) >= 0:
        part, rest = rest[: end + 1], rest[end + 1 :]
        if part.endswith(("()", "[]", "{}")) or (_closing(rest) >= 0 and width(line + part + _head(rest)) <= room):
            line += part
            continue
        first, *inner, last = _broken(part, room, room, enclosed=False)
        lines += [line + first, *inner]
        line = last
    return [*lines, line + rest]


def _head(code: str) -> str:
    """Code up to its first bracket that can be opened."""
    end = _closing(code)
    opening = _opening(code[: end + 1]) + 1
    return code[:opening] if opening < end else code[: end + 1] + _head(code[end + 1 :]) if end >= 0 else code


def _closing(code: str) -> int:
    """Where the first of the brackets is closed; -1 if there are none."""
    return next((i for i, c, depth in _outside_of_quotes(code) if c in _CLOSING and depth == 0), -1)


def _group(code: str) -> str:
    """What stands in the parentheses around all of an expression; nothing where there are none."""
    return code[1:-1] if code.startswith("(") and code.endswith(")") and _opening(code) == 0 else ""


_OR, _AND = (" or ",), (" and ",)
_COMPARISONS = (" == ", " != ", " < ", " <= ", " > ", " >= ", " not in ", " in ", " is not ", " is ")


def _parts(code: str, operators: tuple[str, ...]) -> list[str]:
    """The parts between some operators, each behind the first with the operator before it."""
    for operator in operators:
        first, *others = _split(code, operator)
        if others:
            return [first, *(operator.lstrip() + other for other in others)]
    return [code]


def _choices(code: str) -> list[str]:
    """The parts of `a if t else b if u else c`, each with the word before it."""
    value, *rest = _split(code, " if ")
    parts = [value]
    for choice in rest:
        test, otherwise = _split(choice, " else ")
        parts += [f"if {test}", f"else {otherwise}"]
    return parts


def _clauses(code: str) -> list[str]:
    """The parts of `a for b in c if t`, each with the word before it."""
    value, *loops = _split(code, " for ")
    parts = [value]
    for loop in loops:
        head, *tests = _split(loop, " if ")
        parts += [f"for {head}", *(f"if {test}" for test in tests)]
    return parts


def _opening(code: str) -> int:
    """Where the bracket stands that the last character closes; -1 if it closes none."""
    if not code.endswith(_CLOSING):
        return -1
    return max((i for i, c, depth in _outside_of_quotes(code) if c in _OPENING and depth == 0), default=-1)


def _split(code: str, separator: str) -> list[str]:
    """Parts between separators that stand outside of brackets and string literals."""
    parts, start = [], 0
    for i, c, depth in _outside_of_quotes(code):
        if depth == 0 and i >= start and c == separator[0] and code.startswith(separator, i):
            parts.append(code[start:i])
            start = i + len(separator)
    return [*parts, code[start:]]


_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


def _outside_of_quotes(code: str) -> Iterator[tuple[int, str, int]]:
    """The characters outside of string literals, with their places and how many brackets stand around each."""
    depth, quote, escaped = 0, "", False
    for i, c in enumerate(code):
        if quote:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == quote:
                quote = ""
        elif c in ('"', "'"):
            quote = c
        else:
            if c in _CLOSING:
                depth -= 1
            yield i, c, depth
            if c in _OPENING:
                depth += 1
