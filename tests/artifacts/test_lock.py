"""The lock of artifacts: what it says, and what it may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from katapi.artifacts.lock import Artifact, FilePlace, HubPlace, Lock, NpmPlace, PypiPlace, read_lock
from katapi.runtime.errors import ArtifactError

DIGEST = "ab" * 32
ENTRY = f"""
[[artifact]]
name = "a/b"
sha256 = "{DIGEST}"
size = 3
licence = "MIT"
"""
PLACE = """
[[artifact.place]]
pypi = "pkg==1.0"
path = "pkg/file"
"""


def lock(folder: Path, text: str) -> Lock:
    (folder / "artifacts.lock").write_text(text, encoding="utf-8")
    return read_lock(folder / "artifacts.lock")


def test_all_kinds_of_places(tmp_path: Path) -> None:
    more = """
[[artifact.place]]
npm = "@scope/pkg@2.0.0"
path = "data/file"
[[artifact.place]]
hf = "owner/repository@0123abc"
path = "data/file.zip!file"
[[artifact.place]]
file = "local/file"
"""
    assert lock(tmp_path, ENTRY + PLACE + more)["a/b"] == Artifact(
        "a/b",
        DIGEST,
        3,
        "MIT",
        (
            PypiPlace("pkg==1.0", "pkg/file"),
            NpmPlace("@scope/pkg@2.0.0", "data/file"),
            HubPlace("owner/repository", "0123abc", "data/file.zip!file"),
            FilePlace(tmp_path / "local/file"),
        ),
    )


def test_a_name_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"A111.*'x'.*a/b"):
        lock(tmp_path, ENTRY + PLACE)["x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not TOML"),
        ("artifact = 3", "artifact"),
        ("artifact = [3]", "artifact"),
        (ENTRY, "artifact 1: at least one place"),
        (ENTRY + PLACE + ENTRY + PLACE, "artifact 2: the name 'a/b' comes twice"),
        (ENTRY.replace("ab", "AB") + PLACE, "sha256"),
        (ENTRY.replace("ab", "a", 1) + PLACE, "sha256"),
        (ENTRY.replace("size = 3", "size = 0") + PLACE, "size"),
        (ENTRY.replace("size = 3", "size = true") + PLACE, "size"),
        (ENTRY.replace("size = 3\n", "") + PLACE, "size"),
        (ENTRY.replace('"MIT"', '""') + PLACE, "licence"),
        (ENTRY + "colour = 3" + PLACE, "unknown key 'colour'"),
        (ENTRY + PLACE + "colour = 3", "artifact 1, place 1: unknown key 'colour'"),
        (ENTRY + PLACE.replace("==1.0", ""), "artifact 1, place 1: `pypi` must name a package in one version"),
        (ENTRY + PLACE.replace("pkg==1.0", "--pre==1.0"), "`pypi` must name a package"),
        (ENTRY + PLACE.replace("pkg==1.0", "pkg==1.0 --pre"), "`pypi` must name a package"),
        (ENTRY + PLACE.replace("pypi", "npm"), "`npm` must name a package"),
        (ENTRY + PLACE.replace("pypi", "file"), "unknown key 'path'"),
        (ENTRY + PLACE.replace("pypi", "hf"), "`hf` must name a package"),
        (ENTRY + PLACE.replace("pkg/file", "pkg/file.tar!x"), "`path`: 'pkg/file.tar' is no archive"),
        (ENTRY + PLACE.replace('path = "pkg/file"', ""), "`path`"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ArtifactError, match=f"A112 at .*artifacts.lock.*{message}"):
        lock(tmp_path, text)


def test_no_lock(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"A112.*cannot read"):
        read_lock(tmp_path / "artifacts.lock")


def test_the_lock_of_this_repository() -> None:
    path = Path(__file__).parents[2] / "spec" / "artifacts.lock"
    artifact = read_lock(path)["qwen/qwen.tiktoken"]
    assert artifact.sha256.startswith("b2b1b8df")
    assert artifact.licence == "Apache-2.0"
