"""`katapi compare`: whether two templates can print different things."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.failure import Failed, needs_compiler
from katapi.cli.programs import programs_in, programs_of_project, unknown
from katapi.cli.terminal import visible

if TYPE_CHECKING:
    from katapi.derive.comparison import Comparison, Printed
    from katapi.model.program import Program

Template = Annotated[
    str, typer.Argument(help="A model of this project, a .kata file, or FILE#MODEL for one of several in a file.")
]


def compare(first: Template, second: Template) -> None:
    """Tell whether two templates can print different things, with the smallest request that shows it."""
    try:
        from rich.console import Console

        from katapi.derive.comparison import compare as compared

        one, other = _program(first), _program(second)
        with Console(stderr=True).status("looking for the smallest request on which they differ"):
            found = compared(one, other)
    except ModuleNotFoundError as error:
        raise needs_compiler(error) from None
    for line in _lines((first, second), (one, other), found):
        typer.echo(visible(line))
    if found.difference is not None:
        raise typer.Exit(1)


def _program(named: str) -> Program:
    file, _, model = named.partition("#")
    if file.endswith(".kata"):
        programs = programs_in(Path(file))
        if not model and len(programs) != 1:
            raise Failed(f"katapi: {file} declares {len(programs)} models; write {file}#MODEL")
        chosen = programs.get(model or next(iter(programs)))
        if chosen is None:
            raise Failed(f"katapi: {file} declares no model {model!r}, but {', '.join(programs)}")
        return chosen
    program = programs_of_project().get(named)
    if program is None:
        raise unknown(named)
    return program


def _lines(names: tuple[str, str], programs: tuple[Program, Program], found: Comparison) -> Iterator[str]:
    first, second = names
    if found.same:
        yield f"{first} and {second} print the same: their requests and templates mean the same"
    elif found.difference is None:
        yield f"{first} and {second} print the same for {found.searched} small requests; that is no proof"
    else:
        yield f"{first} and {second} differ"
        yield f"  {json.dumps(found.difference.request, ensure_ascii=False)}"
        for name, program, printed in zip(
            names, programs, (found.difference.first, found.difference.second), strict=True
        ):
            yield f"  {name}: {_printed(program, printed)}"


def _printed(program: Program, printed: Printed) -> str:
    text = json.dumps(printed.text, ensure_ascii=False)
    match printed.kind:
        case "refused":
            return f"refuses it: {printed.text}"
        case "nothing":
            return "prints nothing more"
        case _:
            word = "the control token that begins" if printed.kind == "control" else "the text"
            return f"prints {word} {text}, from {_place(program, printed)}"


def _place(program: Program, printed: Printed) -> str:
    from katapi.runtime.places import json_path
    from katapi.runtime.segments import Site

    if isinstance(printed.origin, Site):
        return f"{printed.origin.file or program.source.name}:{printed.origin.line}:{printed.origin.column}"
    return f"the request, {json_path(printed.origin or ())}"
