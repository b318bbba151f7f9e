"""Programs for the oracle's tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from katapi.model.program import Program
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.json_types import Json
from katapi.runtime.segments import Rendering
from tests.specs import ALL, program_of

Load = Callable[[str], Program]
Rendered = Callable[[str, Json], Rendering]


@cache
def _program(name: str) -> Program:
    return next(program_of(*spec) for spec in ALL if spec.name == name)


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
