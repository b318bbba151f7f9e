"""`katapi import tokenizer`: what it writes where, and what it refuses."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from katapi.artifacts.lock import FilePlace, read_lock
from tests.command import ROOT, Done, here

FILE = ROOT / "tests" / "artifacts" / "data" / "split.tokenizer.json"
SHA256 = hashlib.sha256(FILE.read_bytes()).hexdigest()
RANKS = b"".join(b"%s %d\n" % (base64.b64encode(bytes([byte])), byte) for byte in range(256))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project, with a cache of its own and a tokenizer.json in it."""
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "mine"
    assert here("init", str(folder)).status == 0
    (folder / "tokenizer.json").write_bytes(FILE.read_bytes())
    return folder


def imported(folder: Path, *arguments: str) -> Done:
    return here("import", "tokenizer", *arguments, cwd=folder)


def fine(done: Done) -> str:
    assert done.status == 0, done.err
    assert not done.err or done.err.endswith(" lists no control tokens: declare those of the model under `control`\n")
    return done.out


def test_in_a_project_what_is_imported_can_be_built(project: Path) -> None:
    (project / "spec" / "hello.kata").unlink()
    before = read_lock(project / "spec" / "artifacts.lock").artifacts
    out = fine(imported(project, "tokenizer.json", "-o", "spec/my.kata", "--licence", "MIT"))
    assert out == (
        "wrote spec/my.kata\n"
        'entered "my/tokenizer.json" in spec/artifacts.lock; say its licence there, and where others get it\n'
    )
    lock = read_lock(project / "spec" / "artifacts.lock")
    assert {name: lock[name] for name in before} == before
    entry = lock["my/tokenizer.json"]
    assert (entry.sha256, entry.size, entry.licence) == (SHA256, FILE.stat().st_size, "MIT")
    assert entry.places == (FilePlace(project / "spec" / "../tokenizer.json"),)
    text = (project / "spec" / "my.kata").read_text(encoding="utf-8")
    assert text.startswith(f'vocabulary My version "1" {{\n  artifact "my/tokenizer.json" sha256 "{SHA256}"\n')
    assert '\ntokenizer My version "1" over My {\n' in text
    fine(here("check", "spec/my.kata", cwd=project))
    fine(here("fmt", "--check", cwd=project))
    fine(here("build", cwd=project))
    assert (project / "generated" / "mine_models" / "tables" / "my-tokenizer.json.bin").is_file()


def test_a_file_that_the_lock_knows_keeps_its_name(project: Path) -> None:
    fine(imported(project, "tokenizer.json", "-o", "spec/my.kata"))
    before = (project / "spec" / "artifacts.lock").read_bytes()
    assert fine(imported(project, str(FILE), "-o", "spec/other.kata", "--name", "Other")) == "wrote spec/other.kata\n"
    assert (project / "spec" / "artifacts.lock").read_bytes() == before
    text = (project / "spec" / "other.kata").read_text(encoding="utf-8")
    assert text.startswith('vocabulary Other version "1" {\n  artifact "my/tokenizer.json" sha256 ')


def test_another_file_of_that_name_gets_another(project: Path) -> None:
    fine(imported(project, "tokenizer.json", "-o", "spec/my.kata"))
    (project / "tokenizer.json").write_bytes(FILE.read_bytes() + b"\n")
    sha256 = hashlib.sha256(FILE.read_bytes() + b"\n").hexdigest()
    assert f'"my-{sha256[:8]}/tokenizer.json"' in fine(
        imported(project, "tokenizer.json", "-o", "spec/my.kata", "--force")
    )
    lock = read_lock(project / "spec" / "artifacts.lock")
    assert lock[f"my-{sha256[:8]}/tokenizer.json"].sha256 == sha256


def test_a_project_without_a_lock_gets_one(project: Path) -> None:
    (project / "spec" / "artifacts.lock").unlink()
    fine(imported(project, "tokenizer.json", "-o", "spec/my.kata"))
    assert [*read_lock(project / "spec" / "artifacts.lock").artifacts] == ["my/tokenizer.json"]


