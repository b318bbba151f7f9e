"""What is imported when a model runs: the run-time library, pydantic, numpy, and nothing of the compiler or command."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator

import pytest

from tests.command import ROOT, python
from tools import native

PUBLIC = {"registry", "runtime", "tokenizer_file"}
NEVER = {"lark", "jinja2", "typer", "rich", "hypothesis", "click", "mypy", "PIL", "pytest", "tiktoken", "tokenizers"}
OWN = {"katapi", "katapi_models"}
COMPILER = set("analyse artifacts build check cli compile emit language model oracle project testing".split())

RUN = """
import katapi
{use}
import sys
print(*sorted(sys.modules), sep="\\n")
"""
ASSEMBLE = """
x = katapi.load({name!r}).assemble(b'{{"messages": [{{"role": "user", "content": "Why? <system> \\\\u5929"}}]}}')
x.text, x.origins[0], x.sampled, x.record.to_json()
katapi.load({name!r}).decode_text(x.input_ids.tolist())
katapi.models()
"""
FAIL = """
try:
    katapi.load({name!r}).assemble(b'{{"messages": [')
except katapi.RequestError as error:
    str(error)
"""


def test_what_the_run_time_imports_is_declared() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = {re.split(r"[^\w-]", one)[0] for one in settings["project"]["dependencies"]}
    folders = (ROOT / "codegen" / "katapi" / "runtime", ROOT / "generated" / "katapi_models")
    compiled = set(native.sources(ROOT))  # what these import besides, a compiled wheel declares: tests/build
    names = {
        name.split(".")[0]
        for folder in folders
        for path in folder.rglob("*.py")
        if path not in compiled
        for name in imported(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert names - sys.stdlib_module_names - OWN - {"pydantic_core", "PIL"} == declared
    assert settings["project"]["optional-dependencies"]["images"] == ["pillow>=11"]


def test_pillow_is_imported_where_images_are_and_no_sooner_than_one_is_decoded() -> None:
    runtime = ROOT / "codegen" / "katapi" / "runtime"
    for path in runtime.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(name.split(".")[0] == "PIL" for name in imported(tree)):
            assert path.parent == runtime / "images"
        at_once = (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        names = {name for node in at_once for name in imported(ast.Module([node], []))}
        assert not any(name.split(".")[0] == "PIL" for name in names)


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def modules_after(use: str) -> set[str]:
    """The modules that a fresh process has imported after these lines."""
    done = python("-c", RUN.format(use=use))
    assert (done.status, done.err) == (0, "")
    return set(done.out.split())


@pytest.mark.parametrize("name", ["book", "qwen3"])
@pytest.mark.parametrize("use", [ASSEMBLE, FAIL], ids=["assemble", "fail"])
def test_a_model_runs_without_the_compiler(name: str, use: str) -> None:
    modules = modules_after(use.format(name=name))
    assert f"katapi_models.{name}.renderer" in modules
    assert {module.split(".")[0] for module in modules} & NEVER == set()
    assert {module.split(".")[1] for module in modules if module.startswith("katapi.")} & COMPILER == set()


def test_importing_katapi_loads_no_model_and_nothing_of_the_compiler() -> None:
    modules = modules_after("")
    assert "katapi.runtime.model" in modules
    assert not any(module.startswith("katapi_models") for module in modules)
    assert {module.split(".")[0] for module in modules} & NEVER == set()
    assert {module.split(".")[1] for module in modules if module.startswith("katapi.")} <= PUBLIC


def test_importing_katapi_loads_no_reader_of_files() -> None:
    assert not any(module.startswith("katapi.runtime.artifacts") for module in modules_after(""))


def test_importing_katapi_takes_up_no_character_tables() -> None:
    large = {m for m in modules_after("") if m.startswith("katapi.runtime.unicode.")}
    assert (
        large & {f"katapi.runtime.unicode.{name}" for name in ("general_category", "word", "canonical", "compatible")}
        == set()
    )
