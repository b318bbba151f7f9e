"""Commands on external artifacts: fetch."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.failure import Failed

if TYPE_CHECKING:
    from katapi.artifacts.fetch import Fetched
    from katapi.artifacts.lock import Lock
    from katapi.project import Project

_AT_ONCE = 4  # downloads; the clients wait for the network most of the time


def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Artifacts by name; those that the specs use if none.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Get all that the lock names.")] = False,
    show: Annotated[bool, typer.Option("--list", help="Get nothing; show sizes, licences and what is here.")] = False,
) -> None:
    """Get artifacts that `artifacts.lock` names into the cache; the sha256 decides which bytes are the right ones.

    Outside of a project, these are the vocabularies that installed models need and do not come with.
    """
    from katapi.artifacts.lock import read_lock
    from katapi.project import project_at

    if names and every:
        raise typer.BadParameter("name artifacts or say --all, not both")
    project = project_at(Path.cwd())
    lock = _packaged() if project is None else read_lock(project.lock)
    if show:
        _show(lock, names or list(lock.artifacts))
        return
    used = list(lock.artifacts) if every or project is None else _used(project)
    wanted = names or used
    failures = list(_fetch(lock, list(dict.fromkeys(wanted))))
    if failures:
        raise Failed("\n".join(f"katapi: {failure}" for failure in failures))


def _packaged() -> Lock:
    """The rows of all installed packages of models."""
    from katapi.artifacts.lock import Lock, read_lock
    from katapi.registry import locks

    rows = {name: row for path in locks() for name, row in read_lock(path).artifacts.items()}
    return Lock(Path("artifacts.lock"), rows)


def _used(project: Project) -> list[str]:
    """The artifacts that the specs of a project name, in order; a spec that cannot be read counts as none."""
    try:
        from katapi.language import syntax
        from katapi.language.parser import parse
        from katapi.language.source import Source
    except ModuleNotFoundError as error:
        raise Failed(f"katapi: reading specs needs {error.name}; name the artifacts, or say --all") from None
    used: list[str] = []
    for spec in project.specs():
        tree, _ = parse(Source(str(spec), spec.read_text(encoding="utf-8", errors="replace")))
        vocabularies = [node for node in tree.declarations if isinstance(node, syntax.Vocabulary)]
        items = [item for vocabulary in vocabularies for item in vocabulary.items]
        used += [item.name for item in items if isinstance(item, syntax.ArtifactRef)]
    return used


def _fetch(lock: Lock, names: list[str]) -> Iterator[str]:
    """Gets artifacts side by side, showing how far it is; gives a message for each that cannot be had."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from katapi.artifacts.cache import Cache
    from katapi.artifacts.fetch import Downloads
    from katapi.artifacts.fetch import fetch as get
    from katapi.runtime.errors import ArtifactError

    for name in names:
        lock[name]  # an unknown name is an error before anything is downloaded
    cache = Cache.of_user()
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    with (
        Downloads() as downloads,
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        task = progress.add_task(", ".join(names[:3]), total=len(names))
        running = {pool.submit(get, name, lock, cache, downloads): name for name in names}
        for future in as_completed(running):
            name = running.pop(future)
            progress.update(task, advance=1, description=", ".join([*running.values()][:3]))
            try:
                fetched: Fetched = future.result()
            except ArtifactError as error:
                yield str(error)
            else:
                typer.echo(f"{name}: {len(fetched.data):,} bytes, {lock[name].sha256}, from {fetched.origin}")


def _show(lock: Lock, names: list[str]) -> None:
    from rich.table import Table

    from katapi.artifacts.cache import Cache
    from katapi.artifacts.fetch import describe
    from katapi.cli.terminal import print_table

    cache = Cache.of_user()
    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("artifact", "bytes", "licence", "here", "places"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "bytes" else "left")
    for name in names:
        artifact = lock[name]
        here = "yes" if cache.path(artifact.sha256).exists() else "no"
        places = ", ".join(map(describe, artifact.places))
        table.add_row(name, f"{artifact.size:,}", artifact.licence, here, places)
    print_table(table)
    whole = sum({lock[name].sha256: lock[name].size for name in names}.values())
    typer.echo(f"{len(names)} artifacts, {whole:,} bytes")
