"""The whole pipeline: the .kata files of a project → the text of every generated file.

text → language.parser → syntax tree → model.resolve → program → check → emit → generated files
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from katapi.analyse import analyse, declarations
from katapi.artifacts.fit import DeclaredIds, DeclaredToken, DeclaredVocabulary, misfits
from katapi.artifacts.lock import Artifact, read_lock
from katapi.artifacts.table import table_bytes
from katapi.artifacts.vocabularies import vocabulary_of
from katapi.emit.package import emit_declared_tokenizer, emit_model, emit_models
from katapi.emit.property_tests import emit_property_tests
from katapi.emit.renderer import emit_renderer
from katapi.emit.request import emit_request
from katapi.emit.tokenizer import emit_tokenizer
from katapi.emit.tokenizer_tests import emit_tokenizer_tests
from katapi.emit.vocabulary import emit_vocabulary
from katapi.language import syntax as s
from katapi.language.diagnostics import SpecError
from katapi.language.printer import canonical
from katapi.language.source import Source, Span
from katapi.model.declarations import AddedToken, TokenRange
from katapi.model.program import Program, TokenizerProgram
from katapi.project import Project
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

Files = Mapping[Path, bytes]


def compile_project(project: Project, *, fresh: bool = False) -> dict[Path, bytes]:
    """Every generated file of a project, by its path below `generated`.

    Artifacts of which the project has a table already are not read again, unless all shall be `fresh`.
    Raises ProjectError with the findings of all specs, and ArtifactError.
    """
    programs: list[TokenizerProgram] = []
    failures: list[SpecError] = []
    for path in project.specs():
        try:
            programs.append(analyse(path.stem, read_source(project, path)))
        except SpecError as error:
            failures.append(error)
    if failures:
        raise ProjectError(failures)
    _distinct(programs)
    package = Path(project.package)
    out: dict[Path, bytes] = {
        package / "__init__.py": emit_models(programs).encode(),
        package / "py.typed": b"",
    }
    for program in programs:
        out |= compile_program(program, project, fresh=fresh)
    return out


def compile_program(program: TokenizerProgram, project: Project, *, fresh: bool = False) -> dict[Path, bytes]:
    """The generated files of one spec; `fresh` as in `compile_project`."""
    package = f"{project.package}.{program.package}"
    folder = Path(project.package) / program.package
    tests = Path("tests") / f"test_{program.package}.py"
    artifact = _artifact(program, project, fresh=fresh)
    data = VocabularyData.of_texts(_texts(program)) if artifact is None else artifact.data
    _check_builds(program, data)
    out = {
        folder / "vocabulary.py": emit_vocabulary(program).encode(),
        folder / "tokenizer.py": emit_tokenizer(program, package, None if artifact is None else artifact.row).encode(),
    }
    if artifact is not None and not artifact.row.cached:
        out[folder / "vocabulary.bin"] = table_bytes(data, artifact=artifact.row.sha256)
    meanings = _Meanings(program, artifact)
    if isinstance(program, Program):
        out[folder / "__init__.py"] = emit_model(
            program, package, template=meanings.template(), tokenizer=meanings.tokenizer()
        ).encode()
        out[folder / "request.py"] = emit_request(program).encode()
        out[folder / "renderer.py"] = emit_renderer(program, package).encode()
        out[tests] = emit_property_tests(program, package).encode()
    else:
        out[folder / "__init__.py"] = emit_declared_tokenizer(program, package, meanings.tokenizer()).encode()
        out[tests] = emit_tokenizer_tests(program, package, _ids(program, data)).encode()
    return out


def read_source(project: Project, path: Path) -> Source:
    """A spec under the name that messages and generated files give it."""
    try:
        return Source(project.shown(path), path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"cannot be read: {error}", code="A153", where=project.shown(path)) from None


class ArtifactErrors(ArtifactError):
    """Everything in which an artifact does not fit a declaration; the first stands for all in the fields."""

    def __init__(self, findings: list[ArtifactError]) -> None:
        first = findings[0]
        super().__init__(first.message, code=first.code, where=first.where, help=first.help)
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return "\n\n".join(str(finding) for finding in self.findings)


class ProjectError(Exception):
    """Specs that do not compile."""

    def __init__(self, failures: list[SpecError]) -> None:
        super().__init__(failures)
        self.failures = failures

    def __str__(self) -> str:
        return "\n\n".join(str(f) for f in self.failures)


@dataclass(frozen=True, slots=True)
class _Artifact:
    """What an artifact says of a vocabulary, and its row in the lock."""

    data: VocabularyData
    row: Artifact


def _artifact(program: TokenizerProgram, project: Project, *, fresh: bool) -> _Artifact | None:
    """The artifact of the vocabulary, as it fits the declaration."""
    declared = program.vocabulary.artifact
    if declared is None:
        return None
    lock = read_lock(project.lock)
    sha256 = lock[declared.name].sha256
    if declared.sha256 is not None and declared.sha256 != sha256:
        line, _ = program.source.line_column(declared.span.start)
        raise ArtifactError(
            f"{declared.name} shall have the sha256 {declared.sha256}, but the lock gives {sha256}",
            code="A156",
            where=f"{program.source.name}:{line}",
            help="correct the one that is wrong",
        )
    beside = [token.id for token in program.configuration().added_tokens]
    tables = [] if fresh else [project.generated / project.package / program.package / "vocabulary.bin"]
    data = vocabulary_of(declared.name, lock, passed_over=beside, tables=tables)
    findings = misfits(_declared(program, declared.name), data)
    if findings:
        raise ArtifactErrors(findings)
    return _Artifact(data, lock[declared.name])


def _declared(program: TokenizerProgram, artifact: str) -> DeclaredVocabulary:
    """What the spec says of a vocabulary, each token with its place."""
    vocabulary = program.vocabulary

    def place(span: Span) -> str:
        line, column = program.source.line_column(span.start)
        return f"{program.source.name}:{line}:{column}"

    def tokens(row: AddedToken | TokenRange) -> Iterator[DeclaredToken]:
        spellings = row.spellings() if isinstance(row, TokenRange) else {row.id: row.text}
        return (DeclaredToken(number, spelling, place(row.span)) for number, spelling in spellings.items())

    unknown = vocabulary.unknown
    return DeclaredVocabulary(
        place(vocabulary.span),
        artifact,
        control=[
            *(DeclaredToken(token.id, token.spelling, place(token.span)) for token in vocabulary.controls),
            *chain.from_iterable(map(tokens, vocabulary.reserved)),
        ],
        added=[*chain.from_iterable(map(tokens, vocabulary.added))],
        unused=[DeclaredIds(range(row.first, row.last + 1), place(row.span)) for row in vocabulary.unused],
        unknown=None if unknown is None else DeclaredToken(unknown.id, unknown.text, place(unknown.span)),
        size=vocabulary.size,
    )


def _texts(program: TokenizerProgram) -> dict[int, str]:
    return {token.id: token.text for token in program.vocabulary.texts}


def _ids(program: TokenizerProgram, data: VocabularyData) -> list[int]:
    """All ids that have a token."""
    configuration = program.configuration()
    own = {token for token in range(len(data.tokens)) if data.tokens.has(token)}
    beside = {token.id for token in configuration.added_tokens}
    return sorted(own | beside | ({configuration.unknown} if configuration.unknown is not None else set()))


def _check_builds(program: TokenizerProgram, data: VocabularyData) -> None:
    """What the generated tokenizer will do on first use can be done."""
    try:
        build_tokenizer(program.configuration(), data)
    except ArtifactError as error:
        raise ArtifactError(error.message, code=error.code, where=program.source.name, help=error.help) from None


class _Meanings:
    """The canonical texts of what a template and a tokenizer depend on, of which their digests are taken."""

    def __init__(self, program: TokenizerProgram, artifact: _Artifact | None) -> None:
        self._parts: dict[type, str] = {}
        for declaration in declarations(program.source):
            kind = type(declaration)
            self._parts[kind] = self._parts.get(kind, "") + canonical(declaration) + "\n"
        if artifact is not None:
            self._parts[s.Vocabulary] += f"sha256 {artifact.row.sha256}\n"

    def template(self) -> str:
        """What the template depends on."""
        return "".join(self._parts.get(k, "") for k in (s.Vocabulary, s.Serialization, s.Request, s.Template))

    def tokenizer(self) -> str:
        """What the tokenizer depends on."""
        return self._parts[s.Vocabulary] + self._parts[s.Tokenizer]


def _distinct(programs: list[TokenizerProgram]) -> None:
    seen: dict[str, TokenizerProgram] = {}
    for program in programs:
        if program.package in seen:
            raise ArtifactError(
                f"its package would be {program.package}, as that of {seen[program.package].source.name}",
                code="A155",
                where=program.source.name,
                help="rename one of the two files",
            )
        if not program.package.isidentifier():
            raise ArtifactError(
                f"{program.package!r} is no name of a package",
                code="A155",
                where=program.source.name,
                help="name the file with letters, digits, `.`, `-` and `_`, a letter first",
            )
        seen[program.package] = program
