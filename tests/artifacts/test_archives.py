"""Files inside archives: what is named is read, and no more than it may have."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from katapi.artifacts import archives
from katapi.artifacts.archives import ArchiveError, fault_of, unpack

DATA = b"the artifact"


def zipped(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.json", DATA),
        ("a.zip!b/c.json", zipped("b/c.json", DATA)),
        ("a.json.gz!", gzip.compress(DATA)),
        ("a.json.xz!", lzma.compress(DATA)),
        ("a.zip!b.json.gz!", zipped("b.json.gz", gzip.compress(DATA))),
        ("a.zip.gz!!c", gzip.compress(zipped("c", DATA))),
        ("a.zip!b.zip!c", zipped("b.zip", zipped("c", DATA))),
    ],
    ids=lambda value: value if isinstance(value, str) else "data",  # archives hold the time at which they were made
)
def test_a_path_leads_into_archives(path: str, data: bytes) -> None:
    assert fault_of(path) is None
    assert unpack(data, path, len(DATA)) == DATA
    if "!" in path:
        with pytest.raises(ArchiveError, match=f"longer than the {len(DATA) - 1} bytes"):
            unpack(data, path, len(DATA) - 1)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ArchiveError, match="no file d in the archive"):
        unpack(zipped("c", DATA), "a.zip!d", 99)


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04", zipped("c", DATA)[:40], b"\x1f\x8b\x08", b"\xfd7zXZ\x00"],
    ids=["two letters", "half a zip", "gzip", "xz"],
)
@pytest.mark.parametrize("path", ["a.zip!c", "a.gz!", "a.xz!"])
def test_a_damaged_archive_is_a_fault_that_is_foreseen(data: bytes, path: str) -> None:
    with pytest.raises((ArchiveError, *archives.FAULTS)):
        unpack(data, path, 99)


def test_a_small_archive_of_very_much_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 60_000
    with pytest.raises(ArchiveError, match="longer than the 100 bytes"):
        unpack(bomb, "a.gz!", 100)


def test_what_stands_in_another_archive_has_a_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST", 1000)
    inner = gzip.compress(DATA)
    with pytest.raises(ArchiveError, match="longer than the 1000 bytes"):
        unpack(zipped("b.gz", inner + bytes(1000)), "a.zip!b.gz!", 99)


def test_wheels_and_npm_packages(tmp_path: Path) -> None:
    (tmp_path / "wheel").write_bytes(zipped("data/a.zip", zipped("c", DATA)))
    assert archives.read_wheel(tmp_path / "wheel", "data/a.zip!c", 99) == DATA
    with tarfile.open(tmp_path / "package", "w:gz") as archive:
        member = tarfile.TarInfo("package/a.gz")
        packed = gzip.compress(DATA)
        member.size = len(packed)
        archive.addfile(member, io.BytesIO(packed))
    assert archives.read_tarball(tmp_path / "package", "a.gz!", 99) == DATA
    assert archives.read_tarball(tmp_path / "package", "a.gz", 99) == packed
    with pytest.raises(ArchiveError, match="no file b in the package"):
        archives.read_tarball(tmp_path / "package", "b", 99)
    with pytest.raises(ArchiveError, match="longer than the 3 bytes"):
        archives.read_tarball(tmp_path / "package", "a.gz", 3)


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("a.tar!b", "'a.tar' is no archive"),
        ("a!b", "'a' is no archive"),
        ("a.zip!", "the name of the file in a .zip"),
        ("a.gz!b", "nothing for .gz and .xz"),
        ("a.zip!b.json!c", "'b.json' is no archive"),
        ("--output", "option"),
    ],
)
def test_what_is_wrong_with_a_path(path: str, fault: str) -> None:
    assert fault in (fault_of(path) or "")
