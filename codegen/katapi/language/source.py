"""Source text and places in it: every node and every diagnostic points here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points in one source file."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The range from the start of this span to the end of another."""
        return Span(self.start, other.end)

    def moved(self, by: int) -> Span:
        """The same range, so many code points further on."""
        return Span(self.start + by, self.end + by)


class Place(NamedTuple):
    """Where an offset is: in which file, on which line and in which column of it, both counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one .kata file under the name that messages show.

    A byte order mark at the start is dropped, and every kind of line end (CRLF, CR) becomes a line feed: the file means
    the same however it was checked out. Offsets count in the text as kept here; they go on, after a gap of one, through
    the texts of the `shared` files, out of which the file takes records and `def`s.
    """

    name: str
    text: str
    shared: tuple[Source, ...] = ()
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = self.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        object.__setattr__(self, "text", text)
        starts = [0]
        starts.extend(i + 1 for i, c in enumerate(text) if c == "\n")
        object.__setattr__(self, "_line_starts", tuple(starts))

    @property
    def length(self) -> int:
        """How many offsets the file and all that it shares take up."""
        return len(self.text) + 1 + sum(other.length for other in self.shared)

    def files(self) -> Iterator[Source]:
        """The file and all that it shares; one that comes by several ways is given as often."""
        yield self
        for other in self.shared:
            yield from other.files()

    def bases(self) -> Iterator[tuple[Source, int]]:
        """The shared files, and the offset at which each begins."""
        base = len(self.text) + 1
        for other in self.shared:
            yield other, base
            base += other.length

    def file_of(self, offset: int) -> tuple[Source, int]:
        """The file in which an offset is, and the offset in it."""
        for other, base in self.bases():
            if base <= offset < base + other.length:
                return other.file_of(offset - base)
        return self, offset

    def place(self, offset: int) -> Place:
        """Where an offset is."""
        file, inner = self.file_of(offset)
        line = bisect_right(file._line_starts, inner)
        return Place(file.name, line, inner - file._line_starts[line - 1] + 1)

    def text_of(self, span: Span) -> str:
        """The text of a range, which lies in one file."""
        file, start = self.file_of(span.start)
        return file.text[start : start + span.end - span.start]

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset in its file, both counted from 1."""
        _, line, column = self.place(offset)
        return line, column

    def line_text(self, line: int) -> str:
        """The text of a line (counted from 1) without its line end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] - 1 if line < len(self._line_starts) else len(self.text)
        return self.text[start:end]