def test_outside_of_a_project_the_entry_is_printed(tmp_path: Path) -> None:
    out = fine(imported(tmp_path, str(FILE), "-o", "llama3.2.kata"))
    head, _, entry = out.partition("\n\n")
    assert head == "wrote llama3.2.kata\nenter in artifacts.lock:"
    (tmp_path / "artifacts.lock").write_text(entry, encoding="utf-8")
    lock = read_lock(tmp_path / "artifacts.lock")
    [place] = lock["llama3/split.tokenizer.json"].places
    assert isinstance(place, FilePlace)
    assert place.path.read_bytes() == FILE.read_bytes()
    assert 'vocabulary Llama3_2 version "1"' in (tmp_path / "llama3.2.kata").read_text(encoding="utf-8")


def test_a_specification_beside_those_of_the_project_changes_no_lock(project: Path) -> None:
    before = (project / "spec" / "artifacts.lock").read_bytes()
    assert "enter in artifacts.lock:" in fine(imported(project, "tokenizer.json", "-o", "draft.kata"))
    assert (project / "spec" / "artifacts.lock").read_bytes() == before


def test_without_a_name_the_specification_is_printed(tmp_path: Path) -> None:
    done = imported(tmp_path, str(FILE))
    assert done.status == 0
    assert done.out.startswith('vocabulary SplitTokenizer version "1" {\n')
    assert done.err.startswith("enter in artifacts.lock:\n\n[[artifact]]\n")
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_overwritten_unless_that_is_asked_for(project: Path) -> None:
    before = (project / "spec" / "hello.kata").read_bytes()
    done = imported(project, "tokenizer.json", "-o", "spec/hello.kata")
    assert (done.status, done.out) == (1, "")
    assert done.err == "katapi: spec/hello.kata exists already; nothing was written (--force writes over it)\n"
    assert (project / "spec" / "hello.kata").read_bytes() == before
    fine(imported(project, "tokenizer.json", "-o", "spec/hello.kata", "--force"))
    assert (project / "spec" / "hello.kata").read_bytes() != before


@pytest.mark.parametrize("arguments", [["-o", "my.txt"], ["-o", "my.kata", "--name", "two words"], ["-o", "天.kata"]])
def test_wrong_arguments(tmp_path: Path, arguments: list[str]) -> None:
    done = imported(tmp_path, str(FILE), *arguments)
    assert (done.status, done.out) == (2, "")
    assert [*tmp_path.iterdir()] == []


def test_a_file_of_ranks_needs_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "x.tiktoken").write_bytes(RANKS)
    done = imported(tmp_path, "x.tiktoken", "-o", "x.kata")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: artifact error A138 at x.tiktoken: ")
    fine(imported(tmp_path, "x.tiktoken", "-o", "x.kata", "--pattern", r"\S+|\s+"))
    assert "\n  pretokenize: `\\S+|\\s+` isolated, bytes\n" in (tmp_path / "x.kata").read_text(encoding="utf-8")


@pytest.mark.parametrize("pattern", ["(", r"\s*"])
def test_a_pattern_that_is_none_is_refused(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "x.tiktoken").write_bytes(RANKS)
    done = imported(tmp_path, "x.tiktoken", "-o", "x.kata", "--pattern", pattern)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: x.tiktoken has what no specification can declare\n\n")
    assert "K709" in done.err
    assert not (tmp_path / "x.kata").exists()


def test_a_file_of_no_known_format(project: Path) -> None:
    (project / "x.json").write_bytes(b"[]")
    before = (project / "spec" / "artifacts.lock").read_bytes()
    done = imported(project, "x.json", "-o", "spec/x.kata")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: artifact error A139 at x.json: ")
    assert not (project / "spec" / "x.kata").exists()
    assert (project / "spec" / "artifacts.lock").read_bytes() == before


def test_the_algorithm_must_be_one_that_the_artifact_is_for(project: Path) -> None:
    (project / "ranks.tiktoken").write_bytes(RANKS)
    assert imported(project, "ranks.tiktoken", "-o", "spec/r.kata", "--pattern", r"\S+|\s+").status == 0
    spec = project / "spec" / "r.kata"
    spec.write_text(spec.read_text(encoding="utf-8").replace("bpe ranks", "bpe merges, bytes"), encoding="utf-8")
    done = here("build", cwd=project)
    assert done.status == 1
    assert "artifact error A115 at spec/r.kata:" in done.err


def test_a_name_that_gives_no_package_is_refused_before_anything_is_written(project: Path) -> None:
    for name in ("1", "ü x"):
        done = imported(project, "tokenizer.json", "-o", f"spec/{name}.kata")
        assert (done.status, "gives no name of a package" in done.err) == (2, True)
        assert not (project / "spec" / f"{name}.kata").exists()
