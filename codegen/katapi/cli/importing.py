"""Commands that write specifications from the files of a model: `import tokenizer`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.failure import Failed, needs_compiler

if TYPE_CHECKING:
    from katapi.project import Project

app = typer.Typer(no_args_is_help=True)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

SourceFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="tokenizer.json, .tiktoken, tekken.json, SentencePiece .model or GGUF.",
        exists=True,
        dir_okay=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE.kata", help="Where to write; standard output if none."),
]
Name = Annotated[str | None, typer.Option(help="What to call the vocabulary and the tokenizer.")]
Pattern = Annotated[str | None, typer.Option(help="How text is cut, for a .tiktoken file, which does not say it.")]
Licence = Annotated[str, typer.Option(metavar="SPDX", help="The licence of the file, for artifacts.lock.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a specification that is there.")]


@app.callback()
def group() -> None:
    """Write a specification from the files of a model."""


@app.command()
def tokenizer(
    file: SourceFile,
    output: Output = None,
    name: Name = None,
    pattern: Pattern = None,
    licence: Licence = "NOASSERTION",
    force: Force = False,
) -> None:
    """Declare a tokenizer that gives the ids of a file, and enter the file in the project's artifacts.lock."""
    try:
        from katapi.importing.tokenizer import declared_text
        from katapi.language.diagnostics import SpecError
    except ModuleNotFoundError as error:
        raise needs_compiler(error) from None
    from katapi.artifacts.lock_entry import add_entry, lock_at, lock_entry
    from katapi.files import write_whole
    from katapi.runtime.artifacts.any_file import read_tokenizer_file

    target = file if output is None else output
    called = _declared_name(target) if name is None else name
    if not _NAME.fullmatch(called):
        raise typer.BadParameter(f"{called!r} is no name of a declaration", param_hint="--name")
    if output is not None and output.suffix != ".kata":
        raise typer.BadParameter(f"{output} does not end with .kata", param_hint="--output")
    if output is not None and output.exists() and not force:
        raise Failed(f"katapi: {output} exists already; nothing was written (--force writes over it)")
    package = "" if output is None else output.stem.replace(".", "_").replace("-", "_")
    if output is not None and not package.isidentifier():
        raise typer.BadParameter(
            f"{output.name!r} gives no name of a package: write letters, digits, `.`, `-` and `_`, a letter first",
            param_hint="--output",
        )
    data = _read(file)
    project = None if output is None else _project(output)
    lock = lock_at(target.parent / "artifacts.lock" if project is None else project.lock)
    entry = lock_entry(data, file, lock, group=target.name.partition(".")[0], licence=licence)
    known = entry.name in lock.artifacts
    described = read_tokenizer_file(data, where=file.name, pattern=pattern)
    try:
        text = declared_text(
            described,
            name=called,
            artifact=entry.name,
            sha256=entry.sha256,
        )
    except SpecError as error:
        raise Failed(f"katapi: {file} has what no specification can declare\n\n{error}") from None
    if not described.configuration.added_tokens:
        typer.echo(f"{file} lists no control tokens: declare those of the model under `control`", err=True)
    if output is None:
        typer.echo(text, nl=False)
    else:
        if project is not None and not known:
            add_entry(lock.path, entry)
        write_whole(output.resolve(), text.encode())
        typer.echo(f"wrote {output}")
    if known:
        return
    if project is None:
        typer.echo(f"enter in artifacts.lock:\n\n{entry.text()}", nl=False, err=output is None)
    else:
        typer.echo(
            f'entered "{entry.name}" in {project.shown(lock.path)}; say its licence there, and where others get it'
        )


def _declared_name(file: Path) -> str:
    """The name of a file as that of a declaration: `llama3.2.kata` → Llama3_2."""
    words = re.findall("[A-Za-z]+[0-9]*|[0-9]+", file.stem)
    return "".join(f"_{word}" if word[0].isdigit() else word[0].upper() + word[1:] for word in words)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Failed(f"katapi: {file} cannot be read: {error.strerror}") from None


def _project(output: Path) -> Project | None:
    """The project that would build a specification at this place."""
    from katapi.project import project_at

    project = project_at(output.parent)
    return project if project is not None and output.resolve().is_relative_to(project.spec.resolve()) else None
