"""Getting an artifact: the digest decides, and a place that fails is passed over. Nothing here needs a network."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from katapi.artifacts.cache import Cache
from katapi.artifacts.fetch import Downloads, artifact_bytes, fetch
from katapi.artifacts.lock import Artifact, FilePlace, HubPlace, Lock, NpmPlace, Place, PypiPlace
from katapi.runtime.errors import ArtifactError

DATA = b"the artifact"
WHEEL = PypiPlace("no-such-package-installed==1.0", "pkg/data.bin")
PACKAGE = NpmPlace("pkg@1.0", "data.bin")
HUB = HubPlace("owner/repository", "0123abc", "folder/data.bin")


def lock(*places: Place, size: int = len(DATA)) -> Lock:
    return Lock(Path("artifacts.lock"), {"a": Artifact("a", hashlib.sha256(DATA).hexdigest(), size, "MIT", places)})


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def good(tmp_path: Path) -> FilePlace:
    (tmp_path / "good").write_bytes(DATA)
    return FilePlace(tmp_path / "good")


def test_a_file_is_read_once_and_then_comes_from_the_cache(good: FilePlace, cache: Cache) -> None:
    assert artifact_bytes("a", lock(good), cache) == DATA
    good.path.unlink()
    assert artifact_bytes("a", lock(good), cache) == DATA


def test_the_next_place_is_tried(tmp_path: Path, good: FilePlace, cache: Cache) -> None:
    (tmp_path / "bad").write_bytes(b"something else")
    places = [FilePlace(tmp_path / "missing"), FilePlace(tmp_path / "bad"), good]
    assert artifact_bytes("a", lock(*places), cache) == DATA


def test_a_wrong_digest_is_never_taken(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "bad").write_bytes(b"something else")
    with pytest.raises(ArtifactError, match=r"A121 at a: .*missing: No such file.*bad: 14 bytes with sha256"):
        artifact_bytes("a", lock(FilePlace(tmp_path / "missing"), FilePlace(tmp_path / "bad")), cache)
    assert not cache.folder.exists()


def test_a_wrong_size_is_never_taken(good: FilePlace, cache: Cache) -> None:
    with pytest.raises(ArtifactError, match="A121"):
        artifact_bytes("a", lock(good, size=len(DATA) + 1), cache)


TROUBLE = "trouble\n\nERROR: nothing to be had\n"


def client(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None], status: int = 0, printed: str = TROUBLE
) -> list[Sequence[str]]:
    """Puts a client in the place of pip and npm, that calls `write` with the folder to download to; gives its calls."""
    calls: list[Sequence[str]] = []

    def run(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        write(Path(command[-1 if "--local-dir" in command else -2]))
        return subprocess.CompletedProcess(command, status, "", printed)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    return calls


def wheel(folder: Path, name: str = "pkg/data.bin") -> None:
    with zipfile.ZipFile(folder / "pkg-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(name, DATA)


def tarball(folder: Path, name: str = "package/data.bin") -> None:
    with tarfile.open(folder / "pkg-1.0.tgz", "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(DATA)
        archive.addfile(member, io.BytesIO(DATA))


def test_a_wheel(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    calls = client(monkeypatch, wheel)
    assert artifact_bytes("a", lock(WHEEL), cache) == DATA
    assert {"download", "--no-deps", "--only-binary=:all:", WHEEL.package} <= set(calls[0])


def test_an_npm_package(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    calls = client(monkeypatch, tarball)
    assert artifact_bytes("a", lock(PACKAGE), cache) == DATA
    assert {"/bin/npm", "pack", "--ignore-scripts", PACKAGE.package} <= set(calls[0])


def test_a_file_of_the_hub(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    def download(folder: Path) -> None:
        (folder / "folder").mkdir()
        (folder / "folder" / "data.bin").write_bytes(DATA)

    calls = client(monkeypatch, download)
    assert artifact_bytes("a", lock(HUB), cache) == DATA
    assert list(calls[0][:6]) == ["/bin/hf", "download", "owner/repository", "folder/data.bin", "--revision", "0123abc"]


def test_a_hub_without_its_client(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ArtifactError, match=r"hf is not installed; run `pip install 'katapi\[hub\]'`"):
        artifact_bytes("a", lock(HUB), cache)


def test_a_package_is_downloaded_once_for_all_that_is_in_it(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    calls = client(monkeypatch, wheel)
    other = hashlib.sha256(b"other").hexdigest()
    both = {
        "a": Artifact("a", hashlib.sha256(DATA).hexdigest(), len(DATA), "MIT", (WHEEL,)),
        "b": Artifact("b", other, 5, "MIT", (PypiPlace(WHEEL.package, "pkg/other"), WHEEL)),
    }
    with Downloads() as downloads, ThreadPoolExecutor(8) as pool:
        got = [pool.submit(fetch, name, Lock(Path("x"), both), cache, downloads) for name in "abababab"]
        errors = [future.exception() for future in got]
    assert len(calls) == 1
    assert [type(error) for error in errors] == [type(None), ArtifactError] * 4
    assert "no file pkg/other" in str(errors[1])
    assert other in str(errors[1])


def test_a_wrong_digest_is_named_beside_the_right_one(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "bad").write_bytes(b"something!!!")
    with pytest.raises(ArtifactError) as caught:
        artifact_bytes("a", lock(FilePlace(tmp_path / "bad")), cache)
    assert hashlib.sha256(DATA).hexdigest() in str(caught.value)
    assert hashlib.sha256(b"something!!!").hexdigest() in str(caught.value)


def test_a_file_in_an_archive_on_this_machine(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(DATA))
    assert artifact_bytes("a", lock(FilePlace(tmp_path / "a.gz!")), cache) == DATA


@pytest.mark.parametrize("place", [WHEEL, PACKAGE])
@pytest.mark.parametrize(
    ("write", "status", "reason"),
    [
        (lambda folder: None, 1, "ERROR: nothing to be had"),
        (lambda folder: None, 0, "0 files were downloaded"),
        (lambda folder: wheel(folder, "other"), 0, "no file"),
        (lambda folder: tarball(folder, "other"), 0, "no file"),
        (lambda folder: (folder / "x").write_bytes(b"PK"), 0, "no file"),
    ],
)
def test_a_client_that_fails(
    monkeypatch: pytest.MonkeyPatch,
    cache: Cache,
    place: Place,
    write: Callable[[Path], None],
    status: int,
    reason: str,
) -> None:
    client(monkeypatch, write, status)
    with pytest.raises(ArtifactError, match=f"A121.*{reason}"):
        artifact_bytes("a", lock(place), cache)


PIP_WITHOUT_NETWORK = """\
WARNING: Retrying after connection broken by 'NewConnectionError('<C at 0>: [Errno 111] Connection refused')': /simple/a
ERROR: No matching distribution found for a
"""
NPM_WITHOUT_NETWORK = """\
npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error request to https://a.invalid/p failed, reason: getaddrinfo ENOTFOUND a.invalid
npm error A complete log of this run can be found in: b
"""


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (PIP_WITHOUT_NETWORK, "[Errno 111] Connection refused"),
        (NPM_WITHOUT_NETWORK, "getaddrinfo ENOTFOUND a.invalid"),
    ],
)
def test_a_host_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch, cache: Cache, printed: str, said: str) -> None:
    client(monkeypatch, lambda folder: None, 1, printed)
    with pytest.raises(ArtifactError) as caught:
        artifact_bytes("a", lock(PACKAGE), cache)
    assert f"npm pkg@1.0: its host cannot be reached: {said})" in caught.value.message
    assert "proxy" in caught.value.help


def test_npm_says_first_what_is_wrong(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    printed = "npm error code E404\nnpm error 404 Not Found - GET https://a/p\nnpm error A complete log is in: b\n"
    client(monkeypatch, lambda folder: None, 1, printed)
    with pytest.raises(ArtifactError, match=r"npm pkg@1\.0: 404 Not Found - GET https://a/p\)") as caught:
        artifact_bytes("a", lock(PACKAGE), cache)
    assert "proxy" not in caught.value.help


def test_a_client_that_is_not_there(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ArtifactError, match="npm is not installed"):
        artifact_bytes("a", lock(PACKAGE), cache)


def test_a_package_that_is_installed_is_not_downloaded(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    calls = client(monkeypatch, lambda folder: None, status=1)
    data = Path(pytest.__file__).read_bytes()
    place = PypiPlace(f"pytest=={pytest.__version__}", "pytest/__init__.py")
    artifact = Artifact("a", hashlib.sha256(data).hexdigest(), len(data), "MIT", (place,))
    assert artifact_bytes("a", Lock(Path("artifacts.lock"), {"a": artifact}), cache) == data
    assert not calls
