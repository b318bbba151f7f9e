"""Where the data of a vocabulary comes from: tables before artifacts, and the user's cache."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import katapi
from katapi import declared_artifacts
from katapi.artifacts.cache import Cache
from katapi.artifacts.lock import Lock, NpmPlace, read_lock
from katapi.artifacts.vocabularies import vocabulary_of
from katapi.compile import compile_project
from katapi.project import Project
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import load_table
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from tests.command import ROOT, here

FILE = ROOT / "tests" / "artifacts" / "data" / "byte_level.tokenizer.json"
DIGEST = hashlib.sha256(FILE.read_bytes()).hexdigest()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project of one imported tokenizer, its artifact a file beside the spec."""
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "cache"))
    (tmp_path / "spec").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.katapi]\nspec = "spec"\ngenerated = "gen"\npackage = "lent"\n')
    (tmp_path / "spec" / "own.json").write_bytes(FILE.read_bytes())
    assert here("import", "tokenizer", "spec/own.json", "-o", "spec/own.kata", cwd=tmp_path).status == 0
    yield Project(tmp_path, tmp_path / "spec", tmp_path / "gen", "lent")
    for name in [name for name in sys.modules if name.split(".")[0] == "lent"]:
        del sys.modules[name]


def build(project: Project, *options: str) -> str:
    done = here("build", *options, cwd=project.root)
    assert done.status == 0, done.err
    return done.out


def lend(project: Project) -> None:
    """The table of the artifact may not be passed on."""
    text = project.lock.read_text(encoding="utf-8")
    project.lock.write_text(
        text.replace("[[artifact.place]]", 'table = "cache"\n\n[[artifact.place]]'), encoding="utf-8"
    )


def test_a_build_needs_no_artifact_whose_table_is_there(project: Project) -> None:
    build(project)
    before = compile_project(project)
    (project.spec / "own.json").unlink()
    Cache.of_user().path(DIGEST).unlink()
    assert compile_project(project) == before
    assert "none changed" in build(project)
    with pytest.raises(ArtifactError) as caught:
        compile_project(project, fresh=True)
    assert caught.value.code == "A121"
    (project.generated / "lent" / "tables" / "own-own.json.bin").write_bytes(b"KATAPIV2 damaged")
    with pytest.raises(ArtifactError, match="A121"):
        compile_project(project)


def test_a_declaration_is_held_against_what_the_table_keeps_of_the_artifact(project: Project) -> None:
    build(project)
    (project.spec / "own.json").unlink()
    spec = project.spec / "own.kata"
    added = json.loads(FILE.read_text(encoding="utf-8"))["added_tokens"]
    row = next(line for line in spec.read_text(encoding="utf-8").splitlines() if added[-1]["content"] in line)
    spec.write_text(spec.read_text(encoding="utf-8").replace(f"{row}\n", ""), encoding="utf-8")
    done = here("build", cwd=project.root)
    assert (done.status, "A164" in done.err) == (1, True), done.err


@pytest.mark.parametrize(("wrong", "code"), [("none.json", "A111"), ("0" * 64, "A156")])
def test_an_error_in_what_a_spec_says_of_its_artifact_shows_the_line(project: Project, wrong: str, code: str) -> None:
    spec = project.spec / "own.kata"
    text = spec.read_text(encoding="utf-8").replace("own.json" if wrong == "none.json" else DIGEST, wrong)
    spec.write_text(text, encoding="utf-8")
    number, line = next((n, line) for n, line in enumerate(text.splitlines(), 1) if "artifact" in line)
    before, marked, _ = re.split("(artifact.*)", line)
    with pytest.raises(ArtifactError) as caught:
        compile_project(project)
    assert (caught.value.code, caught.value.where) == (code, f"spec/own.kata:{number}:{len(before) + 1}")
    _, bar, shown, carets, help = str(caught.value).splitlines()
    gutter = " " * len(str(number))
    assert (bar, shown) == (f"{gutter} |", f"{number} | {line}")
    assert carets == f"{gutter} | {' ' * len(before)}{'^' * len(marked)}"
    assert help == f"  help: {caught.value.help}"


