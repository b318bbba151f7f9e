"""Compile what runs compiled, by mypyc or from C: `make native` beside the sources, and `hatch_build.py` for a wheel.

usage: python tools/native.py [--root FOLDER] [--into FOLDER | --remove | --needs]

COMPILED is the one list of it. All modules in Python make one shared library, `katapi/native__mypyc`, and a small
extension each that stands beside its source, as one in C does by itself; `katapi/native.json` says what they were made
of and by what. Without `--into` they are put into the source tree, where git ignores them, and nothing is done where
the record says that they are current. `--remove` takes them away. `--needs` prints what they import when they run, as
requirements for pip, and compiles nothing. Exit status 3, with a sentence on stderr, where no extension can be built
here: without a C compiler or without Python's headers. Katapi then runs as pure Python, with the same results.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from pathlib import Path

COMPILED = (
    "codegen/katapi/runtime/native/byte_pairs.py",
    "codegen/katapi/runtime/native/character_pairs.py",
    "codegen/katapi/runtime/native/character_tables.py",
    "codegen/katapi/runtime/native/crossings.py",
    "codegen/katapi/runtime/native/encoder.py",
    "codegen/katapi/runtime/native/joined_tokens.py",
    "codegen/katapi/runtime/native/kernel.c",
    "codegen/katapi/runtime/native/longest_prefixes.py",
    "codegen/katapi/runtime/native/membership.c",
    "codegen/katapi/runtime/native/merging.py",
    "codegen/katapi/runtime/native/rewriting.py",
    "codegen/katapi/runtime/native/segments.py",
    "codegen/katapi/runtime/native/tables.py",
    "codegen/katapi/runtime/native/trie.py",
    "codegen/katapi/runtime/native/unigram.py",
    "codegen/katapi/runtime/native/vocabulary.py",
    "codegen/katapi/runtime/native/whole_tokens.py",
    "codegen/katapi/runtime/native/word_memo.py",
    "codegen/katapi/runtime/native/word_pieces.py",
    "codegen/katapi/runtime/native/word_tables.py",
    "codegen/katapi/runtime/native/words.py",
)
"""What runs compiled. It runs in no other form: who calls it asks `katapi.runtime.compiled`."""
IMPORT_ROOTS = ("codegen", "generated")
GROUP = "katapi.native"
RECORD = Path("katapi/native.json")
TABLES = Path("katapi/runtime/native/shipped")
"""Where an installation has tables that came with it, as `katapi.runtime.native.derived` looks for them."""
CANNOT_BUILD = 3
OPTIMIZATION = "3"

_DERIVE = """
import sys
from importlib import import_module
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    import_module(name).tokenizer().encode("a")
"""
_not_sources = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "tests")
_PROBE = "#include <Python.h>\nint main(void) { return PY_MAJOR_VERSION == 3 ? 0 : 1; }\n"


class BuildError(Exception):
    """mypyc or the C compiler refused a module, which is a fault of the module or of this file."""


def sources(root: Path) -> list[Path]:
    """The modules to compile that are there, in order."""
    return [root / path for path in COMPILED if (root / path).is_file()]


def module_of(root: Path, source: Path) -> str:
    """The dotted name of a module."""
    parts = source.relative_to(root).with_suffix("").parts
    return ".".join(parts[1:])


def why_none() -> str | None:
    """Why no extension can be built here; None where one can."""
    if os.name == "nt":
        return None  # setuptools looks for the compiler, in the registry
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    headers = [sysconfig.get_path(name) for name in ("include", "platinclude")]
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder, "probe.c")
        probe.write_text(_PROBE, "utf-8")
        arguments = [*command, *(f"-I{path}" for path in headers), "-c", str(probe), "-o", str(Path(folder, "probe.o"))]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        except OSError:
            return f"there is no C compiler ({command[0]})"
    if done.returncode and "Python.h" in done.stderr:
        return f"Python's headers are not installed (Python.h in {headers[0]})"
    return f"the C compiler ({command[0]}) does not work" if done.returncode else None


def requirements(source: str) -> set[str]:
    """The distributions that a compiled module imports when it runs, of those that come with mypyc.

    What stands under `if TYPE_CHECKING:` is for mypyc alone, but for librt's containers: the C code asks for these.
    """
    needed: set[str] = set()
    for imported in _imports(ast.parse(source).body, at_run_time=True):
        name, at_run_time = imported
        if name.split(".")[0] == "librt" or (at_run_time and name == "mypy_extensions"):
            needed.add(name.split(".")[0])
    return needed


def _imports(body: Sequence[ast.stmt], *, at_run_time: bool) -> Iterator[tuple[str, bool]]:
    for statement in body:
        match statement:
            case ast.Import(names=names):
                yield from ((alias.name, at_run_time) for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module, at_run_time
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=inner, orelse=other):
                yield from _imports(inner, at_run_time=False)
                yield from _imports(other, at_run_time=at_run_time)
            case _:
                inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
                yield from _imports(inner, at_run_time=at_run_time)


def needs(root: Path) -> dict[str, str]:
    """The distributions that the extensions import when they run, with the version that they are compiled for."""
    modules = (path for path in sources(root) if path.suffix == ".py")
    needed = set[str]().union(*(requirements(path.read_text("utf-8")) for path in modules))
    return {name: version(name.replace("_", "-")) for name in sorted(needed)}


def record(root: Path) -> dict[str, dict[str, str]]:
    """What the extensions are made of and by what: the contents of RECORD."""
    builder = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return {
        "by": {"mypyc": version("mypy"), "python": EXTENSION_SUFFIXES[0], "tool": builder, **needs(root)},
        "modules": {module_of(root, path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sources(root)},
    }


def compile_into(root: Path, folder: Path) -> list[Path]:
    """Compile everything and give the files, as paths below `folder`: extensions and the record.

    Raises `BuildError`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        code = [sys.executable, str(Path(__file__).resolve()), "--extensions", str(folder), "--scratch", scratch]
        environment = {**os.environ, "MYPYPATH": os.pathsep.join(IMPORT_ROOTS)}
        # A process of its own, as mypyc leaves by sys.exit; in the root, since the paths of sources get into C code.
        done = subprocess.run(
            code, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    if done.returncode:
        raise BuildError(done.stdout)
    made = [path for path in folder.rglob("*") if path.is_file()]
    (folder / RECORD).parent.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record(root), indent=1) + "\n", "utf-8")
    return sorted(path.relative_to(folder) for path in [*made, folder / RECORD])


