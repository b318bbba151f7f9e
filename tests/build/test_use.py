"""`use`: files that share a tokenizer and serializations with others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import katapi
from katapi.compile import ProjectError, compile_project
from katapi.language.diagnostics import SpecError
from katapi.project import Project
from katapi.runtime.errors import ArtifactError
from tests.command import ROOT, here

BOOK = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
START = BOOK.index("request Book")
SHARED = BOOK[:START]
JSON = """
serialization json version "1" {
  order: as_received
  item_separator: ", "
  key_separator: ": "
  indent: none
  escape: minimal
  floats: python
  integers: exact
  nan: reject
  absent: omitted
}
"""
PRETTY = 'use "json.kata"\n\nserialization pretty version "1" like json {\n  indent: 2 lf\n}\n'
RAW = b'{"messages": [{"role": "user", "content": "\xe5\xa4\xa9\xe7\xa9\xba"}]}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    (tmp_path / "pyproject.toml").write_text('[tool.katapi]\nspec = "spec"\ngenerated = "gen"\npackage = "family"\n')
    write(tmp_path, "tokenizers/words.kata", SHARED)
    write(tmp_path, "one.kata", f'use "tokenizers/words.kata"\n\n{BOOK[START:]}')
    (tmp_path / "gen").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "gen"))
    yield Project(tmp_path, tmp_path / "spec", tmp_path / "gen", "family")
    for name in [name for name in sys.modules if name.split(".")[0] == "family"]:
        del sys.modules[name]


def write(root: Path, name: str, text: str) -> None:
    path = root / "spec" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def codes(project: Project) -> dict[str, list[str]]:
    """The findings of each file."""
    with pytest.raises(ProjectError) as caught:
        compile_project(project)
    failures: list[SpecError] = caught.value.failures
    return {failure.source.name: [d.code for d in failure.diagnostics] for failure in failures}


def test_models_share_one_tokenizer(project: Project) -> None:
    write(project.root, "two.kata", f'use "tokenizers/words.kata"\n\n{BOOK[START:]}')
    assert here("build", cwd=project.root).status == 0
    folder = project.generated / "family"
    assert not list((folder / "one").glob("vocabulary.*"))
    assert "from family.words.vocabulary import Control" in (folder / "one" / "renderer.py").read_text(encoding="utf-8")
    one, two = katapi.load("one", "family"), katapi.load("two", "family")
    assert one.tokenizer is two.tokenizer is katapi.load_tokenizer("words", "family").tokenizer
    assert one.assemble(RAW).input_ids.tolist() == katapi.load("book").assemble(RAW).input_ids.tolist()
    assert one.template.digest == katapi.load("book").template.digest
    assert here("check", "spec/one.kata", cwd=project.root).out == "spec/one.kata: Book@1 is fine\n"


def test_serializations_are_shared_too(project: Project) -> None:
    write(project.root, "json.kata", JSON)
    write(project.root, "pretty.kata", PRETTY)
    print_it = BOOK[START:].replace("m.content @/user", "m.content m.content as pretty m.content as json @/user")
    write(project.root, "one.kata", f'use "tokenizers/words.kata"\nuse "pretty.kata"\n\n{print_it}')
    files = compile_project(project)
    renderer = files[Path("family/one/renderer.py")].decode()
    assert "PRETTY = Serialization(" in renderer
    assert "JSON = Serialization(" in renderer
    assert not [path for path in files if "pretty" in path.parts or "json" in path.parts]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("one.kata", 'use "nowhere.kata"', {"spec/one.kata": ["K119"]}),
        ("one.kata", 'use "one.kata"', {"spec/one.kata": ["K119"]}),
        ("one.kata", 'use "tokenizers"', {"spec/one.kata": ["K119"]}),
        (
            "tokenizers/words.kata",
            SHARED.replace("13", "12"),
            {"spec/one.kata": ["K119"], "spec/tokenizers/words.kata": ["K701"]},
        ),
        ("one.kata", f'use "tokenizers/words.kata"\n{BOOK}', {"spec/one.kata": ["K107", "K107"]}),
        (
            "one.kata",
            f'use "tokenizers/words.kata"\nuse "tokenizers/words.kata"\n{BOOK[START:]}',
            {"spec/one.kata": ["K107"]},
        ),
        ("one.kata", f'use "two.kata"\n{BOOK[START:]}', {"spec/one.kata": ["K119"]}),
    ],
)
def test_what_cannot_be_used(project: Project, name: str, text: str, expected: dict[str, list[str]]) -> None:
    write(project.root, "two.kata", BOOK)
    write(project.root, name, text)
    assert codes(project) == expected


def test_a_tokenizer_from_outside_of_the_project(project: Project) -> None:
    outside = project.root / "elsewhere.kata"
    outside.write_text(SHARED, encoding="utf-8")
    write(project.root, "one.kata", f'use "../elsewhere.kata"\n\n{BOOK[START:]}')
    with pytest.raises(ArtifactError) as caught:
        compile_project(project)
    assert caught.value.code == "A157"
