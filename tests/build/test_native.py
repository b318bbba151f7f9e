"""Extensions and wheels of a small project, by the files that build those of this one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tools import native

ROOT = Path(__file__).parents[2]
WRAPS = '''
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64


def mixed(number: i64) -> i64:
    """A product of 64 bits, which wraps around."""
    return number * -7046029254386353131
'''
SETTINGS = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "katapi"
version = "0"
requires-python = ">=3.11"
[tool.hatch.build.targets.wheel]
packages = ["codegen/katapi"]
[tool.hatch.build.targets.wheel.hooks.custom]
"""
DERIVES = """
import os
from pathlib import Path

from katapi.runtime.native import merging


class Tokenizer:
    def encode(self, text: str) -> list[int]:
        cache = Path(os.environ["KATAPI_CACHE"], "tables")
        cache.mkdir(parents=True)
        (cache / "digest").write_text(f"{merging.mixed(1)} of {Path(merging.__file__).suffix}", "utf-8")
        return []


def tokenizer() -> Tokenizer:
    return Tokenizer()
"""
MODULE = "katapi.runtime.native.merging"  # one that COMPILED names
needs_compiler = pytest.mark.skipif(native.why_none() is not None, reason=f"{native.why_none()}")


def project(folder: Path) -> Path:
    """A source tree with one module to compile."""
    for package in ("katapi", "katapi/runtime", "katapi/runtime/native"):
        (folder / "codegen" / package).mkdir(parents=True)
        (folder / "codegen" / package / "__init__.py").touch()
    (folder / "codegen/katapi/runtime/native/merging.py").write_text(WRAPS, "utf-8")
    (folder / "pyproject.toml").write_text(SETTINGS, "utf-8")
    (folder / ".gitignore").write_text("*.so\n*.pyd\nnative.json\n", "utf-8")
    (folder / "tools").mkdir()
    for name in ("hatch_build.py", "tools/native.py"):
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def wheel(root: Path, **variables: str) -> tuple[Path, str]:
    """The wheel of a project, and what its build said."""
    done = run(root, "-m", "hatchling", "build", "--target", "wheel", **variables)
    assert done.returncode == 0, done.stdout
    [built] = (root / "dist").iterdir()
    return built, done.stdout


