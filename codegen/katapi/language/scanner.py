"""What can be told from the characters alone: quoted texts, comments and brackets, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from katapi.language.source import Span


class Kind(Enum):
    """What a piece of source text is."""

    QUOTED = "quoted"
    COMMENT = "comment"
    OPEN = "open"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Piece:
    """One quoted text, comment or bracket of a source."""

    kind: Kind
    span: Span


_PIECE = re.compile(
    r'''(?P<quoted>"""[\s\S]*?"""'''
    r'''|"(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*"'''
    r"""|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"""
    r"""|`(?:``|[^`\n])*`)"""
    r"""|(?P<comment>\#[^\n]*)|(?P<open>[{(\[])|(?P<close>[})\]])"""
)


def scan(text: str) -> Iterator[Piece]:
    """The pieces of a text in order; what is neither quoted, comment nor bracket is passed over."""
    for match in _PIECE.finditer(text):
        assert match.lastgroup is not None
        yield Piece(Kind(match.lastgroup), Span(match.start(), match.end()))


def nested_deeper_than(text: str, limit: int) -> int | None:
    """The offset of the first bracket that stands within `limit` others."""
    depth = 0
    for piece in scan(text):
        if piece.kind is Kind.OPEN:
            depth += 1
            if depth > limit:
                return piece.span.start
        elif piece.kind is Kind.CLOSE:
            depth = max(0, depth - 1)
    return None


def unclosed_bracket(text: str) -> int | None:
    """The offset of the bracket that is most likely the one left open, or None where all are closed.

    A line that begins with a closing bracket should be indented as the line of its opening one. The first pair that is
    not shows where the reader and the brackets part; without such a pair it is the innermost bracket still open.
    """
    opened: list[int] = []
    suspect: int | None = None
    for piece in scan(text):
        if piece.kind is Kind.OPEN:
            opened.append(piece.span.start)
        elif piece.kind is Kind.CLOSE and opened:
            start = opened.pop()
            margin = _margin(text, piece.span.start)
            begins_line = not text[piece.span.start - margin : piece.span.start].strip()
            if suspect is None and begins_line and "\n" in text[start : piece.span.start]:
                suspect = start if _indentation(text, start) != margin else None
    if not opened:
        return None
    return opened[-1] if suspect is None else suspect


def _margin(text: str, offset: int) -> int:
    return offset - (text.rfind("\n", 0, offset) + 1)


def _indentation(text: str, offset: int) -> int:
    line = text[offset - _margin(text, offset) : offset]
    return len(line) - len(line.lstrip(" "))
