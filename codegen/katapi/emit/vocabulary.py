"""Emits `vocabulary.py`: the enum of control tokens, and the tokens that the spec writes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.names import control_member
from katapi.emit.python import imports, string
from katapi.language.source import Span
from katapi.model.declarations import AddedToken, ControlToken, OrdinaryToken, TokenRange
from katapi.model.program import TokenizerProgram


@dataclass(frozen=True, slots=True)
class ControlRow:
    """A member of the enum: its name, its value as Python expressions, and its line in the spec."""

    member: str
    value: str
    line: int


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
    line: int
    imports: list[str]
    controls: list[ControlRow]
    texts: list[Texts]


def emit_vocabulary(program: TokenizerProgram) -> str:
    """The text of `vocabulary.py`."""
    vocabulary = program.vocabulary
    unknown = vocabulary.unknown
    rows = _Rows(program)
    spelled = ["**{token.id: token.spelling for token in Control},", *rows.of(vocabulary.reserved)]
    added: list[AddedToken | OrdinaryToken | TokenRange] = [*vocabulary.added]
    if vocabulary.spelled_unknown is not None:
        added.append(vocabulary.spelled_unknown)
    elif unknown is not None and unknown.id not in vocabulary.control_spellings():
        spelled += rows.of([unknown])
    texts = [Texts("SPELLINGS", spelled, "How each id that no text spells is printed.")]
    if added:
        texts.append(Texts("ADDED", [*rows.of(added)], "The text of each token beside the model's own."))
    if vocabulary.texts:
        texts.append(Texts("TEXTS", [*rows.of(vocabulary.texts)], "The tokens of text by id."))
    used = {"katapi.runtime.segments": {"ControlToken"}}
    if any(_strips(control) for control in vocabulary.controls):
        used["katapi.runtime.segments"].add("Strips")
    if any(isinstance(row, TokenRange) for row in (*vocabulary.reserved, *vocabulary.added)):
        used["katapi.runtime.tokenization.counted"] = {"counted"}
    return render(
        "vocabulary.py.j2",
        VocabularyContext(
            source=program.source.name,
            vocabulary=vocabulary.identity.name,
            version=vocabulary.identity.version,
            line=rows.line(vocabulary.span),
            imports=imports(used),
            controls=[
                ControlRow(control_member(c), f"{c.id}, {string(c.spelling)}{_strips(c)}", rows.line(c.span))
                for c in vocabulary.controls
            ],
            texts=texts,
        ),
    )


def _strips(token: ControlToken) -> str:
    """What stands behind id and spelling of a token that takes white space next to it."""
    match token.flags.lstrip, token.flags.rstrip:
        case True, True:
            return ", Strips.BOTH"
        case True, False:
            return ", Strips.BEFORE"
        case False, True:
            return ", Strips.BEHIND"
        case _:
            return ""


class _Rows:
    """The rows of the tables, each with its line in the spec."""

    def __init__(self, program: TokenizerProgram) -> None:
        self._source = program.source

    def line(self, span: Span) -> int:
        """The line of a place."""
        return self._source.line_column(span.start)[0]

    def of(self, tokens: Iterable[AddedToken | OrdinaryToken | TokenRange]) -> Iterator[str]:
        """One row for each token or range."""
        for token in tokens:
            if isinstance(token, TokenRange):
                row = f"**counted({token.first}, {token.last}, {string(token.pattern)}),"
            else:
                row = f"{token.id}: {string(token.text)},"
            yield f"{row}  # line {self.line(token.span)}"
