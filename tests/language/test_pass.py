"""The specs of this repository, and those in `pass/`, resolve and check without a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from katapi.analyse import analyse
from katapi.language.source import Source

HERE = Path(__file__).parent
SPECS = sorted([*HERE.joinpath("pass").glob("*.kata"), *HERE.parents[1].joinpath("spec").rglob("*.kata")])


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_sound_spec_has_no_finding(path: Path) -> None:
    program = analyse(path.stem, Source(path.name, path.read_text(encoding="utf-8")))
    assert program.name == path.stem
