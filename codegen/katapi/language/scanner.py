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
    UNCLOSED = "unclosed"


@dataclass(frozen=True, slots=True)
class Piece:
    """One quoted text, comment or bracket of a source, or the quotes with which a text begins that does not end."""

    kind: Kind
    span: Span


_PIECE = re.compile(
    r'''(?P<quoted>"""[\s\S]*?"""'''
    r'''|"(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*"'''
    r"""|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"""
    r"""|`(?:``|[^`\n])*`)"""
    r"""|(?P<comment>\#[^\n]*)|(?P<open>[{(\[])|(?P<close>[})\]])"""
    r"""|(?P<unclosed>\"\"\"|["'`])"""
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
    """The offset of the innermost bracket that is still open at the end, or None where all are closed."""
    opened: list[int] = []
    for piece in scan(text):
        if piece.kind is Kind.OPEN:
            opened.append(piece.span.start)
        elif piece.kind is Kind.CLOSE and opened:
            opened.pop()
    return opened[-1] if opened else None
