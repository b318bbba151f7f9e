"""The cache of artifacts."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from katapi.artifacts.cache import Cache
from katapi.artifacts.table import table_bytes
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

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


VOCABULARY = VocabularyData(Tokens.of([b"a", b"b"]))
TABLE = table_bytes(VOCABULARY, artifact=DIGEST)


def counted(calls: list[str]) -> Callable[[], VocabularyData]:
    def read() -> VocabularyData:
        calls.append("read")
        return VOCABULARY

    return read


def test_a_table_is_made_once(tmp_path: Path) -> None:
    cache, calls = Cache(tmp_path), list[str]()
    for _ in range(2):
        assert [*cache.table(DIGEST, counted(calls)).tokens] == [b"a", b"b"]
    assert calls == ["read"]
    assert cache.table_path(DIGEST) == tmp_path / "tables" / "2" / DIGEST[:2] / DIGEST
    assert cache.table_path(DIGEST).read_bytes() == TABLE


OTHERS = {"empty": b"", "cut": TABLE[:-1], "foreign": TABLE[1:], "another": table_bytes(VOCABULARY, artifact="0" * 64)}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_table_that_is_damaged_or_of_another_artifact_is_made_again(tmp_path: Path, other: bytes) -> None:
    cache, calls = Cache(tmp_path), list[str]()
    cache.table(DIGEST, counted(calls))
    cache.table_path(DIGEST).write_bytes(other)
    assert [*cache.table(DIGEST, counted(calls)).tokens] == [b"a", b"b"]
    assert calls == ["read", "read"]
    assert cache.table_path(DIGEST).read_bytes() == TABLE


def test_no_table_stays_where_the_artifact_cannot_be_read(tmp_path: Path) -> None:
    def read() -> VocabularyData:
        raise ArtifactError("no token", code="A131")

    with pytest.raises(ArtifactError, match="A131"):
        Cache(tmp_path).table(DIGEST, read)
    assert not [*tmp_path.rglob("*")]


def test_a_table_that_cannot_be_written_is_made_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    made: list[str] = []
    for _ in range(2):
        assert [*Cache(tmp_path / "file").table(DIGEST, counted(made)).tokens] == [*counted([])().tokens]
    assert len(made) == 2


PROCESS = """
import sys
from pathlib import Path

from katapi.artifacts.cache import Cache
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

TOKENS = [b"%d" % number for number in range(10_000)]


def read() -> VocabularyData:
    print("reads", flush=True)
    sys.stdin.readline()  # until the other process reads as well
    return VocabularyData(Tokens.of(TOKENS))


cache = Cache(Path(sys.argv[1]))
for _ in range(20):
    assert [*cache.table(sys.argv[2], read).tokens] == TOKENS
    cache.table_path(sys.argv[2]).unlink(missing_ok=True)  # the other one may have it open
"""


def test_two_processes_make_the_same_table_at_once(tmp_path: Path) -> None:
    """Both begin to make it before either has, and go on making it and removing it while the other reads."""
    command = [sys.executable, "-c", PROCESS, str(tmp_path), DIGEST]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [
        subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "reads\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n" * 20)
        process.stdin.flush()
    for process in both:
        process.communicate(timeout=60)
    assert [process.returncode for process in both] == [0, 0]
    assert not list(tmp_path.rglob(".part-*"))
