"""Check an installed wheel from outside the repository: two requests to ids, and only declared dependencies imported.

A wheel with extensions must run them unless KATAPI_ENGINE=pure asks for the other form, and one without must not. The
default model needs no table that did not come with it.

usage: python -I tools/wheel_smoke.py VECTORS      (VECTORS is tests/vectors/chat/qwen3.jsonl.gz)

`make wheel` runs it in an environment that holds the wheel and its run-time dependencies only. Exit status 1 and one
line on stderr for the first thing that does not hold.
"""

import gzip
import importlib.metadata
import importlib.resources
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import katapi

BOOK_REQUEST = {
    "messages": [
        {"role": "system", "content": "简洁回答"},
        {"role": "user", "content": "天空为什么是蓝色？"},
    ],
    "add_generation_prompt": True,
}
BOOK_IDS = [1, 2, 7, 3, 4, 8, 9, 10, 11, 12, 5, 6]  # the fixture of the input-layer chapter, section 1.6
QWEN3_CASE = "edge/one_call"  # a tool schema, a call, its result and one more turn
COMPILER_PACKAGES = ("jinja2", "lark")
COMMAND_PACKAGES = ("rich", "typer")


class SmokeError(Exception):
    """Something that an installed wheel must do and does not."""


def check_book() -> int:
    """Assemble the chapter's fixture and give the number of ids."""
    assembled = katapi.load("book").assemble(json.dumps(BOOK_REQUEST, ensure_ascii=False).encode())
    ids = assembled.input_ids.tolist()
    if ids != BOOK_IDS:
        raise SmokeError(f"book: ids are {ids}, not {BOOK_IDS}")
    return len(ids)


def check_qwen3(vectors: Path) -> int:
    """Assemble one conversation with a tool call as the official implementation did, and give the number of ids."""
    with gzip.open(vectors, "rt", encoding="utf-8") as lines:
        case = next(case for case in map(json.loads, lines) if case.get("id") == QWEN3_CASE)
    request = {"messages": case["messages"], "tools": case["tools"], **case["params"]}
    assembled = katapi.load("qwen3").assemble(json.dumps(request, ensure_ascii=False).encode())
    if assembled.text != case["text"]:
        raise SmokeError(f"qwen3: the text of {QWEN3_CASE} differs from the official one")
    if assembled.input_ids.tolist() != case["ids"]:
        raise SmokeError(f"qwen3: the ids of {QWEN3_CASE} differ from the official ones")
    return len(case["ids"])


def check_imports() -> None:
    """No part of the compiler or of the command line is installed here, and none was imported."""
    for package in (*COMPILER_PACKAGES, *COMMAND_PACKAGES):
        if importlib.util.find_spec(package) is not None:
            raise SmokeError(f"{package} is installed here, so this environment proves nothing about its absence")
    for package in ("katapi.language", "katapi.emit"):
        if package in sys.modules:
            raise SmokeError(f"{package} was imported to run a generated model")


def check_engine() -> katapi.EngineReport:
    """The form of the engine is that of the wheel, or the one that was asked for."""
    tags = (importlib.metadata.distribution("katapi").read_text("WHEEL") or "").splitlines()
    compiled = "Root-Is-Purelib: false" in tags and os.environ.get("KATAPI_ENGINE") != "pure"
    report = katapi.engine()
    if (report.form == "compiled") is not compiled:
        raise SmokeError(f"the engine is {report.form}, though the wheel is {tags}: {report.reason}")
    return report


def check_tables(cache: Path) -> None:
    """Where qwen3 runs compiled, which has encoded by now, its tables came with the wheel: none are in the cache."""
    if katapi.engine("qwen3").form != katapi.engine().form:
        raise SmokeError(f"qwen3: the engine is {katapi.engine('qwen3').form}: {katapi.engine('qwen3').reason}")
    if [*cache.iterdir()]:
        raise SmokeError("qwen3: its tables did not come with the wheel, they were derived")


def check_page() -> None:
    """The page of an execution needs nothing but what the wheel holds."""
    from katapi.inspecting.document import page
    from katapi.inspecting.from_input import view_of

    model = katapi.load("book")
    text = page(view_of(model, model.assemble(json.dumps(BOOK_REQUEST).encode())))
    if not text.startswith("<!DOCTYPE html>") or "简洁" not in text:
        raise SmokeError("the page of book is not whole")


def check_types() -> None:
    """Both packages tell type checkers that their annotations count."""
    for package in ("katapi", "katapi_models"):
        if not importlib.resources.files(package).joinpath("py.typed").is_file():
            raise SmokeError(f"{package} carries no py.typed")


def check_command() -> None:
    """Without its extra the `katapi` command says in one line what to install."""
    command = Path(sys.executable).with_name("katapi")
    done = subprocess.run([command, "models"], capture_output=True, text=True, check=False, timeout=60)
    said = done.stderr.strip()
    if done.returncode == 0 or "katapi[cli]" not in said or "\n" in said:
        raise SmokeError(f"katapi without its extra: exit status {done.returncode}, stderr {said!r}")


def main() -> int:
    """Run every check; exit status 0 where all hold."""
    if len(sys.argv) != 2:
        print("usage: wheel_smoke.py VECTORS", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["KATAPI_CACHE"] = cache
            book, qwen3 = check_book(), check_qwen3(Path(sys.argv[1]))
            engine = check_engine()
            check_tables(Path(cache))
        check_page()
        check_imports()
        check_types()
        check_command()
    except (SmokeError, katapi.KatapiError) as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    installed = Path(katapi.__file__).parent
    print(f"wheel: book gave its {book} ids, qwen3 the official {qwen3}, from {installed}")
    print(f"wheel: the engine is {engine.form}, since {engine.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
