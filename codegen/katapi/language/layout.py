"""Documents that know where they may be broken into lines, and the choice of the breaks for a line width.

A group is printed on one line where it fits there with what follows up to the next possible line end; else its own
lines are broken, and each group inside decides for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Line:
    """A line end where its group is broken, else `flat`."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class HardLine:
    """A line end; what contains it is broken."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A comment at the end of a line: it takes no width, and a HardLine follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Concat:
    """One document after the other."""

    parts: tuple[Doc, ...]
    hard: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hard", any(is_hard(p) for p in self.parts))


@dataclass(frozen=True, slots=True)
class Nest:
    """The lines of a document are indented further."""

    doc: Doc
    by: int = 2
    hard: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hard", is_hard(self.doc))


@dataclass(frozen=True, slots=True)
class Group:
    """A document whose lines are all broken or all flat."""

    doc: Doc
    hard: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hard", is_hard(self.doc))


@dataclass(frozen=True, slots=True)
class Fill:
    """Documents on as few lines as hold them; one that does not fit on a line stands by itself. None is hard."""

    items: tuple[Doc, ...]


Doc: TypeAlias = str | Line | HardLine | Aside | Concat | Nest | Group | Fill


def is_hard(doc: Doc) -> bool:
    """Whether a document cannot stand on one line."""
    if isinstance(doc, (Concat, Nest, Group)):
        return doc.hard
    return isinstance(doc, HardLine)


def concat(*parts: Doc) -> Doc:
    """The parts one after the other."""
    return Concat(parts)


def joined(separator: Sequence[Doc], parts: Iterable[Doc]) -> Doc:
    """The parts with the separator between them."""
    out: list[Doc] = []
    for part in parts:
        out.extend((*separator, part) if out else (part,))
    return Concat(tuple(out))


def flat_text(doc: Doc) -> str:
    """A document that is not hard as one line."""
    match doc:
        case str():
            return doc
        case Line(flat):
            return flat
        case Concat(parts):
            return "".join(flat_text(p) for p in parts)
        case Nest(inner) | Group(inner):
            return flat_text(inner)
        case Fill(items):
            return " ".join(flat_text(i) for i in items)
        case HardLine() | Aside():
            raise ValueError("a hard document has no one-line form")


def render(doc: Doc, width: int) -> str:
    """The text of a document, broken into lines of at most `width` code points where its lines allow that."""
    out: list[str] = []
    column = 0
    margin = ""  # written before the next text, so that an empty line stays empty
    todo: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while todo:
        indent, flat, doc = todo.pop()
        match doc:
            case str():
                if doc:
                    out.append(margin + doc)
                    column += len(doc)
                    margin = ""
            case Line(text) if flat:
                out.append(text)
                column += len(text)
            case Line() | HardLine():
                out.append("\n")
                column, margin = indent, " " * indent
            case Aside(text):
                out.append(text)
            case Concat(parts):
                todo.extend((indent, flat, p) for p in reversed(parts))
            case Nest(inner, by):
                todo.append((indent + by, flat, inner))
            case Group(inner):
                one_line = flat or (not doc.hard and _fits(inner, todo, width - column))
                todo.append((indent, one_line, inner))
            case Fill():
                todo.append((indent, False, flat_text(doc) if flat else _filled(doc, indent, column, width)))
    return "".join(out)


def _fits(doc: Doc, rest: Sequence[tuple[int, bool, Doc]], room: int) -> bool:
    """Whether a document fits flat, with what follows up to the next line end that is or may be one."""
    todo = [(True, doc)]
    following = len(rest)
    while room >= 0:
        if not todo:
            if following == 0:
                return True
            following -= 1
            _, flat, doc = rest[following]
            todo.append((flat, doc))
        flat, doc = todo.pop()
        match doc:
            case str():
                room -= len(doc)
            case Line(text):
                if not flat:
                    return True
                room -= len(text)
            case HardLine():
                return True
            case Aside():
                pass
            case Concat(parts):
                todo.extend((flat, p) for p in reversed(parts))
            case Nest(inner) | Group(inner):
                todo.append((flat, inner))
            case Fill(items):
                if not flat:
                    return room >= len(flat_text(items[0]))
                room -= len(flat_text(doc))
    return False


def _filled(fill: Fill, indent: int, column: int, width: int) -> Doc:
    """A fill as text and line ends, for a line that is written up to `column`."""
    parts: list[Doc] = []
    alone = False  # the item before is broken: the next one begins a line
    for number, item in enumerate(fill.items):
        text = flat_text(item)
        if number and (alone or column + 1 + len(text) > width):
            parts.append(HardLine())
            column = indent
        elif number:
            parts.append(" ")
            column += 1
        alone = column + len(text) > width
        parts.append(Group(item) if alone else text)
        column += len(text)
    return Concat(tuple(parts))
