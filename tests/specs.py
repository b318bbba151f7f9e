"""Every spec of the repository, compiled: those in `spec/` as checked in, those in `tests/language/pass/` anew."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

from katapi.analyse import analyse
from katapi.compile import analyse_spec, compile_program
from katapi.declared_artifacts import DeclaredArtifacts
from katapi.language.source import Source
from katapi.model.program import Library, Program
from katapi.project import Project
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel

ROOT = Path(__file__).parents[1]
PASS = ROOT / "tests" / "language" / "pass"
OWN = sorted({ROOT / "spec" / "book.kata", *(ROOT / "spec" / "models").glob("*.kata")})
TOKENIZERS = sorted((ROOT / "spec" / "tokenizers").glob("*.kata"))
ALL = [*OWN, *sorted(PASS.glob("*.kata"))]


@cache
def program_of(path: Path) -> Program:
    """The checked program of a spec."""
    project = Project(ROOT, ROOT / "spec", ROOT / "generated", "katapi_models")
    return whole(analyse_spec(project, path))


def whole_program(name: str, source: Source) -> Program:
    """The checked program of a source that has a template."""
    return whole(analyse(name, source))


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
    for path in sorted(PASS.glob("*.kata")):
        for file, data in compile_program(program_of(path), project, DeclaredArtifacts(project)).items():
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    sys.path.insert(0, str(folder))
    return project


@cache
def model_of(path: Path) -> Model[RequestModel]:
    """The generated model of a spec."""
    package = "katapi_models" if path in OWN else pass_project().package
    model = import_module(f"{package}.{program_of(path).package}").MODEL
    assert isinstance(model, Model)
    return model
