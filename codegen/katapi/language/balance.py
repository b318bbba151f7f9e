"""Finds quotes and brackets that lack their partner by the layout of a text, and puts the partner where it belongs.

A line that begins with a closing bracket is indented as the line of its opening one. Only a text that does not parse
is looked at, and its brackets only where they do not go together, so that the layout of a sound text means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from katapi.language.diagnostics import Diagnostic
from katapi.language.draft import Draft
from katapi.language.scanner import Kind, scan
from katapi.language.source import Span

_CLOSING = {"{": "}", "(": ")", "[": "]"}
_BRACKETS_AT_END = re.compile(r"(?:\s*[{}()\[\]])*\s*$")
_WORD_BEFORE = re.compile(r"[^\s{}()\[\]]*$")
#: Not in the file: what error recovery itself puts into a text.
MARKS = re.compile(r"[\x01-\x04]")


LeaveOut = Callable[[int, int], None]


def close_quotes(draft: Draft, leave_out: LeaveOut) -> list[Diagnostic]:
    """The findings about texts that do not end; `leave_out` takes each of them out of the draft."""
    found = [_foreign(draft, match.start()) for match in _marks(draft)]
    if draft.text.count('"""') % 2:
        found.append(_block_text(draft, leave_out))
    while piece := next((p for p in scan(draft.text) if p.kind is Kind.UNCLOSED), None):
        start = piece.span.start
        quote = draft.text[start : piece.span.end]
        what = {'"""': 'this """ text does not end', "`": "this pattern does not end on its line"}
        message = what.get(quote, "this quoted text does not end on its line")
        help_ = "" if quote == '"""' else f"write a `{quote}` where it ends" if quote != "`" else ""
        found.append(Diagnostic("K001", _span(draft, start, piece.span.end), message, help=help_))
        line = draft.text[start : draft.line_end(start)]
        end = start + len(line) - len(_tail(line))
        word = _WORD_BEFORE.search(draft.text, draft.line_start(start), start)
        leave_out(start if word is None else word.start(), max(end, piece.span.end))
    return found


def _marks(draft: Draft) -> list[re.Match[str]]:
    quoted = [piece.span for piece in scan(draft.text) if piece.kind is Kind.QUOTED]
    return [m for m in MARKS.finditer(draft.text) if not any(q.start <= m.start() < q.end for q in quoted)]


def _foreign(draft: Draft, at: int) -> Diagnostic:
    finding = Diagnostic("K001", _span(draft, at, at + 1), f"unexpected character U+{ord(draft.text[at]):04X}")
    draft.blank(at, at + 1)
    return finding


def _tail(line: str) -> str:
    """The brackets with which a line ends: those that close what stands open on it, and one that opens a block."""
    found = _BRACKETS_AT_END.search(line)
    return "" if found is None else found[0]


def _block_text(draft: Draft, leave_out: LeaveOut) -> Diagnostic:
    """One of an odd number of triple quotes: the first that makes no sound pair with the next."""
    places = [m.start() for m in re.finditer('"""', draft.text)]
    alone = places[-1]
    for start, end in zip(places[::2], places[1::2], strict=False):
        if not _is_block(draft, start, end):
            alone = start
            break
    finding = Diagnostic("K001", _span(draft, alone, alone + 3), 'this """ text does not end')
    indentation = draft.indentation(alone)
    end = draft.line_end(alone)
    while end < len(draft.text):
        following = draft.line_end(end + 1)
        line = draft.text[end + 1 : following]
        if '"""' in line or (line.strip() and len(line) - len(line.lstrip()) < indentation):
            break
        end = following
    leave_out(alone, end)
    return finding


def _is_block(draft: Draft, start: int, end: int) -> bool:
    if draft.text[start + 3 : draft.line_end(start)].strip() or not draft.begins_line(end):
        return False
    margin = draft.indentation(end)
    lines = draft.text[draft.line_end(start) : draft.line_start(end)].split("\n")
    return all(len(line) - len(line.lstrip(" ")) >= margin for line in lines if line.strip())


@dataclass(frozen=True, slots=True)
class _Open:
    offset: int
    bracket: str
    indentation: int
    line: int


def balance(draft: Draft, *, by_layout: bool) -> list[Diagnostic]:
    """The findings about brackets without a partner; afterwards each has one.

    Brackets that go together are only looked at where they are to be judged `by_layout`.
    """
    found: list[Diagnostic] = []
    if _fit(draft, by_layout):
        return []
    pairs = _Pairs(draft)
    for piece in scan(draft.text):
        if piece.kind is Kind.OPEN:
            pairs.open(piece.span.start)
        elif piece.kind is Kind.CLOSE:
            pairs.close(piece.span.start)
    pairs.finish()
    for at, message, help_ in pairs.found:
        found.append(Diagnostic("K001", _span(draft, at, at + 1), message, help=help_))
    for _, (at, length, new) in sorted(enumerate(pairs.edits), key=lambda e: (e[1][0], e[0]), reverse=True):
        draft.replace(at, at + length, new)
    return found


