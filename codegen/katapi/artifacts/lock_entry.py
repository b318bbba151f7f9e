"""Writes entries of `artifacts.lock`, in the form that `lock.py` reads."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from katapi.artifacts.lock import Artifact, FilePlace, HubPlace, Lock, NpmPlace, PypiPlace, read_lock
from katapi.files import write_whole


@dataclass(frozen=True, slots=True)
class LockEntry:
    """One artifact whose place is a file on this machine; `name`, `sha256`, `size` and `licence` as in `Artifact`."""

    name: str
    sha256: str
    size: int
    licence: str
    file: str
    """The path of the file, seen from the folder of the lock."""

    def text(self) -> str:
        """The entry in TOML."""
        return "\n".join(
            [
                "[[artifact]]",
                f"name = {_quoted(self.name)}",
                f"sha256 = {_quoted(self.sha256)}",
                f"size = {self.size}",
                f"licence = {_quoted(self.licence)}",
                "",
                "[[artifact.place]]",
                f"file = {_quoted(self.file)}",
                "",
            ]
        )


def lock_entry(data: bytes, file: Path, lock: Lock, *, group: str, licence: str) -> LockEntry:
    """An entry for the bytes of a file.

    It has the name that the lock has for these bytes already, otherwise a new one: `group/name of the file`.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    name = next((name for name, artifact in lock.artifacts.items() if artifact.sha256 == sha256), None)
    if name is None:
        name = f"{group}/{file.name}"
        if name in lock.artifacts:
            name = f"{group}-{sha256[:8]}/{file.name}"
    return LockEntry(name, sha256, len(data), licence, _seen_from(lock.path.parent, file))


def add_entry(path: Path, entry: LockEntry) -> None:
    """Puts an entry at the end of a lock, which is made where there is none. Raises OSError."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    write_whole(path, f"{text}{gap}{entry.text()}".encode())


def lock_at(path: Path) -> Lock:
    """The lock of a path, an empty one where there is no file. Raises `ArtifactError` A112 as `read_lock` does."""
    return read_lock(path) if path.exists() else Lock(path, {})


def _seen_from(folder: Path, file: Path) -> str:
    """A relative path where there is one."""
    try:
        return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return file.resolve().as_posix()


def has_places(artifact: Artifact) -> bool:
    """Whether others can have an artifact too."""
    return not all(isinstance(place, FilePlace) for place in artifact.places)


def artifact_text(artifact: Artifact) -> str:
    """A row of a lock that others can use: without the places that are files of this machine."""
    lines = [
        "[[artifact]]",
        f"name = {_quoted(artifact.name)}",
        f"sha256 = {_quoted(artifact.sha256)}",
        f"size = {artifact.size}",
        f"licence = {_quoted(artifact.licence)}",
        f"table = {_quoted('cache' if artifact.cached else 'generated')}",
    ]
    for place in artifact.places:
        match place:
            case PypiPlace(package, path):
                lines += ["", "[[artifact.place]]", f"pypi = {_quoted(package)}", f"path = {_quoted(path)}"]
            case NpmPlace(package, path):
                lines += ["", "[[artifact.place]]", f"npm = {_quoted(package)}", f"path = {_quoted(path)}"]
            case HubPlace(repository, revision, path):
                where = f"{repository}@{revision}"
                lines += ["", "[[artifact.place]]", f"hf = {_quoted(where)}", f"path = {_quoted(path)}"]
            case FilePlace():
                pass
            case _:
                assert_never(place)
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
