"""Build the generated code under conditions that must not matter, and compare every byte with what is checked in.

usage: python tools/determinism.py [--python PATH]...

The conditions: several hash seeds, locales, time zones and folders, then each other Python of 3.11 or later that is
found on PATH or under pyenv, in an environment made for it, or that --python names. Under each of those, what Unicode
data decides is compared too (tools/unicode_results.py). Exit status 1 where a byte differs.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "build" / "determinism"
RESULTS = ROOT / "tests" / "tokenization" / "data" / "unicode_results.json"
EXTRAS = "cli,compiler,dev"  # as in the Makefile
VERSION_CHECK = "import sys; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, int(sys.argv[1])))"


@dataclass(frozen=True)
class Condition:
    """One set of circumstances: what is set in the environment and where the project lies."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    folder: str = "project"


# A locale that is not installed acts as C.
CONDITIONS = (
    Condition("as it is"),
    Condition("hash seed 0", {"PYTHONHASHSEED": "0"}),
    Condition("hash seed 1", {"PYTHONHASHSEED": "1"}),
    Condition("hash seed 4294967295", {"PYTHONHASHSEED": "4294967295"}),
    Condition("locale C, without UTF-8 mode", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    Condition("Turkish locale", {"LC_ALL": "tr_TR.UTF-8"}),
    Condition("time zone Kiritimati", {"TZ": "Pacific/Kiritimati"}),
    Condition("time zone Los Angeles", {"TZ": "America/Los_Angeles"}),
    Condition("folder with spaces and CJK", folder="a folder/项目"),
    Condition("optimized", {"PYTHONOPTIMIZE": "2"}),
)


def digests(generated: Path) -> dict[str, str]:
    """The sha256 of every file under `generated`, by its path there."""
    return {
        path.relative_to(generated).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(generated.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def build(python: Path, condition: Condition, folder: Path) -> dict[str, str]:
    """Copy what a build reads into `folder`, run `katapi build` there and give the digests of what it wrote."""
    project = folder / condition.folder
    project.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", project)
    shutil.copytree(ROOT / "spec", project / "spec")
    command = [str(python.with_name("katapi")), "build"]
    variables = os.environ | condition.variables
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"determinism: `katapi build` failed under {condition.name}:\n{done.stdout}{done.stderr}")
    return digests(project / "generated")


def differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """One line for each file that is missing, surplus or has other bytes."""
    return [
        f"{name}: {'missing' if name not in found else 'surplus' if name not in expected else 'other bytes'}"
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]


def other_pythons(named: list[Path], oldest: int = 11) -> Iterator[tuple[str, Path]]:
    """Each Python of another minor version than this one, from 3.`oldest` on: its version and its executable."""
    found = [Path(path) for minor in range(oldest, 20) if (path := shutil.which(f"python3.{minor}"))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    seen = {f"{sys.version_info.major}.{sys.version_info.minor}"}
    for python in [*named, *found, *sorted(pyenv.glob("versions/*/bin/python3"))]:
        done = subprocess.run([python, "-c", VERSION_CHECK, str(oldest)], capture_output=True, text=True, check=False)
        version = done.stdout.strip()
        if done.returncode == 0 and version not in seen:
            seen.add(version)
            yield version, python


def environment(version: str, python: Path) -> Path:
    """Make an environment with the compiler for `python`, or take the one made before; give its interpreter."""
    folder = ENVIRONMENTS / f"python{version}"
    interpreter = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists() or ready.stat().st_mtime < (ROOT / "pyproject.toml").stat().st_mtime:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        install = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        subprocess.run([interpreter, *install, "--editable", f"{ROOT}[{EXTRAS}]"], check=True)
        ready.touch()
    return interpreter


def differing_results(python: Path) -> list[str]:
    """The results of `tools/unicode_results.py` that are others under this Python than those recorded."""
    command = [str(python), str(ROOT / "tools" / "unicode_results.py"), "--check", str(RESULTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def main() -> int:
    """Build under every condition; print one line each."""
    parser = argparse.ArgumentParser(description="Compare builds of the generated code under varied conditions.")
    parser.add_argument("--python", action="append", type=Path, default=[], help="a further Python to build with")
    options = parser.parse_args()
    runs = [(condition, Path(sys.executable)) for condition in CONDITIONS]
    runs += [
        (Condition(f"Python {version}"), environment(version, python))
        for version, python in other_pythons(options.python)
    ]
    expected = digests(ROOT / "generated")
    failed = 0
    for condition, python in runs:
        with tempfile.TemporaryDirectory() as folder:
            found = differences(expected, build(python, condition, Path(folder)))
        print(f"{'FAIL' if found else 'same'}  {condition.name}", flush=True)
        for line in found:
            print(f"      {line}")
        failed += bool(found)
    for version, python in other_pythons(options.python):
        found = differing_results(environment(version, python))
        print(f"{'FAIL' if found else 'same'}  Unicode results of Python {version}", *found, sep="\n      ", flush=True)
        failed += bool(found)
    print(f"{len(runs)} builds of {len(expected)} files, {failed} of them differ from what is checked in")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
