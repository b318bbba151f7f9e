"""Commands on packs: record, replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.failure import Failed
from katapi.cli.images import Attached, Folder, read_images
from katapi.cli.models import ModelName, Params, Policy, RequestFile, load_model, read_params, read_request, write_file
from katapi.cli.terminal import print_table, visible
from katapi.runtime.errors import ReplayError

if TYPE_CHECKING:
    from katapi.packs.pack import Pack, Redaction
    from katapi.packs.replay import Replay


_REDACTIONS: dict[str, Redaction] = {
    "digests": "digests",
    "digest": "digests",
    "placeholders": "placeholders",
    "placeholder": "placeholders",
}


def read_pack_file(file: Path) -> Pack:
    """The pack in a file; an error of it names the file."""
    from katapi.packs.reading import read_pack

    try:
        return read_pack(file)
    except ReplayError as error:
        where = error.where if str(file) in error.where else f"{file}, {error.where}".removesuffix(", ")
        raise ReplayError(error.message, code=error.code, where=where, help=error.help) from None


def spelled_out(arguments: list[str]) -> list[str]:
    """The arguments of the program, with `digests` behind a `--redact` that does not say how."""
    if arguments[:1] != ["record"]:
        return arguments
    out: list[str] = []
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        out.append(argument)
        if argument == "--redact" and following not in _REDACTIONS:
            out.append("digests")
    return out


def record(
    model: ModelName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The pack to write: NAME.pack.")],
    file: RequestFile = "-",
    param: Params = None,
    policy: Policy = None,
    image: Attached = None,
    image_folder: Folder = None,
    redact: Annotated[
        str | None,
        typer.Option(
            metavar="[HOW]",
            help="Leave contents out: `digests`, also where HOW is left away, stand in their place, or `placeholders` "
            "of the same length.",
        ),
    ] = None,
    embed_artifacts: Annotated[
        bool, typer.Option("--embed-artifacts", help="Put the tables of the tokenizer in, not their digests alone.")
    ] = False,
) -> None:
    """Run a request and write all that is needed to do it again into one file.

    Of a request that is refused the file holds what came before the error, and the exit status is 1.
    """
    from katapi.packs.writing import pack_bytes, pack_of
    from katapi.runtime.execution import execute

    if redact is not None and redact not in _REDACTIONS:
        raise typer.BadParameter(f"{redact!r} is neither digests nor placeholders", param_hint="--redact")
    loaded = load_model(model)
    images = read_images(image, image_folder)
    found = execute(loaded, read_request(file), policy, params=read_params(param), images=images)
    pack = pack_of(
        loaded,
        found,
        redact=None if redact is None else _REDACTIONS[redact],
        embed_artifacts=embed_artifacts,
    )
    write_file(pack_bytes(pack), output)
    if found.error is not None:
        raise Failed(f"katapi: {output} holds all up to the {visible(str(found.error))}")


def replay(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="What `katapi record` wrote.")],
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", metavar="FILE", help="An image of which the pack has no more than the digest."),
    ] = None,
) -> None:
    """Run the request of a pack once more, and compare each stage with what was recorded."""
    import katapi
    from katapi.packs.replay import check_fixture, check_source
    from katapi.packs.replay import replay as run

    found = read_pack_file(pack)
    check_source(found)
    check_fixture(katapi.load("book", "katapi_models"))
    print("this installation: the fixture of the model `book` gives its ids")
    files = read_images(image, None)
    done = run(found, load_model(found.model), () if files is None else files.attached)
    _show(done)
    first = done.first
    if first is not None:
        raise Failed(f"katapi: the replay parts from the pack at the stage {first.stage.value}: {first.why}")
    print(_summary(done, failed=found.fault is not None))


def _summary(done: Replay, *, failed: bool) -> str:
    """What a replay says in which no stage differs."""
    unchecked = [row.stage.value for row in done.stages if row.verdict.value == "cannot be checked"]
    if unchecked:
        return f"nothing that can be checked differs; what cannot be: {', '.join(unchecked)}"
    return "all stages agree, up to the same error" if failed else "all stages agree"


def _show(done: Replay) -> None:
    """A row for each stage."""
    from rich.table import Table

    for change in done.changed:
        print(visible(f"recorded with another version: {change}"))
    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("stage", "", "recorded", "now"):
        table.add_column(heading, no_wrap=True)
    table.add_column("why")
    for row in done.stages:
        # Of a redacted stage the digests differ by nature, and were not what was compared.
        told = row.recorded == row.replayed or row.verdict.value == "differs"
        digests = (_short(row.recorded), _short(row.replayed)) if told else ("", "")
        table.add_row(
            row.stage.value, row.verdict.value, *digests, visible(row.why or ("" if told else "all but contents"))
        )
    print_table(table)


def _short(digest: str | None) -> str:
    """The beginning of a digest."""
    return "" if digest is None else digest.removeprefix("sha256:")[:12]