def test_an_artifact_is_read_once_whatever_specs_use_its_vocabulary(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = (project.spec / "own.kata").read_text(encoding="utf-8")
    (tokenizer,) = re.findall(r"^tokenizer (\w+)", spec, re.MULTILINE)
    for name in ("one", "two"):
        (project.spec / f"{name}.kata").write_text(
            'use "own.kata"\n'
            'request R version "1" { bytes: utf8 strict depth: 8 role user { content: text } }\n'
            f'template T version "1" for {tokenizer} {{\n'
            '  each m in messages { when user { m.content } } generate { "x" }\n'
            "}\n",
            encoding="utf-8",
        )
    read: list[str] = []

    def reading(
        name: str, lock: Lock, *, passed_over: Collection[int], tables: Collection[Path], merges: bool
    ) -> VocabularyData:
        read.append(name)
        return vocabulary_of(name, lock, passed_over=passed_over, tables=tables, merges=merges)

    monkeypatch.setattr(declared_artifacts, "vocabulary_of", reading)
    files = compile_project(project)
    assert {Path("lent") / name / "__init__.py" for name in ("one", "two", "own")} <= files.keys()
    assert len(read) == 1


def test_a_table_that_may_not_be_passed_on_is_made_in_the_cache_of_who_uses_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lend(project)
    build(project)
    package = project.generated / "lent"
    assert not (package / "tables").exists()
    monkeypatch.syspath_prepend(str(project.generated))
    tokenizer = katapi.load_tokenizer("own", "lent")
    assert tokenizer.encode("a word or two") == katapi.tokenizer_from_file(FILE).encode("a word or two")
    assert Cache.of_user().table_path(DIGEST).is_file()
    assert not (package / "artifacts.lock").exists()  # its only place is a file of this machine


def test_a_package_names_the_places_of_what_it_does_not_hold(project: Project) -> None:
    lend(project)
    text = project.lock.read_text(encoding="utf-8")
    more = '\n[[artifact.place]]\nnpm = "@a/b@1.2"\npath = "x/own.json"\n'
    project.lock.write_text(text + more, encoding="utf-8")
    build(project)
    (row,) = read_lock(project.generated / "lent" / "artifacts.lock").artifacts.values()
    assert (row.sha256, row.cached, row.places) == (DIGEST, True, (NpmPlace("@a/b@1.2", "x/own.json"),))
    build(project, "--check")


def test_without_the_artifact_the_error_says_what_to_fetch(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lend(project)
    build(project)
    monkeypatch.setenv("KATAPI_CACHE", str(project.root / "another"))
    monkeypatch.syspath_prepend(str(project.generated))
    with pytest.raises(ArtifactError) as caught:
        katapi.load_tokenizer("own", "lent").encode("a")
    assert (caught.value.code, caught.value.help) == ("A125", f"run `katapi fetch {caught.value.where}`")


def test_without_the_artifact_a_build_writes_the_same_files(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lend(project)
    before = compile_project(project)
    (project.spec / "own.json").unlink()
    monkeypatch.setenv("KATAPI_CACHE", str(project.root / "another"))
    assert compile_project(project) == before
    with pytest.raises(ArtifactError, match="A121"):
        compile_project(project, fresh=True)


def test_specs_over_one_artifact_share_its_table(project: Project) -> None:
    text = (project.spec / "own.kata").read_text(encoding="utf-8")
    (project.spec / "other.kata").write_text(text.replace("Own", "Other"), encoding="utf-8")
    build(project)
    assert [path.name for path in project.generated.rglob("*.bin")] == ["own-own.json.bin"]
    for name in ("own", "other"):
        module = (project.generated / "lent" / name / "tokenizer.py").read_text(encoding="utf-8")
        assert 'load_table(Path(__file__).parents[1] / "tables/own-own.json.bin")' in module


def test_a_table_holds_merges_where_one_of_its_specs_needs_them(project: Project) -> None:
    spec, table = project.spec / "own.kata", project.generated / "lent" / "tables" / "own-own.json.bin"
    text = spec.read_text(encoding="utf-8")
    by_ranks = re.sub("segment: bpe merges.*", "segment: bpe ranks", text)
    assert by_ranks != text
    build(project)
    with_merges = table.read_bytes()
    spec.write_text(by_ranks, encoding="utf-8")
    build(project)
    assert not len(load_table(table).merges)
    for name in ("a", "z"):
        other = project.spec / f"{name}.kata"
        other.write_text(text.replace("Own", "Other"), encoding="utf-8")
        build(project)
        assert table.read_bytes() == with_merges
        other.unlink()
        build(project)
        assert table.read_bytes() != with_merges
