"""Projects made with `katapi init`, for tests of the commands on specs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command import ROOT, here


@pytest.fixture
def book_project(tmp_path: Path) -> Path:
    """A new project, built, whose one spec is the chapter's fixture: it needs no artifact."""
    folder = tmp_path / "books"
    assert here("init", str(folder)).status == 0
    (folder / "spec" / "hello.kata").unlink()
    shutil.copy(ROOT / "spec" / "book.kata", folder / "spec" / "tale.kata")
    done = here("build", cwd=folder)
    assert (done.status, done.err) == (0, "")
    return folder
