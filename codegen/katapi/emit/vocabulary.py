"""Emits `vocabulary.py`: the enum of control tokens. Reads the vocabulary; writes one module."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.names import control_member
from katapi.emit.python import string
from katapi.model.program import Program


@dataclass(frozen=True, slots=True)
class Row:
    """An id, the name of its enum member (empty for text), and its spelling as a Python literal."""

    id: int
    member: str
    spelling: str


@dataclass(frozen=True, slots=True)
class VocabularyContext:
    """What `vocabulary.py.j2` shows."""

    source: str
    vocabulary: str
    version: str
    controls: list[Row]
    texts: list[Row]
    unknown: str


def emit_vocabulary(program: Program) -> str:
    """The text of `vocabulary.py`."""
    vocabulary = program.vocabulary
    unknown = vocabulary.unknown
    return render(
        "vocabulary.py.j2",
        VocabularyContext(
            source=program.source.name,
            vocabulary=vocabulary.identity.name,
            version=vocabulary.identity.version,
            controls=[Row(c.id, control_member(c), string(c.spelling)) for c in vocabulary.controls],
            texts=[Row(x.id, "", string(x.text)) for x in vocabulary.texts],
            unknown="" if unknown is None else f" | {{{unknown.id}: {string(unknown.text)}}}",
        ),
    )
