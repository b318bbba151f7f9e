"""mypy refuses every mix-up of control tokens, literals and content in `mixups.py`, and nothing else there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MIXUPS = Path(__file__).with_name("mixups.py")


def test_mypy_finds_exactly_the_marked_lines() -> None:
    lines = MIXUPS.read_text(encoding="utf-8").splitlines()
    marks = {number: line.split("# E: ")[1] for number, line in enumerate(lines, start=1) if "# E: " in line}
    # A file that is named is checked, although the project's settings leave it out.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-pretty", str(MIXUPS.relative_to(ROOT))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    found = {int(line): said for line, said in re.findall(r"^[^:]+:(\d+): error: (.*)$", done.stdout, re.MULTILINE)}
    assert found.keys() == marks.keys(), done.stdout
    assert len(marks) > 30
    wrong = {number: said for number, said in found.items() if marks[number] not in said}
    assert wrong == {}
