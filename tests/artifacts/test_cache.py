"""The cache of artifacts."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from katapi.artifacts.cache import Cache
from katapi.runtime.errors import ArtifactError

DATA = b"data"
DIGEST = hashlib.sha256(DATA).hexdigest()


def test_what_is_put_is_there_under_its_digest(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.get(DIGEST) is None
    assert cache.put(DATA) == tmp_path / "sha256" / DIGEST[:2] / DIGEST
    assert cache.get(DIGEST) == DATA
    assert [path.name for path in cache.path(DIGEST).parent.iterdir()] == [DIGEST]


def test_a_damaged_file_does_not_count_and_is_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(DATA).write_bytes(b"date")
    assert cache.get(DIGEST) is None
    cache.put(DATA)
    assert cache.get(DIGEST) == DATA


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArtifactError, match=r"A123(.|\n)*KATAPI_CACHE"):
        Cache(tmp_path / "file").put(DATA)


def test_the_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    assert Cache.of_user().folder == tmp_path
    monkeypatch.setenv("KATAPI_CACHE", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Cache.of_user().folder == tmp_path / ".cache" / "katapi"
