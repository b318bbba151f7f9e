"""Errors in a .kata file: a code, a place, what is wrong there, and what would mend it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from katapi.language.source import Source, Span

_SHOWN = 160  # code points of a source line; of a longer one, the part around the place is shown


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of the compiler.

    `message` says what is wrong in a sentence, `label` stands under the caret, `help` says how to mend it; `first` is
    where the thing stands that is there a second time.
    """

    code: str
    span: Span
    message: str
    label: str = ""
    help: str = ""
    first: Span | None = None

    def render(self, source: Source) -> str:
        """The finding as text: heading, place, source line, caret, help."""
        place = source.place(self.span.start)
        gutter = " " * len(str(place.line))
        out = [
            f"error[{self.code}]: {self.message}",
            f"{gutter}--> {place}",
            *excerpt(source, self.span, self.label),
        ]
        if self.first is not None:
            out.append(f"{gutter} = first: {source.place(self.first.start)}")
        if self.help:
            out.append(f"{gutter} = help: {self.help}")
        return "\n".join(out)


def excerpt(source: Source, span: Span, label: str = "") -> list[str]:
    """The source line of a place with carets under it, and a label behind them."""
    file, _ = source.file_of(span.start)
    line, column = source.line_column(span.start)
    before, marked, after = _window(file.line_text(line), column - 1, span.end - span.start)
    gutter = " " * len(str(line))
    indent = "".join("\t" if c == "\t" else " " * _cells(c) for c in before)
    carets = "^" * max(1, sum(_cells(c) for c in marked))
    return [
        f"{gutter} |",
        f"{line} | {before}{marked}{after}".rstrip(),
        f"{gutter} | {indent}{carets}{' ' + label if label else ''}",
    ]


def _window(text: str, start: int, length: int) -> tuple[str, str, str]:
    """A source line as it is shown: before, at and after the place; characters that show nothing are replaced."""
    text = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    first = max(0, start - _SHOWN // 3) if len(text) > _SHOWN else 0
    last = first + _SHOWN
    end = max(start, min(start + length, len(text), last))
    before = ("…" if first else "") + text[first:start]
    after = text[end:last] + ("…" if last < len(text) else "")
    return before, text[start:end], after


def _cells(char: str) -> int:
    """How many terminal columns a character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


class SpecError(Exception):
    """A .kata file that does not compile; carries all findings, in source order."""

    def __init__(self, source: Source, diagnostics: list[Diagnostic]) -> None:
        super().__init__(source, diagnostics)
        self.source = source
        self.diagnostics = sorted(diagnostics, key=lambda d: (d.span.start, d.code))

    def __str__(self) -> str:
        return "\n\n".join(d.render(self.source) for d in self.diagnostics)
