"""What is imported when a model runs: the run-time library, pydantic, numpy, and nothing of the compiler or command."""

from __future__ import annotations

import pytest

from tests.command import python

PUBLIC = {"registry", "runtime", "tokenizer_file"}
NEVER = {"lark", "jinja2", "typer", "rich", "hypothesis", "click", "mypy", "pytest", "tiktoken", "tokenizers"}
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
