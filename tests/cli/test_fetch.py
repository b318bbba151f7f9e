"""`katapi fetch`: which artifacts, what is shown, what is wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.command import ROOT, Done, here

DATA = {name: name.encode() * 3 for name in ("one", "two", "three")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "spec").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.katapi]\nspec = "spec"\ngenerated = "gen"\npackage = "models"\n')
    entries = ""
    for name, data in DATA.items():
        (tmp_path / "spec" / name).write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        entries += f'[[artifact]]\nname = "{name}"\nsha256 = "{digest}"\nsize = {len(data)}\nlicence = "MIT"\n'
        entries += f'[[artifact.place]]\nfile = "{name}"\n'
    (tmp_path / "spec" / "artifacts.lock").write_text(entries)
    spec = (ROOT / "spec" / "tokenizers" / "qwen.kata").read_text(encoding="utf-8")
    (tmp_path / "spec" / "v.kata").write_text(spec.replace("qwen/qwen.tiktoken", "two"), encoding="utf-8")
    return tmp_path


def fetched(done: Done) -> list[str]:
    return sorted(line.partition(":")[0] for line in done.out.splitlines())


def test_without_names_what_the_specs_use(project: Path) -> None:
    done = here("fetch", cwd=project)
    assert (done.status, done.err, fetched(done)) == (0, "", ["two"])
    assert done.out.startswith(f"two: 9 bytes, {hashlib.sha256(DATA['two']).hexdigest()}, from file ")
    assert here("fetch", cwd=project).out.endswith("from cache\n")


def test_names_and_all(project: Path) -> None:
    assert fetched(here("fetch", "three", "one", cwd=project)) == ["one", "three"]
    assert fetched(here("fetch", "--all", cwd=project)) == sorted(DATA)
    assert here("fetch", "one", "--all", cwd=project).status == 2


def test_an_unknown_name_is_an_error_before_anything_is_fetched(project: Path) -> None:
    done = here("fetch", "one", "four", cwd=project)
    assert (done.status, done.out) == (1, "")
    assert "A111" in done.err
    assert not (project / "cache").exists()


def test_one_that_cannot_be_had_keeps_no_other_back(project: Path) -> None:
    (project / "spec" / "two").write_bytes(b"damaged!!")
    done = here("fetch", "--all", cwd=project)
    assert (done.status, fetched(done)) == (1, ["one", "three"])
    assert "A121 at two" in done.err
    assert hashlib.sha256(b"damaged!!").hexdigest() in done.err
    assert hashlib.sha256(DATA["two"]).hexdigest() in done.err


def test_the_list(project: Path) -> None:
    here("fetch", "one", cwd=project)
    heading, *rows, last = here("fetch", "--list", cwd=project).out.splitlines()
    assert heading.split() == ["artifact", "bytes", "licence", "here", "places"]
    assert [row.split()[:4] for row in rows] == [
        ["one", "9", "MIT", "yes"],
        ["two", "9", "MIT", "no"],
        ["three", "15", "MIT", "no"],
    ]
    assert last == "3 artifacts, 33 bytes"
