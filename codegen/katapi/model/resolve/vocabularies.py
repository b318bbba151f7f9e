"""Vocabulary blocks → model: every token once, and ids without a gap where the spec tells all of them."""

from __future__ import annotations

import re
from typing import TypeVar

from katapi.language import syntax as s
from katapi.language.source import Span
from katapi.model.declarations import (
    AddedToken,
    Artifact,
    ControlToken,
    OrdinaryToken,
    TokenFlags,
    TokenRange,
    UnusedIds,
    Vocabulary,
)
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.resolve.headers import identity

T = TypeVar("T", bound=s.Node)
_FLAGS = ("nonspecial", "normalized", "lstrip", "rstrip", "single_word")
_MOST_IDS = 1 << 24
_RANGE = f"the second is not below the first, and a range has at most {_MOST_IDS} ids"
_IDS = 1 << 31  # what tensors of any model hold


def resolve_vocabulary(node: s.Vocabulary, findings: Findings) -> Vocabulary:
    """Checks that ids, names and spellings are used once, and that the tokens have one source."""
    return _Vocabulary(node, findings).resolve()


class _Vocabulary:
    def __init__(self, node: s.Vocabulary, findings: Findings) -> None:
        self._node = node
        self._findings = findings
        self._ids: dict[int, Span] = {}
        self._spellings: dict[str, int] = {}

    def resolve(self) -> Vocabulary:
        node = self._node
        artifact = self._only(s.ArtifactRef, "artifact")
        size = self._only(s.SizeRow, "size")
        controls: list[ControlToken] = []
        reserved: list[TokenRange] = []
        for row in [row for table in self._all(s.ControlTable) for row in table.rows]:
            if isinstance(row, s.ControlRow):
                self._token(row.id, row.spelling, row.span)
                controls.append(ControlToken(row.id, row.name, row.spelling, row.span, self._flags(row.flags)))
            else:
                reserved.extend(self._range(row))
        added: list[AddedToken | TokenRange] = []
        for added_row in [row for table in self._all(s.AddedTable) for row in table.rows]:
            if isinstance(added_row, s.AddedRow):
                self._token(added_row.id, added_row.text, added_row.span)
                added.append(AddedToken(added_row.id, added_row.text, added_row.span, self._flags(added_row.flags)))
            else:
                added.extend(self._range(added_row))
        tables = self._all(s.TextTable)
        texts = [row for table in tables for row in table.rows]
        for text in texts:
            self._token(text.id, text.text, text.span)
        self._names()
        unknown = self._unknown(tuple(controls))
        unused = self._unused()
        self._source(artifact, tables)
        self._fits(size, written_out=artifact is None)
        return Vocabulary(
            identity(node.header),
            None if artifact is None else Artifact(artifact.name, self._digest(artifact), artifact.bare, artifact.span),
            tuple(controls),
            tuple(reserved),
            tuple(added),
            tuple(OrdinaryToken(text.id, text.text, text.span) for text in texts),
            unknown,
            unused,
            None if size is None else size.size,
            node.span,
        )

    def _all(self, kind: type[T]) -> list[T]:
        return [item for item in self._node.items if isinstance(item, kind)]

    def _only(self, kind: type[T], what: str) -> T | None:
        rows = self._all(kind)
        for extra in rows[1:]:
            self._findings.add(
                "K107", extra.span, f"a vocabulary has one {what}", label="a second one", first=rows[0].span
            )
        return rows[0] if rows else None

    def _token(self, number: int, spelling: str, span: Span) -> None:
        if number in self._ids:
            self._findings.add("K701", span, f"the id {number} is given twice", first=self._ids[number])
        if number >= _IDS:
            self._findings.add("K715", span, f"the id {number} is too large", help=f"an id is below {_IDS}")
        if spelling in self._spellings:
            other = self._spellings[spelling]
            message = f"“{spelling}” has two ids, {other} and {number}"
            self._findings.add("K702", span, message, first=self._ids[other])
        if not spelling:
            self._findings.add("K703", span, f"the token {number} has no text")
        self._ids.setdefault(number, span)
        self._spellings.setdefault(spelling, number)

    def _flags(self, names: tuple[s.Name, ...]) -> TokenFlags:
        words: set[str] = set()
        for name in names:
            if name.text not in _FLAGS:
                self._findings.add(
                    "K711", name.span, f"a token has no flag `{name.text}`", help=nearest(name.text, _FLAGS)
                )
            words.add(name.text)
        return TokenFlags(
            special="nonspecial" not in words,
            normalized="normalized" in words,
            lstrip="lstrip" in words,
            rstrip="rstrip" in words,
            single_word="single_word" in words,
        )

    def _range(self, row: s.TokenRange) -> list[TokenRange]:
        """A row like `11 to 255 "<|reserved_{3}|>"`; nothing where it is not one."""
        made = TokenRange(row.first, row.last, row.pattern, row.span, self._flags(row.flags))
        if not row.first <= row.last < row.first + _MOST_IDS:
            self._findings.add("K712", row.span, f"{row.first} to {row.last} is no range of ids", help=_RANGE)
            return []
        try:
            spellings = made.spellings()
        except ValueError:
            self._findings.add(
                "K712",
                row.span,
                "the spelling of a range has one number in braces, which counts up, or down to 0",
                help='for example `3 to 9 "<reserved_{0}>"`, `{000}` for three digits, `{99-}` to count down',
            )
            return []
        for number, spelling in spellings.items():
            self._token(number, spelling, row.span)
        return [made]

    def _names(self) -> None:
        names: dict[str, s.ControlRow] = {}
        for table in self._all(s.ControlTable):
            for row in table.rows:
                if not isinstance(row, s.ControlRow):
                    continue
                member = "end_" + row.name[1:] if row.name.startswith("/") else row.name
                if member not in names:
                    names[member] = row
                    continue
                first = names[member]
                message = f"`@{row.name}` and `@{first.name}` would have one name in Python"
                if first.name == row.name:
                    message = f"the control token `@{row.name}` is declared twice"
                self._findings.add("K107", row.span, message, first=first.span)

    def _unknown(self, controls: tuple[ControlToken, ...]) -> OrdinaryToken | None:
        found: list[OrdinaryToken] = []
        rows = [item for item in self._node.items if isinstance(item, s.UnknownRow | s.UnknownControl)]
        for extra in rows[1:]:
            self._findings.add(
                "K107", extra.span, "a vocabulary has one unknown token", label="a second one", first=rows[0].span
            )
        for row in rows[:1]:
            if isinstance(row, s.UnknownRow):
                self._token(row.id, row.spelling, row.span)
                found.append(OrdinaryToken(row.id, row.spelling, row.span))
                continue
            named = next((control for control in controls if control.name == row.name.text), None)
            if named is not None:
                found.append(OrdinaryToken(named.id, named.spelling, named.span))
            else:
                self._findings.unknown_control("the vocabulary", row.name.text, controls, row.name.span)
        return found[0] if found else None

    def _unused(self) -> tuple[UnusedIds, ...]:
        out: list[UnusedIds] = []
        for row in self._all(s.UnusedIds):
            if not row.first <= row.last < row.first + _MOST_IDS:
                self._findings.add("K712", row.span, f"{row.first} to {row.last} is no range of ids", help=_RANGE)
                continue
            ids = range(row.first, row.last + 1)
            taken = next((number for number in ids if number in self._ids), None)
            if taken is not None:
                self._findings.add(
                    "K701", row.span, f"the id {taken} is unused, and given to a token", first=self._ids[taken]
                )
            self._ids |= dict.fromkeys(ids, row.span)
            out.append(UnusedIds(row.first, row.last, row.span))
        return tuple(out)

    def _source(self, artifact: s.ArtifactRef | None, tables: list[s.TextTable]) -> None:
        if artifact is not None and tables:
            self._findings.add(
                "K704",
                tables[0].span,
                "a vocabulary comes from an artifact or is written out, not both",
                help="remove the `text` block or the `artifact` line",
            )
        if artifact is None and not any(table.rows for table in tables):
            self._findings.add("K704", self._node.header.span, "a vocabulary needs an `artifact` or a `text` block")

    def _fits(self, size: s.SizeRow | None, *, written_out: bool) -> None:
        if size is not None and size.size > _IDS:
            self._findings.add("K715", size.span, f"the size {size.size} is too large", help=f"an id is below {_IDS}")
        beyond = [number for number in self._ids if size is not None and number >= size.size]
        if size is not None and beyond:
            self._findings.add(
                "K713",
                size.span,
                f"the id {max(beyond)} is beyond a size of {size.size}",
                help=f"ids begin with 0: write at least `size {max(beyond) + 1}`",
            )
        elif written_out and self._ids and self._ids.keys() != set(range(len(self._ids))):
            missing = next(number for number in range(len(self._ids)) if number not in self._ids)
            self._findings.add(
                "K705",
                self._node.header.span,
                f"the ids have a gap: no token has id {missing}",
                help=f"where that is meant, say `unused {missing}`",
            )

    def _digest(self, artifact: s.ArtifactRef) -> str | None:
        if artifact.sha256 is not None and not re.fullmatch("[0-9a-f]{64}", artifact.sha256):
            self._findings.add(
                "K714",
                artifact.span,
                "a sha256 is 64 hexadecimal digits in lower case",
                help=f"this has {len(artifact.sha256)} characters",
            )
            return None
        return artifact.sha256
