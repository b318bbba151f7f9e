"""Emits `vocabulary.py`: the enum of control tokens, and the tokens that the spec writes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.names import control_member
from katapi.emit.python import imports, string
from katapi.model.declarations import AddedToken, OrdinaryToken, TokenRange
from katapi.model.program import TokenizerProgram


@dataclass(frozen=True, slots=True)
class ControlRow:
    """A member of the enum: its name, its id, and its spelling as a Python literal."""

    member: str
    id: int
    spelling: str


@dataclass(frozen=True, slots=True)
class Texts:
    """A constant that gives texts by id: its name, the lines of its display, and what it is for."""

    name: str
    lines: list[str]
    doc: str


@dataclass(frozen=True, slots=True)
class VocabularyContext:
    """What `vocabulary.py.j2` shows."""

    source: str
    vocabulary: str
    version: str
    imports: list[str]
    controls: list[ControlRow]
    texts: list[Texts]


def emit_vocabulary(program: TokenizerProgram) -> str:
    """The text of `vocabulary.py`."""
    vocabulary = program.vocabulary
    unknown = vocabulary.unknown
    spelled = ["**{token.id: token.spelling for token in Control},", *_rows(vocabulary.reserved)]
    if unknown is not None and unknown.id not in vocabulary.control_spellings():
        spelled += _rows([unknown])
    texts = [Texts("SPELLINGS", spelled, "How each id that no text spells is printed.")]
    if vocabulary.added:
        texts.append(Texts("ADDED", [*_rows(vocabulary.added)], "The text of each token beside the model's own."))
    if vocabulary.texts:
        texts.append(Texts("TEXTS", [*_rows(vocabulary.texts)], "The tokens of text by id."))
    used = {"katapi.runtime.segments": {"ControlToken"}}
    if any(isinstance(row, TokenRange) for row in (*vocabulary.reserved, *vocabulary.added)):
        used["katapi.runtime.tokenization.counted"] = {"counted"}
    return render(
        "vocabulary.py.j2",
        VocabularyContext(
            source=program.source.name,
            vocabulary=vocabulary.identity.name,
            version=vocabulary.identity.version,
            imports=imports(used),
            controls=[ControlRow(control_member(c), c.id, string(c.spelling)) for c in vocabulary.controls],
            texts=texts,
        ),
    )


def _rows(tokens: Iterable[AddedToken | OrdinaryToken | TokenRange]) -> Iterator[str]:
    for token in tokens:
        if isinstance(token, TokenRange):
            yield f"**counted({token.first}, {token.last}, {string(token.pattern)}),"
        else:
            yield f"{token.id}: {string(token.text)},"
