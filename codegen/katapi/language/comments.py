"""What the author of a file chose and the tree does not hold: comments, blank lines, and blocks on one line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from katapi.language import syntax as s
from katapi.language.scanner import Kind, scan
from katapi.language.source import Span

NodeT = TypeVar("NodeT", bound=s.Node)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment from its `#` to the end of its line."""

    span: Span
    text: str


class Choices:
    """Choices of nobody: no comments, no blank lines, and everything on one line that may stand there."""

    def comments_before(self, offset: int) -> list[Comment]:
        """The comments before a place that were not given yet."""
        return []

    def has_comment(self, start: int, end: int) -> bool:
        """Whether a comment stands in a range."""
        return False

    def same_line(self, start: int, end: int) -> bool:
        """Whether no line ends between two places."""
        return True

    def blank_line(self, start: int, end: int) -> bool:
        """Whether an empty line stands between two places."""
        return False

    def same_list(self, start: int, end: int) -> bool:
        """Whether a comma stands between two neighbours."""
        return True

    def in_order(self, nodes: Sequence[NodeT]) -> list[NodeT]:
        """The nodes as they follow each other in the file."""
        return list(nodes)

    def brace_before(self, offset: int) -> int:
        """The place of the last `{` before another place."""
        return 0

    def brace_after(self, offset: int) -> int:
        """The place of the first `}` at or after another place."""
        return 0


class AuthorsChoices(Choices):
    """The choices that a source text shows."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._comments: list[Comment] = []
        self._given = 0
        self._opening: list[int] = []
        self._closing: list[int] = []
        code: list[str] = []
        position = 0
        for piece in scan(text):
            start, end = piece.span.start, piece.span.end
            if piece.kind is Kind.COMMENT:
                self._comments.append(Comment(piece.span, text[start:end].rstrip()))
                code.append(text[position:start] + " " * (end - start))
                position = end
            elif text[start] == "{":
                self._opening.append(start)
            elif text[start] == "}":
                self._closing.append(start)
        self._code = "".join(code) + text[position:]
        self._starts = [c.span.start for c in self._comments]

    def comments_before(self, offset: int) -> list[Comment]:
        first, self._given = self._given, max(self._given, bisect_left(self._starts, offset))
        return self._comments[first : self._given]

    def has_comment(self, start: int, end: int) -> bool:
        return bisect_left(self._starts, start) < bisect_left(self._starts, end)

    def same_line(self, start: int, end: int) -> bool:
        return "\n" not in self._text[start:end]

    def blank_line(self, start: int, end: int) -> bool:
        lines = self._text[start:end].split("\n")
        return any(not line.strip() for line in lines[1:-1])

    def same_list(self, start: int, end: int) -> bool:
        return "," in self._code[start:end]

    def in_order(self, nodes: Sequence[NodeT]) -> list[NodeT]:
        return sorted(nodes, key=lambda n: n.span.start)

    def brace_before(self, offset: int) -> int:
        return self._opening[bisect_left(self._opening, offset) - 1]

    def brace_after(self, offset: int) -> int:
        return self._closing[bisect_left(self._closing, offset)]
