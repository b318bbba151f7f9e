"""Each spec in `fail/` gives exactly the findings that stand beside it; each code of the compiler has such a pair."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from katapi.analyse import analyse, load_beside
from katapi.language.diagnostics import SpecError
from katapi.language.source import Source

ROOT = Path(__file__).parents[2]
FIXTURES = sorted(Path(__file__).with_name("fail").glob("*.kata"))
MANY = "many_errors"


def codes_of_the_compiler() -> set[str]:
    """The codes that are written as literals in the stages before code generation."""
    stages = [ROOT / "codegen" / "katapi" / name for name in ("language", "model", "check")]
    files = [ROOT / "codegen" / "katapi" / "analyse.py", *(file for stage in stages for file in stage.rglob("*.py"))]
    return {code for file in files for code in re.findall(r'"(K\d{3})"', file.read_text(encoding="utf-8"))}


def codes_of(text: str) -> list[str]:
    """The codes in a rendered list of findings."""
    return re.findall(r"^error\[(K\d{3})\]", text, re.MULTILINE)


def source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))


def expected(path: Path) -> str:
    return path.with_suffix(".expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_findings_are_as_expected(path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        analyse(path.stem, source(path), load_beside(path, source))
    assert f"{caught.value}\n" == expected(path), "to accept the new text: python tools/expect.py"


@pytest.mark.parametrize("path", [p for p in FIXTURES if p.stem != MANY], ids=lambda path: path.stem)
def test_a_fixture_shows_only_the_code_that_it_is_named_by(path: Path) -> None:
    assert set(codes_of(expected(path))) == {path.stem.split("_")[0]}


def test_each_code_has_a_fixture_and_each_fixture_a_code() -> None:
    assert {p.stem.split("_")[0] for p in FIXTURES if p.stem != MANY} == codes_of_the_compiler()


def test_each_expected_text_belongs_to_a_spec() -> None:
    assert [p.with_suffix(".kata") for p in sorted(Path(__file__).with_name("fail").glob("*.expected"))] == FIXTURES


def test_many_mistakes_are_told_in_one_run_in_source_order() -> None:
    text = expected(next(p for p in FIXTURES if p.stem == MANY))
    places = [int(line) for line in re.findall(rf"--> {MANY}\.kata:(\d+):", text)]
    assert len(set(codes_of(text))) >= 12
    assert places == sorted(places)


def test_the_documentation_lists_each_code_once() -> None:
    rows = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8").splitlines()
    listed = [match[1] for row in rows if (match := re.match(r"\| (K\d{3}) \|", row))]
    assert listed == sorted(codes_of_the_compiler())
