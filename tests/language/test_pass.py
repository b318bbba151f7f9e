"""The specs of this repository, and those in `pass/`, resolve and check without a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from katapi.compile import analyse_spec
from katapi.project import Project
from tests.specs import specs_in

ROOT = Path(__file__).parents[2]
SPECS = sorted([*(ROOT / "tests" / "language" / "pass").glob("*.kata"), *(ROOT / "spec").rglob("*.kata")])


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_sound_spec_has_no_finding(path: Path) -> None:
    project = Project(ROOT, path.parent, ROOT / "generated", "katapi_models")
    assert [program.name for program in analyse_spec(project, path)] == [spec.name for spec in specs_in(path)]