def run(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Python in a project, as the tests run."""
    environment = {key: value for key, value in os.environ.items() if key not in ("KATAPI_BUILD", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=environment | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@needs_compiler
def test_a_compiled_wheel_holds_the_extensions_and_is_the_same_from_another_folder(tmp_path: Path) -> None:
    one, _ = wheel(project(tmp_path / "one"))
    other, _ = wheel(project(tmp_path / "a longer name"))
    assert "-none-any" not in one.name
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        names = set(archive.namelist())
        record = json.loads(archive.read("katapi/native.json"))
        archive.extractall(tmp_path / "installed")
    assert "katapi/runtime/native/merging.py" in names
    assert sum(name.endswith((".so", ".pyd")) for name in names) == 2
    assert [*record["modules"]] == [MODULE]
    code = f"import {MODULE} as m; assert not m.__file__.endswith('.py'); print(m.mixed(1 << 40))"
    done = run(tmp_path / "installed", "-S", "-c", code)
    wrapped = (1 << 40) * -7046029254386353131 & (1 << 64) - 1
    assert done.stdout.strip() == str(wrapped - (1 << 64) if wrapped >> 63 else wrapped)


@needs_compiler
def test_a_compiled_wheel_comes_with_the_tables_that_its_own_extensions_derive(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    (root / "pyproject.toml").write_text(f'{SETTINGS}tables = ["katapi.derives"]\n', "utf-8")
    (root / "codegen/katapi/derives.py").write_text(DERIVES, "utf-8")
    cache = tmp_path / "cache"
    built, _ = wheel(root, KATAPI_CACHE=str(cache), KATAPI_ENGINE="pure")
    with zipfile.ZipFile(built) as archive:
        told = archive.read("katapi/runtime/native/shipped/digest").decode()
    assert told in ("-7046029254386353131 of .so", "-7046029254386353131 of .pyd")
    assert not cache.exists()
    (root / "codegen/katapi/derives.py").write_text(DERIVES.replace(".write_text", ".joinpath"), "utf-8")
    done = run(root, "-m", "hatchling", "build", "-t", "wheel")
    assert done.returncode != 0
    assert "0 tables were derived for katapi.derives" in done.stdout


def test_a_wheel_without_a_compiler_is_pure_and_says_why(tmp_path: Path) -> None:
    built, said = wheel(project(tmp_path / "none"), CC="/nowhere/cc")
    asked, why = wheel(project(tmp_path / "asked"), KATAPI_BUILD="pure")
    assert built.name == asked.name == "katapi-0-py3-none-any.whl"
    assert built.read_bytes() == asked.read_bytes()
    if os.name != "nt":
        assert "there is no C compiler (/nowhere/cc), so this is the wheel in pure Python" in said
    assert "KATAPI_BUILD=pure asks for it, so this is the wheel in pure Python" in why


def test_a_compiled_wheel_that_was_asked_for_and_cannot_be_is_an_error(tmp_path: Path) -> None:
    done = run(
        project(tmp_path / "p"), "-m", "hatchling", "build", "-t", "wheel", CC="/nowhere/cc", KATAPI_BUILD="compiled"
    )
    assert done.returncode != 0
    assert "there is no C compiler (/nowhere/cc), and KATAPI_BUILD=compiled asks for the compiled wheel" in done.stdout
    done = run(tmp_path / "p", "-m", "hatchling", "build", "-t", "wheel", KATAPI_BUILD="no")
    assert "KATAPI_BUILD is 'no'; it may be pure or compiled" in done.stdout


@needs_compiler
def test_extensions_beside_their_sources_are_built_when_a_source_changes_and_not_else(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    source = root / "codegen/katapi/runtime/native/merging.py"
    assert "compiled 1 modules" in run(root, "tools/native.py").stdout
    built = {path: path.read_bytes() for path in root.rglob("*.so")}
    assert len(built) == 2
    assert run(root, "tools/native.py").stdout == "native: the extensions are current\n"
    source.write_text("def broken() -> int:\n    return ''\n", "utf-8")
    done = run(root, "tools/native.py")
    assert done.returncode == 1
    assert "Incompatible return value type" in done.stdout
    assert {path: path.read_bytes() for path in root.rglob("*.so")} == built
    assert run(root, "tools/native.py", "--remove").returncode == 0
    assert not [*root.rglob("*.so"), *root.rglob("native.json")]


def test_what_is_imported_for_types_alone_is_no_requirement() -> None:
    assert native.requirements(WRAPS) == set()
    assert native.requirements("from mypy_extensions import i64\n") == {"mypy_extensions"}
    assert native.requirements("def f() -> None:\n    import librt.strings\n") == {"librt"}
    assert native.requirements("if TYPE_CHECKING:\n    from librt.vecs import vec\n") == {"librt"}


def test_without_a_compiler_nothing_is_compiled_and_the_status_says_so(tmp_path: Path) -> None:
    done = run(project(tmp_path / "p"), "tools/native.py", CC="/nowhere/cc")
    if os.name != "nt":
        assert done.returncode == native.CANNOT_BUILD
        assert done.stdout == (
            "native: there is no C compiler (/nowhere/cc), so nothing is compiled; Katapi runs as pure Python\n"
        )


def test_what_the_extensions_import_is_told_as_requirements_and_nothing_is_compiled(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    assert run(root, "tools/native.py", "--needs").stdout.split() == []
    source = root / "codegen/katapi/runtime/native/merging.py"
    source.write_text(WRAPS.replace("if TYPE_CHECKING:\n    from", "from"), "utf-8")
    assert run(root, "tools/native.py", "--needs").stdout == f"mypy_extensions=={version('mypy-extensions')}\n"
    assert not [*root.rglob("*.so")]
