"""Every spec of the repository, compiled: those in `spec/` as checked in, those in `tests/language/pass/` anew."""

from __future__ import annotations

import atexit
import re
import shutil
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from katapi.analyse import analyse
from katapi.artifacts.lock import read_lock
from katapi.compile import analyse_spec, compile_images, compile_program
from katapi.declared_artifacts import DeclaredArtifacts
from katapi.language.source import Source
from katapi.model.program import Library, Program, images_of
from katapi.project import Project
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from katapi.testing import with_vocabulary

ROOT = Path(__file__).parents[1]
PROJECT = Project(ROOT, ROOT / "spec", ROOT / "generated", "katapi_models")
ARTIFACTS = DeclaredArtifacts(PROJECT)
PASS = ROOT / "tests" / "language" / "pass"
LOCK = read_lock(ROOT / "spec" / "artifacts.lock")
OWN = sorted({ROOT / "spec" / "book.kata", *(ROOT / "spec" / "models").glob("*.kata")})
TOKENIZERS = sorted((ROOT / "spec" / "tokenizers").glob("*.kata"))


class Spec(NamedTuple):
    """One model of a spec."""

    path: Path
    name: str


def specs_in(path: Path) -> list[Spec]:
    """The models of a .kata file, without compiling it."""
    named: list[str] = re.findall(r'^model "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return [Spec(path, name) for name in named or [path.stem]]


ALL = [spec for path in [*OWN, *sorted(PASS.glob("*.kata"))] for spec in specs_in(path)]


@cache
def programs_of(path: Path) -> dict[str, Program]:
    """The checked programs of a spec, by the names of its models."""
    return {program.name: whole(program) for program in analyse_spec(PROJECT, path)}


def program_of(path: Path, name: str | None = None) -> Program:
    """The checked program of a model of a spec; without a name, of the only one."""
    programs = programs_of(path)
    return next(iter(programs.values())) if name is None else programs[name]


def whole_program(name: str, source: Source) -> Program:
    """The checked program of a source that has a template, or of its model of that name."""
    return next(whole(program) for program in analyse(name, source) if program.name == name)


def whole(program: Library) -> Program:
    """The same, known to have a template."""
    assert isinstance(program, Program), "this one has a template"
    return program


@cache
def pass_project() -> Project:
    """A project for the specs of `tests/language/pass/`, its generated folder temporary and on the import path."""
    folder = Path(tempfile.mkdtemp(prefix="katapi-pass-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = Project(ROOT, PASS, folder, "pass_models")
    (folder / "pass_models").mkdir()
    (folder / "pass_models" / "__init__.py").write_text("", encoding="utf-8")
    artifacts = DeclaredArtifacts(project)
    for path in sorted(PASS.glob("*.kata")):
        for program in programs_of(path).values():
            files = compile_program(program, project, artifacts)
            for library, _ in images_of(program).values():
                own = compile_images(library, project)
                files |= {file: data for file, data in own.items() if file.parts[0] == project.package}
            for file, data in files.items():
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    sys.path.insert(0, str(folder))
    return project


@cache
def model_of(path: Path, name: str | None = None) -> Model[RequestModel]:
    """The generated model of a spec, with a name one of several; over single bytes as in its generated tests."""
    package = "katapi_models" if path in OWN else pass_project().package
    program = program_of(path, name)
    model = import_module(f"{package}.{program.package}").MODEL
    assert isinstance(model, Model)
    artifact = program.vocabulary.artifact
    if artifact is None or not LOCK[artifact.name].cached:
        return model
    return with_vocabulary(model, program.configuration(), LOCK[artifact.name].sha256)


@cache
def model_named(name: str) -> Model[RequestModel]:
    """The model of a name that comes with Katapi, as `model_of` gives it."""
    return next(model_of(*spec) for path in OWN for spec in specs_in(path) if spec.name == name)
