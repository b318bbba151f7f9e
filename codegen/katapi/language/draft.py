"""A text that error recovery changes, and where each of its characters stands in the file."""

from __future__ import annotations

from katapi.language.scanner import Kind, scan


class Draft:
    """The text of a part of a file; `base` is the offset of the part."""

    def __init__(self, text: str, base: int) -> None:
        self.text = text
        self._places = list(range(base, base + len(text) + 1))

    def place(self, offset: int) -> int:
        """The offset in the file of a character of the text, or of its end."""
        return self._places[min(offset, len(self._places) - 1)]

    def offset(self, place: int) -> int:
        """The first character that stands at a place of the file or behind it."""
        return next((i for i, known in enumerate(self._places) if known >= place), len(self.text))

    def replace(self, start: int, end: int, new: str) -> None:
        """Puts something else where a range of the text is; it stands at the place of that range."""
        self._places[start:end] = [self._places[start]] * len(new)
        self.text = self.text[:start] + new + self.text[end:]

    def blank(self, start: int, end: int) -> None:
        """Leaves spaces where a range of the text is, and keeps its lines."""
        kept = "".join("\n" if c == "\n" else " " for c in self.text[start:end])
        self.text = self.text[:start] + kept + self.text[end:]

    def without_comments(self) -> None:
        """Leaves spaces where comments stand."""
        for piece in scan(self.text):
            if piece.kind is Kind.COMMENT:
                self.blank(piece.span.start, piece.span.end)

    # ---- lines

    def line_start(self, offset: int) -> int:
        """Where the line of a character begins."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Where the line of a character ends."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def indentation(self, offset: int) -> int:
        """How far the line of a character is indented."""
        start = self.line_start(offset)
        line = self.text[start : self.line_end(start)]
        return len(line) - len(line.lstrip())

    def begins_line(self, offset: int) -> bool:
        """Whether only spaces stand before a character on its line."""
        return not self.text[self.line_start(offset) : offset].strip()

    def end_before(self, offset: int) -> int:
        """The end of the last word before a character."""
        return len(self.text[:offset].rstrip())
