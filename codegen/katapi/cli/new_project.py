"""`katapi init`: the files of a new project."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from katapi.cli.failure import Failed

_NAMES = {
    "pyproject.toml": "pyproject.toml",
    "hello.kata": "spec/hello.kata",
    "artifacts.lock": "spec/artifacts.lock",
    "request.json": "request.json",
    "workflow.yml": ".github/workflows/katapi.yml",
}


def write_project(folder: Path) -> list[Path]:
    """Writes the files of a project named after its folder; an existing file is never overwritten."""
    name = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_") or "models"
    if name[0].isdigit():
        name = f"models_{name}"
    if name == "katapi":  # its package of models is the one that comes with Katapi
        name = "my_katapi"
    targets = {folder / target: source for source, target in _NAMES.items()}
    for target in targets:
        if target.exists():
            raise Failed(f"katapi: {target} exists already; nothing was written")
    templates = files("katapi.cli").joinpath("new_project_files")
    for target, source in targets.items():
        text = templates.joinpath(source).read_text(encoding="utf-8").replace("PROJECT", name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise Failed(f"katapi: {target} cannot be written: {error.strerror}") from None
    return list(targets)
