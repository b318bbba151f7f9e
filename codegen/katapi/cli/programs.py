"""Specs and the programs in them, for commands that look at declarations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from katapi.cli.failure import Failed

if TYPE_CHECKING:
    from katapi.language.source import Source
    from katapi.model.program import Program


def programs_of_project() -> dict[str, Program]:
    """The checked programs of all specs of the project, by the names of their models."""
    from katapi.compile import analyse_spec
    from katapi.language.diagnostics import SpecError
    from katapi.model.program import Program
    from katapi.project import find_project

    project = find_project(Path.cwd())
    found: dict[str, Program] = {}
    for path in project.specs():
        try:
            found |= {one.name: one for one in analyse_spec(project, path) if isinstance(one, Program)}
        except SpecError as error:
            raise Failed(str(error)) from None
    return found


def programs_in(path: Path) -> dict[str, Program]:
    """The checked programs of one file, by the names of its models."""
    from katapi.analyse import analyse, load_beside
    from katapi.language.diagnostics import SpecError
    from katapi.model.program import Program

    try:
        found = analyse(path.stem, source_of(path), load_beside(path, source_of))
    except SpecError as error:
        raise Failed(str(error)) from None
    return {one.name: one for one in found if isinstance(one, Program)}


def source_of(file: Path) -> Source:
    """A .kata file under the name by which it was given."""
    from katapi.language.source import Source

    return Source(str(file), text_of(file))


def text_of(file: Path) -> str:
    """The text of a file. Raises `Failed` where it cannot be had."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Failed(f"katapi: {file} is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise Failed(f"katapi: {file} cannot be read: {error.strerror}") from None


def unknown(name: str) -> Failed:
    """The error about a name that no model has."""
    return Failed(f"katapi: no spec of this project declares a model {name!r}; `katapi models` lists them")