def derive_into(root: Path, folder: Path, tokenizers: Sequence[str]) -> list[Path]:
    """Derive tables by the extensions in `folder`, and give the files with them, as paths below it.

    `tokenizers` are modules, each with the function `tokenizer` of generated ones. They encode a text with an empty
    cache, and what they leave there are their tables. Raises `BuildError`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        tree, cache = Path(scratch, "tree"), Path(scratch, "cache")
        for source in (root / one for one in IMPORT_ROOTS if (root / one).is_dir()):
            shutil.copytree(source, tree, ignore=_not_sources, dirs_exist_ok=True)
        shutil.copytree(folder, tree, dirs_exist_ok=True)
        environment = {**os.environ, "KATAPI_CACHE": str(cache), "KATAPI_ENGINE": ""}
        code = [sys.executable, "-c", _DERIVE, str(tree), *tokenizers]
        done = subprocess.run(
            code, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        derived = [path for path in cache.rglob("*") if path.is_file()]
        if done.returncode or len(derived) != len(tokenizers):
            raise BuildError(f"{done.stdout}{len(derived)} tables were derived for {', '.join(tokenizers)}")
        (folder / TABLES).mkdir(parents=True, exist_ok=True)
        return sorted(shutil.copyfile(path, folder / TABLES / path.name).relative_to(folder) for path in derived)


def _build_extensions(folder: Path, scratch: Path) -> None:
    """What the process of `compile_into` does, in the root: from Python to C in `scratch`, and from C to extensions."""
    from mypyc.build import mypycify
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    # Types come from the tree alone, so that the code is the same whatever is installed; `make types` has checked them.
    options = ["--config-file=", "--no-site-packages", "--ignore-missing-imports", "--namespace-packages"]
    options += ["--explicit-package-bases", "--follow-imports=silent", f"--cache-dir={scratch / 'cache'}"]
    paths = [path.as_posix() for path in sources(Path()) if path.suffix == ".py"]
    extensions = mypycify(
        [*options, *paths], opt_level=OPTIMIZATION, debug_level="0", group_name=GROUP, target_dir=str(scratch / "c")
    )
    optimized = f"/O{OPTIMIZATION}" if os.name == "nt" else f"-O{OPTIMIZATION}"
    extensions += [
        Extension(module_of(Path(), path), [path.as_posix()], extra_compile_args=[optimized])
        for path in sources(Path())
        if path.suffix == ".c"
    ]
    if sys.platform == "linux":
        for extension in extensions:
            # Calls within the library go to the function itself: no other library takes its place.
            extension.extra_compile_args.append("-fno-semantic-interposition")
            extension.extra_link_args.append("-Wl,-Bsymbolic-functions")
            extension.extra_link_args.append("-Wl,--strip-all,--build-id=none")
    command = build_ext(Distribution({"name": "katapi", "ext_modules": extensions}))
    command.build_lib, command.build_temp = str(folder), str(scratch / "objects")
    command.ensure_finalized()
    command.run()


def _place(root: Path, made: Path) -> Path:
    """Where a file of the output belongs in the source tree: under the import root that has its package."""
    return next(root / one / made for one in IMPORT_ROOTS if (root / one / made.parts[0]).is_dir())


def _in_place(root: Path) -> list[Path]:
    """All files that `make native` has put into the source tree."""
    suffix = EXTENSION_SUFFIXES[0].split(".")[-1]
    folders = {path.parent for path in sources(root)} | {_place(root, RECORD).parent}
    found = [path for folder in folders for path in folder.glob(f"*.{suffix}")]
    kept = _place(root, RECORD)
    return sorted([*found, *([kept] if kept.is_file() else [])])


def remove(root: Path) -> None:
    """Take the extensions out of the source tree."""
    for path in _in_place(root):
        path.unlink()


def build_in_place(root: Path) -> str:
    """Put the extensions beside their sources and say what was done. Raises `BuildError`."""
    if not sources(root):
        remove(root)
        return "there is nothing to compile"
    kept = _place(root, RECORD)
    extensions = [path for path in _in_place(root) if path != kept]
    whole = kept.is_file() and len(extensions) == len(sources(root)) + 1
    if whole and json.loads(kept.read_text("utf-8")) == record(root):
        return "the extensions are current"
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        made = compile_into(root, Path(folder))
        remove(root)
        for path in made:
            # A new file of another inode: a process that runs the old extension keeps it.
            target = _place(root, path)
            target.write_bytes(Path(folder, path).read_bytes())
    size = sum(path.stat().st_size for path in _in_place(root))
    seconds = time.monotonic() - start
    return f"compiled {len(sources(root))} modules in {seconds:.0f} s, {size / 1e6:.1f} MB beside their sources"


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description="Compile by mypyc what runs compiled.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the source tree")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--into", type=Path, metavar="FOLDER", help="an empty folder, instead of the source tree")
    chosen.add_argument("--remove", action="store_true", help="take the extensions out of the source tree")
    chosen.add_argument("--needs", action="store_true", help="print the distributions that they import, for pip")
    chosen.add_argument("--extensions", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    root: Path = options.root.resolve()
    if options.extensions is not None:
        _build_extensions(options.extensions, options.scratch)
        return 0
    if options.remove:
        remove(root)
        return 0
    if options.needs:
        print(*(f"{name}=={exact}" for name, exact in needs(root).items()), sep="\n")
        return 0
    reason = why_none()
    if reason is not None:
        print(f"native: {reason}, so nothing is compiled; Katapi runs as pure Python", file=sys.stderr)
        return CANNOT_BUILD
    try:
        if options.into is None:
            print(f"native: {build_in_place(root)}")
        else:
            print(f"native: compiled {len(compile_into(root, options.into.resolve()))} files into {options.into}")
    except BuildError as error:
        print(f"{error}\nnative: a module could not be compiled, see above", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
