"""`docs/errors.md`: it has each code of the sources and no other, and its examples give what it says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import katapi
from katapi.runtime.tokenization.interface import Decoder
from tests.typing.public_names import codes_of

ROOT = Path(__file__).parents[2]
CODE = re.compile(r'"([A-JL-Z]\d{3})"')
ROW = re.compile(r"^\| ([A-Z]\d{3}) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = {
    code: (meaning, example, remedy)
    for code, meaning, example, remedy in ROW.findall((ROOT / "docs" / "errors.md").read_text("utf-8"))
}
CLASSES = {
    "R": katapi.RequestError,
    "T": katapi.TemplateError,
    "V": katapi.TokenizerError,
    "B": katapi.BudgetError,
    "X": katapi.ExtensionError,
    "P": katapi.ReplyError,
    "M": katapi.MediaError,
    "A": katapi.ArtifactError,
    "Y": katapi.ReplayError,
}
CALLS = re.compile(r"`((?:katapi|book|qwen3|\[d :=).*)`")
EXAMPLES = {code: found[1] for code, (_, example, _) in ROWS.items() if (found := CALLS.fullmatch(example))}


def codes_of_the_sources() -> set[str]:
    files = [ROOT / "codegen" / "katapi" / "runtime" / "unicode" / "tables.py"]
    files += [p for p in (ROOT / "codegen" / "katapi").rglob("*.py") if "unicode" not in p.parts]
    return {code for path in files for code in CODE.findall(path.read_text("utf-8"))}


def test_the_page_has_every_code_and_no_other() -> None:
    assert sorted(ROWS) == sorted(codes_of_the_sources())
    assert list(ROWS) == sorted(ROWS, key=lambda code: ("RTVBXPMYA".index(code[0]), code))


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_gives_the_code_of_its_row(code: str) -> None:
    known = {"katapi": katapi, "book": katapi.load("book"), "qwen3": katapi.load("qwen3")}
    with pytest.raises(CLASSES[code[0]]) as caught:
        eval(EXAMPLES[code], known)
    assert caught.value.code == code


@pytest.mark.parametrize("code", EXAMPLES)
def test_what_an_example_calls_says_in_its_docstring_that_it_raises_the_error(code: str) -> None:
    example = ast.parse(EXAMPLES[code], mode="eval").body
    call = example.elts[-1] if isinstance(example, ast.List) else example
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    owners = {
        "katapi": katapi,
        "katapi.foreign": katapi.foreign,
        "book": katapi.Model,
        "qwen3": katapi.Model,
        "d": Decoder,
    }
    owner = owners.get(ast.unparse(call.func.value)) or type(eval(ast.unparse(call.func.value), {"katapi": katapi}))
    docstring = inspect.getdoc(getattr(owner, call.func.attr)) or ""
    assert code in codes_of(docstring)
    assert CLASSES[code[0]].__name__ in docstring


def test_most_codes_of_requests_texts_budgets_and_extensions_have_an_example_that_runs() -> None:
    without = {code for code in ROWS if code[0] in "RVBXM"} - EXAMPLES.keys()
    of_images = {*(f"M{number}" for number in range(100, 110)), "M116", "M117", "M125", "M126"}
    assert without == {"R115", "R119", "V105", "V107", "X107", *of_images}
