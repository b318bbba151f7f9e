"""Every public name has a docstring with the shapes, types and errors that belong to it (`public_names.py`)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import katapi
from tests.typing.public_names import LETTERS, codes_of, lacking, public_names
from tools.native import sources

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "codegen" / "katapi"
FILES = [SOURCES / f"{name}.py" for name in ("__init__", "engines", "foreign", "registry", "tokenizer_file")]
PARTS = ("runtime", "artifacts", "importing", "packs", "divergence")
# What mypyc compiles is called by the engine alone, and has more names than a module of Python needs.
FILES += [file for part in PARTS for file in sorted((SOURCES / part).rglob("*.py")) if file not in sources(ROOT)]
KNOWN = set(re.findall(r"^\| ([A-Z]\d{3}) \|", (ROOT / "docs" / "errors.md").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCES).as_posix())
def test_docstrings_are_whole(file: Path) -> None:
    assert not lacking(file.read_text("utf-8"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCES).as_posix())
def test_docstrings_name_codes_that_there_are(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    for name in public_names(tree):
        ends = re.findall(r"\b[RTVBXPMA]\d{3}\b", name.text)
        assert {*ends} <= KNOWN, name.name


def test_what_katapi_exports_is_among_the_names() -> None:
    names = {name.name for file in FILES for name in public_names(ast.parse(file.read_text("utf-8")))}
    assert {*katapi.__all__} <= names


WHOLE = '''
"""A module."""

LIMIT = 3
"""In bytes."""

Value = TypeVar("Value")

class Spans:
    """Half-open ranges of bytes: `starts` and `ends`, int64 of shape [n]."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __init__(self, starts: NDArray[np.int64]) -> None:
        self.starts, self.count = starts, 1
        """How many there are."""

    def first(self) -> int:
        """The first. Raises `ArtifactError` A105 or A106."""
        try:
            _may_be_caught()
        except ArtifactError:
            pass
        return self._checked() if self.count else _none()

    def _checked(self) -> int:
        raise ArtifactError("none", code="A105")

def _none() -> int:
    raise _error()

def _error() -> ArtifactError:
    return ArtifactError("none", code="A106")

def _may_be_caught() -> None:
    raise ArtifactError("none", code="A107")
'''


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('"""A module."""', "", "1: the module has no docstring"),
        ('"""In bytes."""', "", "LIMIT is not described"),
        ("`starts` and `ends`", "`starts`", "Spans.ends is not described"),
        ('"""How many there are."""', "", "Spans.count is not described"),
        ('"""Half-open ranges of bytes: `starts` and `ends`, int64 of shape [n]."""', "", "Spans has no docstring"),
        ('"""The first. Raises `ArtifactError` A105 or A106."""', "", "Spans.first has no docstring"),
        (" of shape [n]", "", "Spans gives no shape of an array"),
        (" of shape [n]", "", "Spans.starts gives no shape of an array"),
        ("int64 of", "of", "Spans.starts does not say that an array is int64"),
        ("A105 or A106", "A105", "Spans.first does not name ArtifactError A106"),
        ("`ArtifactError` A105 or A106", "A105 to A106", "Spans.first does not name ArtifactError A105"),
        ("`ArtifactError` A105 or A106", "`ArtifactError`", "Spans.first names no code of ArtifactError"),
        ("except ArtifactError:", "except ValueError:", "Spans.first does not name ArtifactError A107"),
        ("_may_be_caught()", "[]", ""),
    ],
)
def test_the_check_finds(old: str, new: str, found: str) -> None:
    assert not lacking(WHOLE)
    assert old in WHOLE
    assert any(line.endswith(found) for line in lacking(WHOLE.replace(old, new, 1))) is bool(found)


def test_a_range_of_codes_names_all_of_them() -> None:
    assert codes_of("R100 to R102, A105") == {"R100", "R101", "R102", "A105"}


def test_every_letter_is_that_of_a_class() -> None:
    assert {code[0] for code in KNOWN} == {*LETTERS.values()}
