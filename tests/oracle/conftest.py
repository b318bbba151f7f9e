"""Programs for the oracle's tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from katapi.language.source import Source
from katapi.model.program import Program
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.json_types import Json
from katapi.runtime.segments import Rendering
from tests.specs import whole_program

ROOT = Path(__file__).parents[2]
_FOLDERS = (ROOT / "spec", ROOT / "spec" / "models", ROOT / "tests" / "language" / "pass")

Load = Callable[[str], Program]
Rendered = Callable[[str, Json], Rendering]


@cache
def _program(name: str) -> Program:
    path = next(p for folder in _FOLDERS if (p := folder / f"{name}.kata").is_file())
    return whole_program(name, Source(path.name, path.read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def load() -> Load:
    """The program of a spec, by its name."""
    return _program


@pytest.fixture(scope="session")
def rendered() -> Rendered:
    """What the spec of a name prints for a parsed request."""

    def made(name: str, request: Json) -> Rendering:
        program = _program(name)
        return render(program, canonical(program, request))

    return made
