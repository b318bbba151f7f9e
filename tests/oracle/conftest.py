"""Programs for the oracle's tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from katapi.model.program import Program
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.json_types import Json
from katapi.runtime.segments import Rendering
from tests.specs import program_of

ROOT = Path(__file__).parents[2]
_FOLDERS = (ROOT / "spec", ROOT / "spec" / "models", ROOT / "tests" / "language" / "pass")

Load = Callable[[str], Program]
Rendered = Callable[[str, Json], Rendering]


@cache
def _program(name: str) -> Program:
    path = next(p for folder in _FOLDERS if (p := folder / f"{name}.kata").is_file())
    return program_of(path)


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
