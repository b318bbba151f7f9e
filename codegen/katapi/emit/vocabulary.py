"""Emits `vocabulary.py`: the enum of control tokens. Reads the vocabulary; writes one module."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.names import control_member
from katapi.emit.python import string
from katapi.language.source import Span
from katapi.model.program import Program


@dataclass(frozen=True, slots=True)
class Row:
    """A token: its id, the name of its enum member (empty for text), its spelling as a Python literal, its line."""

    id: int
    member: str
    spelling: str
    line: int


@dataclass(frozen=True, slots=True)
class VocabularyContext:
    """What `vocabulary.py.j2` shows."""

    source: str
    vocabulary: str
    version: str
    line: int
    controls: list[Row]
    texts: list[Row]
    unknown: str
    unknown_line: str


def emit_vocabulary(program: Program) -> str:
    """The text of `vocabulary.py`."""
    vocabulary = program.vocabulary
    unknown = vocabulary.unknown

    def line(span: Span) -> int:
        return program.source.line_column(span.start)[0]

    return render(
        "vocabulary.py.j2",
        VocabularyContext(
            source=program.source.name,
            vocabulary=vocabulary.identity.name,
            version=vocabulary.identity.version,
            line=line(vocabulary.span),
            controls=[Row(c.id, control_member(c), string(c.spelling), line(c.span)) for c in vocabulary.controls],
            texts=[Row(x.id, "", string(x.text), line(x.span)) for x in vocabulary.texts],
            unknown="" if unknown is None else f" | {{{unknown.id}: {string(unknown.text)}}}",
            unknown_line="" if unknown is None else f"  # line {line(unknown.span)}",
        ),
    )
