"""Braced lists: entries in source order with the comments between them, on lines of their own or on one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from katapi.language import syntax as s
from katapi.language.comments import Choices, Comment
from katapi.language.layout import Aside, Doc, Fill, Group, HardLine, Line, Nest, concat, is_hard, joined
from katapi.language.literals import quote


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in a braced list: its range in the source, up to where its head goes, and how it is printed."""

    start: int
    end: int
    head_end: int
    doc: Callable[[], Doc]
    inline: bool = False  # may share a line with others
    binds: bool = False  # never shares a line
    close: bool = False  # stands right below the one before


@dataclass(slots=True)
class Row:
    """Entries on one line with the comments above and behind them, or one comment on a line of its own."""

    docs: list[Doc]
    blank: bool
    comment: bool = False
    inline: bool = False
    above: list[str] = field(default_factory=list)
    aside: str = ""

    def doc(self) -> Doc:
        body = self.docs[0] if len(self.docs) == 1 else Fill(tuple(self.docs))
        aside: list[Doc] = [Aside("  " + self.aside)] if self.aside else []
        return concat(*(part for text in self.above for part in (text, HardLine())), body, *aside)


class ListPrinter:
    """Builds layout documents from nodes, in source order, so that each comment is given out once."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def _entries(self, node: s.Node, head: Doc, entries: list[Entry]) -> Entry:
        """A head with a braced list that may stand on its line."""
        end = node.span.end
        return Entry(
            node.span.start,
            end,
            self._head_end(node, entries),
            lambda: Group(concat(head, " ", self._list(entries, end, may_be_flat=True, gap="  "))),
        )

    # ---- braced lists

    def _braced(self, entries: Sequence[Entry], start: int, end: int, *, flat: bool, gap: str = " ") -> Doc:
        """A braced list whose braces stand at `start` and before `end`; hard unless it may be flat."""
        if not entries and not self._choices.has_comment(start, end):
            return "{}"
        rows, behind = self._rows(entries, start + 1, end - 1, flat=flat)
        if flat:
            return concat("{", Nest(concat(Line(), joined([Line(gap)], [r.doc() for r in rows]))), Line(), "}")
        head: Doc = concat("{", Aside("  " + behind)) if behind else "{"
        if not rows:
            return concat(head, HardLine(), "}")
        return concat(head, Nest(concat(HardLine(), self._lines(rows))), HardLine(), "}")

    def _may_be_flat(self, entries: Sequence[Entry], start: int, end: int) -> bool:
        """Whether a braced list is on one line: the author began it there, and nothing in it needs a line."""
        if not entries:
            return not self._choices.has_comment(start, end)
        return (
            self._choices.same_line(start, entries[0].start)
            and not self._choices.has_comment(start, end)
            and (len(entries) == 1 or not any(e.binds for e in entries))
        )

    @staticmethod
    def _lines(rows: Sequence[Row]) -> Doc:
        parts: list[Doc] = []
        for number, row in enumerate(rows):
            if number:
                parts.extend([HardLine()] * (2 if row.blank else 1))
            parts.append(row.doc())
        return concat(*parts)

    def _rows(
        self, entries: Sequence[Entry], start: int | None, end: int, *, flat: bool = False, apart: bool = False
    ) -> tuple[list[Row], str]:
        """The lines of a list, and the comment behind what stands at `start` (None: at the start of the file)."""
        rows: list[Row] = []
        behind = ""
        position = start or 0

        def place(comment: Comment, blank: bool) -> None:
            nonlocal behind, position
            at = comment.span.start
            trails = position <= at and self._choices.same_line(position, at)
            if trails and rows and not rows[-1].comment:
                rows[-1].aside, rows[-1].inline = comment.text, False
            elif trails and not rows and start is not None:
                behind = comment.text
            else:
                rows.append(Row([comment.text], blank or self._choices.blank_line(position, at), comment=True))
            position = max(position, comment.span.end)

        for number, entry in enumerate(entries):
            blank_due = apart and number > 0 and not entry.close
            leading = self._choices.comments_before(entry.start)
            for comment in leading:
                known = len(rows)
                place(comment, blank_due)
                blank_due = blank_due and len(rows) == known
            above = [c.text for c in self._choices.comments_before(entry.head_end)]
            doc = entry.doc()
            last = rows[-1] if rows else None
            shares = entry.inline and not leading and not is_hard(doc)
            if last and last.inline and shares and (flat or self._choices.same_line(position, entry.start)):
                last.docs.append(doc)
                last.above.extend(above)
            else:
                blank = blank_due or self._choices.blank_line(position, entry.start)
                rows.append(Row([doc], blank, inline=entry.inline and not is_hard(doc), above=above))
            position = entry.end
        for comment in self._choices.comments_before(end):
            place(comment, False)
        return rows, behind

    def _list(self, entries: Sequence[Entry], end: int, *, may_be_flat: bool = False, gap: str = " ") -> Doc:
        """A braced list that ends its node."""
        start = self._choices.brace_before(entries[0].start if entries else end)
        flat = may_be_flat and self._may_be_flat(entries, start, end)
        return self._braced(entries, start, end, flat=flat, gap=gap)

    def _head_end(self, node: s.Node, entries: Sequence[Entry]) -> int:
        return self._choices.brace_before(entries[0].start if entries else node.span.end)

    @staticmethod
    def _leaf(node: s.Node, doc: Doc, *, inline: bool = False, binds: bool = False) -> Entry:
        """A node without a braced list: the comments in it go above it."""
        return Entry(node.span.start, node.span.end, node.span.end, lambda: doc, inline, binds)

    def _settings(self, settings: Sequence[s.Setting]) -> list[Entry]:
        return [self._leaf(x, setting_doc(x)) for x in settings]


def setting_doc(setting: s.Setting) -> Doc:
    """A line of a setting."""
    parts: list[Doc] = [part_doc(part) for part in setting.parts]
    return Group(concat(f"{setting.key.text}: ", Nest(joined([",", Line()], parts))))


def part_doc(part: s.Part) -> str:
    """What stands between two commas of a setting."""
    return " ".join(map(_atom, part.atoms))


def _atom(atom: s.Atom) -> str:
    match atom:
        case s.Name(text):
            return text
        case s.Quoted(text):
            return quote(text)
        case s.Number(value):
            return str(value)
        case s.Regex(source):
            return f"`{source.replace('`', '``')}`"
        case s.ControlName(name):
            return f"@{name}"
        case _:
            assert_never(atom)
