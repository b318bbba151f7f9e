"""The whole pipeline: the .kata files of a project → the text of every generated file.

text → language.parser → syntax tree → model.resolve → program → check → emit → generated files
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from katapi.analyse import analyse, declarations
from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import read_lock
from katapi.artifacts.table import table_bytes
from katapi.emit.package import Meanings, emit_model, emit_models
from katapi.emit.property_tests import emit_property_tests
from katapi.emit.renderer import emit_renderer
from katapi.emit.request import emit_request
from katapi.emit.tokenizer import emit_tokenizer
from katapi.emit.vocabulary import emit_vocabulary
from katapi.language import syntax as s
from katapi.language.diagnostics import SpecError
from katapi.language.printer import canonical
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.project import Project
from katapi.runtime.artifacts.tiktoken import read_tiktoken
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

Files = Mapping[Path, bytes]


def compile_project(project: Project) -> dict[Path, bytes]:
    """Every generated file of a project, by its path below `generated`.

    Raises ProjectError with the findings of all specs, and ArtifactError.
    """
    programs: list[Program] = []
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
        out |= compile_program(program, project)
    return out


def compile_program(program: Program, project: Project) -> dict[Path, bytes]:
    """The generated files of one spec."""
    package = f"{project.package}.{program.package}"
    folder = Path(project.package) / program.package
    artifact = _artifact(program, project)
    out = {
        folder / "__init__.py": emit_model(program, package, _meanings(program, artifact)).encode(),
        folder / "vocabulary.py": emit_vocabulary(program).encode(),
        folder / "request.py": emit_request(program).encode(),
        folder / "renderer.py": emit_renderer(program, package).encode(),
        folder / "tokenizer.py": emit_tokenizer(program, package).encode(),
        Path("tests") / f"test_{program.package}.py": emit_property_tests(program, package).encode(),
    }
    if artifact is not None:
        out[folder / "vocabulary.bin"] = table_bytes(
            VocabularyData(Tokens.of(artifact.tokens)), artifact=artifact.sha256
        )
    return out


def read_source(project: Project, path: Path) -> Source:
    """A spec under the name that messages and generated files give it."""
    try:
        return Source(project.shown(path), path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"cannot be read: {error}", code="A153", where=project.shown(path)) from None


class ProjectError(Exception):
    """Specs that do not compile."""

    def __init__(self, failures: list[SpecError]) -> None:
        super().__init__(failures)
        self.failures = failures

    def __str__(self) -> str:
        return "\n\n".join(str(f) for f in self.failures)


@dataclass(frozen=True, slots=True)
class _Artifact:
    """The tokens of a vocabulary, and the digest of the file that they came from."""

    tokens: list[bytes]
    sha256: str


def _artifact(program: Program, project: Project) -> _Artifact | None:
    name = program.vocabulary.artifact
    if name is None:
        return None
    lock = read_lock(project.lock)
    tokens = read_tiktoken(artifact_bytes(name, lock), where=name)
    for control in program.vocabulary.controls:
        if control.id < len(tokens):
            raise ArtifactError(
                f"the control token @{control.name} has the id {control.id}, which is a token of {name}",
                code="A154",
                where=program.source.name,
                help=f"the ids of {name} end at {len(tokens) - 1}",
            )
    return _Artifact(tokens, lock[name].sha256)


def _meanings(program: Program, artifact: _Artifact | None) -> Meanings:
    """The canonical text of what the template and the tokenizer depend on."""
    parts: dict[type, str] = {}
    for declaration in declarations(program.source):
        parts[type(declaration)] = parts.get(type(declaration), "") + canonical(declaration) + "\n"
    vocabulary = parts[s.Vocabulary] + (f"sha256 {artifact.sha256}\n" if artifact is not None else "")
    return Meanings(
        template=vocabulary + parts.get(s.Serialization, "") + parts[s.Request] + parts[s.Template],
        tokenizer=vocabulary + parts[s.Tokenizer],
    )


def _distinct(programs: list[Program]) -> None:
    seen: dict[str, Program] = {}
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