def _fit(draft: Draft, by_layout: bool) -> bool:
    """Whether the brackets go together, and by the layout, too, where that counts."""
    opened: list[int] = []
    for piece in scan(draft.text):
        at = piece.span.start
        if piece.kind is Kind.OPEN:
            opened.append(at)
        elif piece.kind is Kind.CLOSE:
            if not opened or _CLOSING[draft.text[opened[-1]]] != draft.text[at]:
                return False
            start = opened.pop()
            begins = draft.begins_line(at) and draft.line_start(start) != draft.line_start(at)
            if by_layout and begins and draft.indentation(at) != draft.indentation(start):
                return False
    return not opened


class _Pairs:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._opened: list[_Open] = []
        self._closed: list[tuple[int, int]] = []
        self.found: list[tuple[int, str, str]] = []
        self.edits: list[tuple[int, int, str]] = []

    def open(self, at: int) -> None:
        draft = self._draft
        self._opened.append(_Open(at, draft.text[at], draft.indentation(at), draft.line_start(at)))

    def close(self, at: int) -> None:
        draft, opened = self._draft, self._opened
        begins, margin = draft.begins_line(at), draft.indentation(at)
        while opened and _CLOSING[opened[-1].bracket] != draft.text[at] and draft.text[at] == "}":
            self._never_closed(opened.pop(), at)
        if opened and _CLOSING[opened[-1].bracket] != draft.text[at]:
            self._closes_nothing(at)
            return
        if not begins and opened and opened[-1].line < draft.line_start(at) and self._ends_line(opened[-1].offset):
            self._closes_nothing(at)
            return
        while begins and len(opened) > 1 and opened[-1].line < draft.line_start(at) and opened[-1].indentation > margin:
            if not any(o.indentation == margin for o in opened[:-1]):
                break
            self._never_closed(opened.pop(), at)
        misplaced = begins and opened and opened[-1].line < draft.line_start(at) and opened[-1].indentation < margin
        if not opened or misplaced:
            header = self._header(at, margin, opened[-1].offset if opened else -1)
            if header is None:
                self._closes_nothing(at)
            elif draft.text[header - 1] == "}":
                self._closes_nothing(header - 1)
            else:
                self.found.append((header - 1, "the block behind this has no `{`", "write `{` here"))
                self.edits.append((header, 0, " {"))
            return
        opened.pop()

    def _header(self, at: int, margin: int, after: int) -> int | None:
        """The end of the line before that is as far indented as a closing bracket, where deeper ones follow it."""
        draft = self._draft
        end = draft.end_before(draft.line_start(at))
        deeper = False
        while end > max(after, 0):
            start = draft.line_start(end)
            indentation = draft.indentation(start)
            if start <= after or indentation < margin:
                return None
            if indentation == margin:
                line = draft.text[start:end].rstrip()
                return end if deeper and not line.endswith("{") and line[draft.indentation(start) :] != "}" else None
            deeper = True
            end = draft.end_before(start)
        return None

    def _ends_line(self, at: int) -> bool:
        return not self._draft.text[at + 1 : self._draft.line_end(at)].strip()

    def _never_closed(self, one: _Open, before: int) -> None:
        self.found.append((one.offset, f"this `{one.bracket}` is never closed", ""))
        draft = self._draft
        line = draft.line_end(one.offset)
        if one.bracket != "{":
            rest = draft.text[one.offset + 1 : line]
            end = one.offset + 1 + len(rest) - len(_tail(rest))
            self.edits.append((min(end, before), 0, _CLOSING[one.bracket]))
            return
        while line < before:
            following = draft.text[line + 1 : draft.line_end(line + 1)]
            goes_on = following.lstrip().startswith("else")
            if following.strip() and len(following) - len(following.lstrip()) <= one.indentation + goes_on:
                break
            line = draft.line_end(line + 1)
        self.edits.append((min(line, before), 0, "}"))

    def _closes_nothing(self, at: int) -> None:
        self.found.append((at, f"this `{self._draft.text[at]}` closes nothing", "remove it"))
        self.edits.append((at, 1, " "))

    def finish(self) -> None:
        """What is still open at the end."""
        for one in reversed(self._opened):
            self._never_closed(one, len(self._draft.text))


def _span(draft: Draft, start: int, end: int) -> Span:
    first = draft.place(start)
    return Span(first, max(first + 1, draft.place(end - 1) + 1))
