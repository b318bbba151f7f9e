"""Source text and places in it: every node and every diagnostic points here."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points in one source file."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The range from the start of this span to the end of another."""
        return Span(self.start, other.end)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one .kata file under the name that messages show.

    A byte order mark at the start is dropped, and every kind of line end (CRLF, CR) becomes a line feed: the file means
    the same however it was checked out. Offsets count in the text as kept here.
    """

    name: str
    text: str
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = self.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        object.__setattr__(self, "text", text)
        starts = [0]
        starts.extend(i + 1 for i, c in enumerate(text) if c == "\n")
        object.__setattr__(self, "_line_starts", tuple(starts))

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both counted from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line (counted from 1) without its line end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] - 1 if line < len(self._line_starts) else len(self.text)
        return self.text[start:end]
