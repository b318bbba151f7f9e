"""Commands on specifications: build, check, fmt, init."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.failure import Failed, needs_compiler
from katapi.cli.programs import source_of, text_of
from katapi.cli.terminal import visible

if TYPE_CHECKING:
    from katapi.model.program import Library


def build(
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if anything would change.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Read every artifact anew, though its table is here already.")
    ] = False,
) -> None:
    """Compile all specs of this project into its generated packages."""
    try:
        from katapi.build import Change, compare, write
        from katapi.compile import ProjectError, compile_project
        from katapi.project import find_project
    except ModuleNotFoundError as error:
        raise needs_compiler(error) from None
    project = find_project(Path.cwd())
    if not project.specs():
        raise Failed(f"katapi: there is no .kata file below {project.spec}")
    try:
        files = compile_project(project, fresh=fresh)
    except ProjectError as error:
        raise Failed(str(error)) from None
    differences = compare(project, files) if check else write(project, files)
    done = {Change.NEW: "written", Change.CHANGED: "changed", Change.ORPHAN: "removed", Change.FOREIGN: "foreign"}
    for difference in differences:
        word = difference.change.value if check else done[difference.change]
        typer.echo(f"{word:8} {difference.path}")
        if check and difference.detail:
            typer.echo(visible(difference.detail))
    if check and differences:
        raise Failed(f"{len(differences)} generated files are out of date; run `katapi build`")
    count = len([d for d in differences if d.change is not Change.FOREIGN])
    typer.echo(f"{len(files)} generated files, {count or 'none'} {'out of date' if check else 'changed'}")


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="The .kata files; with an option, models.")],
    stability: Annotated[
        bool, typer.Option("--stability", help="Say whether what is rendered of a conversation stays when it goes on.")
    ] = False,
    boundaries: Annotated[
        bool, typer.Option("--boundaries", help="Show what contents can spell where text alone parts messages.")
    ] = False,
) -> None:
    """Check specs without compiling them; all findings of a file are shown."""
    try:
        if stability:
            from katapi.cli.stability import show_stability

            show_stability(files)
        if boundaries:
            from katapi.cli.boundaries import show_boundaries

            show_boundaries(files)
        if not (stability or boundaries):
            _check([_existing(file) for file in files])
    except ModuleNotFoundError as error:
        raise needs_compiler(error) from None


def _existing(file: str) -> Path:
    path = Path(file)
    if not path.is_file():
        raise typer.BadParameter(f"there is no file {file!r}", param_hint="FILE...")
    return path


def _check(files: list[Path]) -> None:
    try:
        from katapi.analyse import analyse, load_beside
        from katapi.language.diagnostics import SpecError
    except ModuleNotFoundError as error:
        raise needs_compiler(error) from None
    failures: list[str] = []
    for file in files:
        try:
            programs = analyse(file.stem, source_of(file), load_beside(file, source_of))
        except SpecError as error:
            failures.append(str(error))
            count = len(error.diagnostics)
            failures.append(f"{file}: {count} error{'s' if count > 1 else ''}")
        else:
            titles = ", ".join(program.title for program in programs)
            typer.echo(f"{file}: {titles} {'are' if len(programs) > 1 else 'is'} fine")
            for line in _unreadable(programs):
                typer.echo(line)
    if failures:
        raise Failed("\n\n".join(failures))


def _unreadable(programs: Sequence[Library]) -> list[str]:
    """A line for each model whose replies cannot be read."""
    from katapi.derive.reply import reply_of
    from katapi.derive.reply_forms import NotInvertible
    from katapi.model.program import Program
    from katapi.model.sites import cited

    lines: list[str] = []
    for program in programs:
        try:
            if isinstance(program, Program):
                reply_of(program)
        except NotInvertible as error:
            place = cited(error.span, program.source)
            lines.append(
                f"  {program.title}: its replies cannot be read without a `parse` block ({place}: {error.why})"
            )
    return lines


def fmt(
    files: Annotated[list[Path] | None, typer.Argument(help="The .kata files; all of the project if none.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if anything would change.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")] = False,
) -> None:
    """Bring specs into the canonical form."""
    try:
        from katapi.language.diagnostics import SpecError
        from katapi.language.printer import format_source
        from katapi.language.source import Source
    except ModuleNotFoundError as error:
        raise needs_compiler(error) from None
    changed: list[str] = []
    failures: list[str] = []
    for file, shown in ({file: str(file) for file in files} if files else _project_specs()).items():
        text = text_of(file)
        try:
            formatted = format_source(Source(shown, text))
        except SpecError as error:
            failures.append(str(error))
            continue
        if formatted != text:
            changed.append(shown)
            typer.echo(f"{'would change' if check or dry_run else 'changed'} {shown}")
            if dry_run:
                old, new = text.splitlines(), formatted.splitlines()
                lines = unified_diff(old, new, "as it is", "canonical", lineterm="", n=1)
                typer.echo(visible("\n".join(lines)))
            elif not check:
                file.write_text(formatted, encoding="utf-8", newline="\n")
    if failures:
        raise Failed("\n\n".join(failures))
    if check and changed:
        raise Failed("not in the canonical form; run `katapi fmt`")


def _project_specs() -> dict[Path, str]:
    """The specs of the project, each with its name as `build` gives it."""
    from katapi.project import find_project

    project = find_project(Path.cwd())
    return {path: project.shown(path) for path in project.specs()}


def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the new project.")]) -> None:
    """Begin a project: a small spec that works, settings, tests in CI."""
    from katapi.cli.new_project import write_project

    written = write_project(folder)
    for path in written:
        typer.echo(f"wrote {path}")
    typer.echo(f"next: cd {quote(str(folder))} && katapi build && katapi assemble hello request.json --color")
