"""Commands on specifications: build, check, fmt, init, fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from katapi.cli.failure import Failed

_MISSING = "katapi: compiling needs more packages; run `pip install 'katapi[compiler]'`"


def _needs_compiler(error: ModuleNotFoundError) -> Failed:
    if error.name in ("lark", "jinja2"):
        return Failed(_MISSING)
    raise error


def build(
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if anything would change.")] = False,
) -> None:
    """Compile all specs of this project into its generated packages."""
    try:
        from katapi.build import compare, write
        from katapi.compile import ProjectError, compile_project
        from katapi.project import find_project
    except ModuleNotFoundError as error:
        raise _needs_compiler(error) from None
    project = find_project(Path.cwd())
    if not project.specs():
        raise Failed(f"katapi: there is no .kata file below {project.spec}")
    try:
        files = compile_project(project)
    except ProjectError as error:
        raise Failed(str(error)) from None
    differences = compare(project, files) if check else write(project, files)
    for difference in differences:
        typer.echo(f"{difference.change.value:8} {difference.path}")
        if check and difference.detail:
            typer.echo(difference.detail)
    if check and differences:
        raise Failed(f"{len(differences)} generated files are out of date; run `katapi build`")
    typer.echo(f"{len(files)} generated files, {len(differences) or 'none'} {'out of date' if check else 'changed'}")


def check(files: Annotated[list[Path], typer.Argument(help="The .kata files.", exists=True, dir_okay=False)]) -> None:
    """Check specs without compiling them; all findings of a file are shown."""
    try:
        from katapi.analyse import analyse
        from katapi.language.diagnostics import SpecError
        from katapi.language.source import Source
    except ModuleNotFoundError as error:
        raise _needs_compiler(error) from None
    failures: list[str] = []
    for file in files:
        try:
            program = analyse(file.stem, Source(str(file), _read(file)))
        except SpecError as error:
            failures.append(str(error))
            count = len(error.diagnostics)
            failures.append(f"{file}: {count} error{'s' if count > 1 else ''}")
        else:
            typer.echo(f"{file}: {program.identity} is fine")
    if failures:
        raise Failed("\n\n".join(failures))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Failed(f"katapi: {file} is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise Failed(f"katapi: {file} cannot be read: {error.strerror}") from None


def fmt(
    files: Annotated[list[Path] | None, typer.Argument(help="The .kata files; all of the project if none.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if anything would change.")] = False,
) -> None:
    """Bring specs into the canonical form."""
    try:
        from katapi.language.diagnostics import SpecError
        from katapi.language.printer import format_source
        from katapi.language.source import Source
        from katapi.project import find_project
    except ModuleNotFoundError as error:
        raise _needs_compiler(error) from None
    changed: list[Path] = []
    failures: list[str] = []
    for file in files or find_project(Path.cwd()).specs():
        text = _read(file)
        try:
            formatted = format_source(Source(str(file), text))
        except SpecError as error:
            failures.append(str(error))
            continue
        if formatted != text:
            changed.append(file)
            if not check:
                file.write_text(formatted, encoding="utf-8", newline="\n")
    for file in changed:
        typer.echo(f"{'would change' if check else 'changed'} {file}")
    if failures:
        raise Failed("\n\n".join(failures))
    if check and changed:
        raise Failed("not in the canonical form; run `katapi fmt`")


def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the new project.")]) -> None:
    """Begin a project: a small spec that works, settings, tests in CI."""
    from katapi.cli.new_project import write_project

    written = write_project(folder)
    for path in written:
        typer.echo(f"wrote {path}")
    typer.echo(f"next: cd {folder} && katapi build && katapi assemble hello request.json --color")


def fetch() -> None:
    """Get every artifact that `artifacts.lock` names into the cache."""
    from katapi.artifacts.fetch import artifact_bytes
    from katapi.artifacts.lock import read_lock
    from katapi.project import find_project

    lock = read_lock(find_project(Path.cwd()).lock)
    for number, name in enumerate(lock.artifacts, start=1):
        typer.echo(f"[{number}/{len(lock.artifacts)}] {name} … ", nl=False)
        typer.echo(f"{len(artifact_bytes(name, lock))} bytes, {lock[name].sha256}")
