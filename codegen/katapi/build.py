"""Brings `generated/` in line with what the compiler gives, or says where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from enum import Enum
from pathlib import Path

from katapi.project import Project


class Change(Enum):
    """What must happen to a file."""

    NEW = "missing"
    CHANGED = "differs"
    ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Difference:
    """A generated file that is not as the compiler gives it; `path` is seen from the project's root."""

    change: Change
    path: str
    detail: str


def compare(project: Project, files: Mapping[Path, bytes]) -> list[Difference]:
    """Every file that is missing, differs, or that no spec gives."""
    out: list[Difference] = []
    for path, data in sorted(files.items()):
        target = project.generated / path
        if not target.is_file():
            out.append(Difference(Change.NEW, project.shown(target), ""))
        elif target.read_bytes() != data:
            out.append(Difference(Change.CHANGED, project.shown(target), _diff(target.read_bytes(), data)))
    out += [Difference(Change.ORPHAN, project.shown(p), "") for p in _orphans(project, files)]
    return out


def write(project: Project, files: Mapping[Path, bytes]) -> list[Difference]:
    """Writes what differs and removes orphans; gives back what was done."""
    differences = compare(project, files)
    for path, data in files.items():
        target = project.generated / path
        if target.is_file() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        part.write_bytes(data)
        part.replace(target)
    for orphan in _orphans(project, files):
        orphan.unlink()
        _remove_empty(orphan.parent, project.generated)
    return differences


def _orphans(project: Project, files: Mapping[Path, bytes]) -> list[Path]:
    """Files in the generated package and among the generated tests that the compiler did not give."""
    wanted = {project.generated / p for p in files}
    folders = (project.generated / project.package, project.generated / "tests")
    found = (p for folder in folders for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return sorted(p for p in found if p not in wanted)


def _remove_empty(folder: Path, stop: Path) -> None:
    while folder != stop and not any(p.name != "__pycache__" for p in folder.iterdir()):
        for cache in folder.glob("__pycache__/*"):
            cache.unlink()
        for cache in folder.glob("__pycache__"):
            cache.rmdir()
        folder.rmdir()
        folder = folder.parent


def _diff(old: bytes, new: bytes) -> str:
    try:
        before, after = old.decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        return f"{len(old)} bytes on disk, {len(new)} bytes compiled"
    lines = list(unified_diff(before, after, "on disk", "compiled", lineterm="", n=1))
    return "\n".join(lines[:20])
