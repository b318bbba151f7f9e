"""Nothing depends on the Unicode data of the Python that runs: the same results under another Python (issue 3)."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
from pathlib import Path

import pytest

from tools.determinism import RESULTS, ROOT, other_pythons
from tools.unicode_results import digests, recorded, this_python

RECORD = recorded(RESULTS)
OTHERS = dict(other_pythons([]))
NONE_HERE = "no-other-Python-here-so-only-the-record-of-others-is-compared"


def test_the_record_holds_results_of_pythons_whose_own_data_differ() -> None:
    assert len(RECORD["pythons"]) >= 2
    assert len({*RECORD["pythons"].values()}) >= 2, "the text tells no two of these Pythons apart"


def test_this_python_gives_what_other_pythons_gave() -> None:
    assert {*RECORD["pythons"]} - {this_python()}, "recorded by no other Python"
    assert digests() == RECORD["digests"]


@pytest.mark.parametrize("version", sorted(OTHERS)[-1:] or [NONE_HERE])
def test_another_python_gives_the_same(version: str) -> None:
    if version == NONE_HERE:
        assert {*RECORD["pythons"]} - {this_python()}
        return
    python = _environment(version, OTHERS[version])
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("codegen", "generated"))
    done = subprocess.run(
        [python, "-W", "error", ROOT / "tools" / "unicode_results.py"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["python"].startswith(f"{version} ")
    assert found["python"] != this_python()
    assert found["digests"] == RECORD["digests"]


def _environment(version: str, python: Path) -> Path:
    """An environment of that Python with what Katapi needs when it runs, in the versions that are installed here."""
    folder = ROOT / "build" / "pythons" / f"python{version}"
    interpreter = folder / "bin" / "python"
    wanted = [f"{name}=={importlib.metadata.version(name)}" for name in ("numpy", "pydantic")]
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() != " ".join(wanted):
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        options = ["--quiet", "--no-input", "--disable-pip-version-check"]
        done = subprocess.run(
            [interpreter, "-m", "pip", "install", *options, *wanted], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip(f"numpy and pydantic cannot be had for Python {version}; only the record was compared")
        ready.write_text(" ".join(wanted))
    return interpreter
