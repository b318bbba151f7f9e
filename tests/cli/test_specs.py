"""`katapi init`, `build`, `check` and `fmt`: a project from nothing, and mistakes that are told."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from katapi import models, tokenizers
from tests.command import ROOT, here, katapi, python

FAIL = ROOT / "tests" / "language" / "fail"
BOOK = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but what Python caches."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


# ---- a new project


def test_a_new_project_builds_runs_and_passes_its_tests(tmp_path: Path) -> None:
    cache = {"KATAPI_CACHE": str(tmp_path / "cache")}
    folder = tmp_path / "My first-models"
    begun = katapi("init", str(folder))
    assert (begun.status, begun.err) == (0, "")
    built = katapi("build", cwd=folder, env=cache)
    assert (built.status, built.err) == (0, "")
    assert katapi("build", "--check", cwd=folder, env=cache).status == 0
    assert katapi("fmt", "--check", cwd=folder).status == 0
    assembled = katapi("assemble", "hello", "request.json", cwd=folder)
    assert (assembled.status, assembled.err) == (0, "")
    printed = json.loads(assembled.out)
    assert printed["text"].endswith("I am no control token.<|end|>\n<|assistant|>")
    assert [token for token in printed["input_ids"] if token >= 151643] == [151644, 151643, 151645]
    checked = katapi("check", "--stability", "hello", cwd=folder)
    assert (checked.status, checked.err) == (0, "")
    assert checked.out.startswith("hello: Hello@1\n")
    listed = katapi("models", cwd=folder)
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == sorted({"hello", *models(), *tokenizers()})
    tested = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=ci", cwd=folder)
    assert tested.status == 0, tested.out
    assert re.search(r"^\d+ passed", tested.out, re.MULTILINE)


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text("mine", encoding="utf-8")
    before = contents(tmp_path)
    done = katapi("init", str(tmp_path))
    assert (done.status, done.out) == (1, "")
    assert done.err == f"katapi: {tmp_path / 'request.json'} exists already; nothing was written\n"
    assert contents(tmp_path) == before


def test_a_project_called_katapi_does_not_hide_the_models_that_come_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "katapi"
    assert here("init", str(folder)).status == 0
    settings = (folder / "pyproject.toml").read_text(encoding="utf-8")
    assert 'package = "my_katapi_models"' in settings
    assert 'name = "my_katapi"' in settings
    (folder / "spec" / "hello.kata").unlink()
    shutil.copy(ROOT / "spec" / "book.kata", folder / "spec" / "tale.kata")
    assert katapi("build", cwd=folder).status == 0
    listed = katapi("models", cwd=folder)
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == sorted({"tale", *models(), *tokenizers()})


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "A152 at {file}: [tool.katapi] does not say `package`"),
        ('package = "katapi_models"', "A152 at {file}: [tool.katapi] cannot say package = 'katapi_models'"),
        ('package = "a b"', "A152 at {file}: 'a b' is no name of a package"),
        ('folder = "x"', "A152 at {file}: [tool.katapi] cannot say folder = 'x'"),
    ],
)
def test_settings_that_would_do_harm_are_refused(lines: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f'[project]\nname = "mine"\n\n[tool.katapi]\n{lines}\n', encoding="utf-8")
    done = here("build", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"katapi: artifact error {said.format(file=file)}")


def test_outside_of_a_project_build_says_what_to_do(tmp_path: Path) -> None:
    done = katapi("build", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: artifact error A150 at ")
    assert "katapi init" in done.err


# ---- build --check


def test_build_is_repeatable_and_restores_what_was_removed(book_project: Path) -> None:
    generated = book_project / "generated"
    before = contents(generated)
    assert "books_models/tale/renderer.py" in before
    shutil.rmtree(generated)
    assert here("build", cwd=book_project).status == 0
    assert contents(generated) == before
    again = here("build", cwd=book_project)
    assert again.out == f"{len(before)} generated files, none changed\n"


def test_build_check_finds_a_changed_a_missing_and_an_orphan_file(book_project: Path) -> None:
    package = book_project / "generated" / "books_models"
    renderer = package / "tale" / "renderer.py"
    renderer.write_text(renderer.read_text(encoding="utf-8").replace("out.append", "out .append", 1), encoding="utf-8")
    (package / "tale" / "vocabulary.py").unlink()
    (package / "old").mkdir()
    (package / "old" / "__init__.py").write_text('"""Generated by katapi."""\n', encoding="utf-8")
    before = contents(book_project)
    done = here("build", "--check", cwd=book_project)
    assert done.status == 1
    assert done.err == "3 generated files are out of date; run `katapi build`\n"
    told = [line for line in done.out.splitlines() if line.startswith(("differs", "missing", "orphan"))]
    assert sorted(line.split() for line in told) == [
        ["differs", "generated/books_models/tale/renderer.py"],
        ["missing", "generated/books_models/tale/vocabulary.py"],
        ["orphan", "generated/books_models/old/__init__.py"],
    ]
    assert "out .append" in done.out
    assert contents(book_project) == before
    built = here("build", cwd=book_project)
    assert sorted(line.split() for line in built.out.splitlines()[:-1]) == [
        ["changed", "generated/books_models/tale/renderer.py"],
        ["removed", "generated/books_models/old/__init__.py"],
        ["written", "generated/books_models/tale/vocabulary.py"],
    ]
    assert built.out.endswith(" generated files, 3 changed\n")
    assert not (package / "old").exists()
    assert here("build", "--check", cwd=book_project).status == 0


def test_build_removes_no_file_that_it_did_not_write(book_project: Path) -> None:
    mine = book_project / "generated" / "tests" / "test_mine.py"
    mine.write_text("assert True\n", encoding="utf-8")
    done = here("build", cwd=book_project)
    assert done.status == 0
    assert "foreign  generated/tests/test_mine.py\n" in done.out
    assert done.out.endswith(" generated files, none changed\n")
    assert mine.read_text(encoding="utf-8") == "assert True\n"
    assert here("build", "--check", cwd=book_project).status == 1


def test_build_check_notices_a_changed_spec(book_project: Path) -> None:
    spec = book_project / "spec" / "tale.kata"
    spec.write_text(spec.read_text(encoding="utf-8").replace("reserve: 8", "reserve: 9"), encoding="utf-8")
    done = here("build", "--check", cwd=book_project)
    assert done.status == 1
    assert "differs  generated/books_models/tale/__init__.py\n" in done.out


def test_build_with_two_faulty_specs_tells_of_both_and_writes_nothing(book_project: Path) -> None:
    for name in ("K101_undefined_name", "K102_unknown_control"):
        shutil.copy(FAIL / f"{name}.kata", book_project / "spec")
    before = contents(book_project / "generated")
    done = here("build", cwd=book_project)
    assert (done.status, done.out) == (1, "")
    assert "error[K101]" in done.err
    assert "--> spec/K102_unknown_control.kata:" in done.err
    assert contents(book_project / "generated") == before


# ---- check


def test_check_shows_every_finding_with_line_and_caret() -> None:
    done = here("check", "many_errors.kata", cwd=FAIL)
    expected = (FAIL / "many_errors.expected").read_text(encoding="utf-8")
    count = len(re.findall(r"^error\[", expected, re.MULTILINE))
    assert (done.status, done.out) == (1, "")
    assert done.err == f"{expected}\nmany_errors.kata: {count} errors\n"


def test_check_goes_on_to_the_next_file_and_says_which_is_fine() -> None:
    sound, faulty = ROOT / "spec" / "book.kata", FAIL / "K101_undefined_name.kata"
    done = here("check", str(faulty), str(sound))
    assert done.status == 1
    assert done.out == f"{sound}: Book@1 is fine\n"
    assert f"--> {faulty}:" in done.err
    assert here("check", str(sound)).status == 0


def test_check_of_a_file_that_is_not_there_is_a_usage_error() -> None:
    assert here("check", "no/such.kata").status == 2


NO_SPECS = {
    "nothing": b"",
    "not_utf8": b"\xff\xfe",
    "nul": b"\x00",
    "one_word": b"template",
    "braces": b"{" * 100_000,
    "never_closed": b'vocabulary A version "1" {' * 20_000,
    "other_scripts": "１「".encode(),
}


@pytest.mark.parametrize("name", NO_SPECS)
def test_check_of_what_is_no_spec_is_one_message_and_no_traceback(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.kata"
    file.write_bytes(NO_SPECS[name])
    done = here("check", str(file))
    assert (done.status, done.out) == (1, "")
    assert str(file) in done.err
    assert "Traceback" not in done.err
    assert len(done.err) < 5_000


# ---- fmt


def test_fmt_brings_a_file_into_its_canonical_form(tmp_path: Path) -> None:
    file = tmp_path / "x.kata"
    file.write_text(BOOK.replace("  ", "\t").replace("{ @bos", "{\n@bos"), encoding="utf-8")
    before = file.read_bytes()
    checked = here("fmt", "--check", str(file))
    assert checked.status == 1
    assert checked.out == f"would change {file}\n"
    assert checked.err == "not in the canonical form; run `katapi fmt`\n"
    assert file.read_bytes() == before
    assert here("fmt", str(file)).out == f"changed {file}\n"
    assert file.read_text(encoding="utf-8") == BOOK
    done = here("fmt", "--check", str(file))
    assert (done.status, done.out, done.err) == (0, "", "")


def test_fmt_leaves_a_file_that_it_cannot_read_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "x.kata"
    file.write_text(BOOK.replace("@bos\n", "@bos )\n"), encoding="utf-8")
    before = file.read_bytes()
    done = here("fmt", str(file))
    assert (done.status, done.out) == (1, "")
    assert f"--> {file}:" in done.err
    assert file.read_bytes() == before


def test_without_a_file_fmt_takes_those_of_the_project(book_project: Path) -> None:
    spec = book_project / "spec" / "tale.kata"
    spec.write_text(BOOK + "\n\n", encoding="utf-8")
    assert here("fmt", "--check", cwd=book_project).status == 1
    shown = here("fmt", "--dry-run", cwd=book_project / "generated")
    assert shown.status == 0
    assert shown.out.startswith("would change spec/tale.kata\n--- as it is\n+++ canonical\n")
    assert spec.read_text(encoding="utf-8") == BOOK + "\n\n"
    assert here("fmt", cwd=book_project).out == "changed spec/tale.kata\n"
    assert spec.read_text(encoding="utf-8") == BOOK
