"""The artifacts of a project's vocabularies: each is read once, and held against its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from katapi.artifacts.cache import Cache
from katapi.artifacts.fetch import at_hand
from katapi.artifacts.fit import DeclaredIds, DeclaredToken, DeclaredVocabulary, misfits
from katapi.artifacts.lock import Artifact, read_lock
from katapi.artifacts.vocabularies import vocabulary_of
from katapi.emit.tokenizer import table_file
from katapi.language.diagnostics import excerpt
from katapi.language.source import Source, Span
from katapi.model.declarations import AddedToken, TokenRange
from katapi.model.program import TokenizerProgram
from katapi.project import Project
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


@dataclass(frozen=True, slots=True)
class DeclaredArtifact:
    """What an artifact says of a vocabulary, and its row in the lock.

    No data: the table is made in the cache of who uses it, and the artifact is not at hand.
    """

    data: VocabularyData | None
    row: Artifact


class SpecArtifactError(ArtifactError):
    """An error whose place is in a spec; it is shown with its line there."""

    excerpt: tuple[str, ...] = ()

    @classmethod
    def at(cls, source: Source, span: Span, error: ArtifactError) -> SpecArtifactError:
        """An error at a place in a spec, wherever it arose."""
        line, column = source.line_column(span.start)
        placed = cls(error.message, code=error.code, where=f"{source.name}:{line}:{column}", help=error.help)
        placed.excerpt = tuple(excerpt(source, span))
        return placed

    def __str__(self) -> str:
        head, *rest = super().__str__().rsplit("\n  help: ", 1)
        return "\n".join([head, *self.excerpt, *(f"  help: {help}" for help in rest)])


class ArtifactErrors(ArtifactError):
    """Everything in which an artifact does not fit a declaration; the first stands for all in the fields."""

    def __init__(self, findings: list[ArtifactError]) -> None:
        first = findings[0]
        super().__init__(first.message, code=first.code, where=first.where, help=first.help)
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return "\n\n".join(str(finding) for finding in self.findings)


class DeclaredArtifacts:
    """The artifacts of a project. One whose table is there already is not read again, unless all shall be `fresh`."""

    def __init__(self, project: Project, *, fresh: bool = False) -> None:
        self._project = project
        self._fresh = fresh
        self._known: dict[str, DeclaredArtifact | None] = {}

    def of(self, program: TokenizerProgram) -> DeclaredArtifact | None:
        """The artifact of a vocabulary, as it fits the declaration; None for a vocabulary that needs none.

        Raises ArtifactError. A vocabulary that several specs use is read once.
        """
        owner = program
        while owner.lender is not None:
            owner = owner.lender
        if owner.package not in self._known:
            self._known[owner.package] = self._read(owner)
        return self._known[owner.package]

    def data_of(self, program: TokenizerProgram) -> VocabularyData | None:
        """What the artifact of a vocabulary says; None where it has none, or none at hand. Raises as `of` does."""
        found = self.of(program)
        return None if found is None else found.data

    def _read(self, program: TokenizerProgram) -> DeclaredArtifact | None:
        declared = program.vocabulary.artifact
        if declared is None:
            return None
        lock = read_lock(self._project.lock)
        try:
            row = lock[declared.name]
        except ArtifactError as error:
            raise SpecArtifactError.at(program.source, declared.span, error) from None
        if declared.sha256 is not None and declared.sha256 != row.sha256:
            other = ArtifactError(
                f"{declared.name} shall have the sha256 {declared.sha256}, but the lock gives {row.sha256}",
                code="A156",
                help="correct the one that is wrong",
            )
            raise SpecArtifactError.at(program.source, declared.span, other)
        cache = Cache.of_user()
        if row.cached and not self._fresh and not at_hand(row, cache):
            return DeclaredArtifact(None, row)
        beside = [token.id for token in program.configuration().added_tokens]
        models = self._project.generated / self._project.package
        table = cache.table_path(row.sha256) if row.cached else models / table_file(row)
        tables = [] if self._fresh else [table]
        data = vocabulary_of(declared.name, lock, passed_over=beside, tables=tables, merges=program.needs_merges)
        if row.cached and not table.is_file():
            cache.table(row.sha256, lambda: data)
        places = _Places(program.source)
        findings = [places.shown(error) for error in misfits(_declared(program, declared.name, places), data)]
        if findings:
            raise ArtifactErrors(findings)
        return DeclaredArtifact(data, row)


class _Places:
    """Places of a spec as errors name them, and what stands there."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._spans: dict[str, Span] = {}

    def name(self, span: Span) -> str:
        """The place of a span."""
        line, column = self._source.line_column(span.start)
        place = f"{self._source.name}:{line}:{column}"
        self._spans.setdefault(place, span)
        return place

    def shown(self, error: ArtifactError) -> ArtifactError:
        """The error with the line of its place, if that is in the spec and not in the artifact."""
        span = self._spans.get(error.where)
        return error if span is None else SpecArtifactError.at(self._source, span, error)


def _declared(program: TokenizerProgram, artifact: str, places: _Places) -> DeclaredVocabulary:
    """What the spec says of a vocabulary, each token with its place."""
    vocabulary = program.vocabulary

    def tokens(row: AddedToken | TokenRange) -> Iterator[DeclaredToken]:
        spellings = row.spellings() if isinstance(row, TokenRange) else {row.id: row.text}
        place = places.name(row.span)
        return (DeclaredToken(number, spelling, place) for number, spelling in spellings.items())

    unknown = vocabulary.unknown
    return DeclaredVocabulary(
        places.name(vocabulary.span),
        artifact,
        control=[
            *(DeclaredToken(token.id, token.spelling, places.name(token.span)) for token in vocabulary.controls),
            *chain.from_iterable(map(tokens, vocabulary.reserved)),
        ],
        added=[*chain.from_iterable(map(tokens, vocabulary.added))],
        unused=[DeclaredIds(range(row.first, row.last + 1), places.name(row.span)) for row in vocabulary.unused],
        unknown=None if unknown is None else DeclaredToken(unknown.id, unknown.text, places.name(unknown.span)),
        size=vocabulary.size,
        bare=vocabulary.artifact is not None and vocabulary.artifact.bare,
    )
