"""What `katapi check --boundaries` shows: what a content can spell, and two requests that print the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from katapi.cli.programs import programs_of_project, unknown
from katapi.cli.terminal import visible

if TYPE_CHECKING:
    from katapi.derive.boundaries import Forgery
    from katapi.model.program import Program


def show_boundaries(names: Sequence[str]) -> None:
    """The boundaries of some models of the project at hand that are plain text, and what the spec says of each."""
    from rich.console import Console

    from katapi.derive.boundaries import MOST_MESSAGES, forgeries

    programs = programs_of_project()
    for name in names:
        program = programs.get(name)
        if program is None:
            raise unknown(name)
        typer.echo(f"{name}: {program.title}")
        with Console(stderr=True).status(f"looking for requests of {name} that print the same"):
            found = list(forgeries(program, MOST_MESSAGES))
        for line in _lines(program, found):
            typer.echo(visible(line))


def _lines(program: Program, found: Sequence[Forgery]) -> Iterator[str]:
    from katapi.derive.boundaries import MOST_MESSAGES, answers
    from katapi.language.literals import quote
    from katapi.model.boundaries import there

    if not found:
        yield f"  no two requests of up to {MOST_MESSAGES} messages print the same where others are heard"
    used: set[str] = set()
    for forgery in found:
        texts = ", ".join(quote(one.text) for one in forgery.boundary)
        yield f"  {forgery.speaker} can spell {texts}"
        named = answers(program, forgery)
        used |= {one.text for one in named}
        said = [f"boundary {quote(one.text)}: {one.answer.value}" for one in named]
        silent = "the model itself writes it" if forgery.sampled else "the spec does not say what becomes of it"
        yield f"    {'; '.join(said) or silent}"
        yield f"    {json.dumps(dict(forgery.forged), ensure_ascii=False)}"
        yield f"    prints what {json.dumps(dict(forgery.meant), ensure_ascii=False)} prints"
    for boundary in there(program.template):
        if boundary.text not in used:
            yield f"  boundary {quote(boundary.text)}: {boundary.answer.value}, and no request shown here spells it"
