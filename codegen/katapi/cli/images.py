"""Options of commands for the images of a request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from katapi.runtime.images.given import Images

Attached = Annotated[
    list[Path] | None,
    typer.Option(
        "--image",
        metavar="FILE",
        help="An image for the next part of the request that says of no source; give one for each.",
    ),
]
AttachedTo = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        metavar="[REQUEST=]FILE",
        help="An image for the next part of a request that says of no source; give one for each. "
        "Of several requests name one as errors do: `two.json=photo.jpg`, `all.jsonl:2=photo.jpg`, `-:2=photo.jpg`.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--image-folder", metavar="DIR", help="The folder whose files the request may name as images."),
]


def read_images(attached: list[Path] | None, folder: Path | None) -> Images | None:
    """What is given for the images of a request; None where nothing is."""
    if not attached and folder is None:
        return None
    from katapi.runtime.images.given import Images

    return Images(attached=[_read(file) for file in attached or ()], folder=folder)


def read_images_of(attached: list[str] | None, folder: Path | None, requests: Sequence[str]) -> list[Images | None]:
    """What is given for the images of each of several requests, which have these names; that of one can be left out."""
    files: dict[str, list[Path]] = {name: [] for name in requests}
    for text in attached or ():
        name = max((name for name in files if text.startswith(f"{name}=")), key=len, default=None)
        if name is not None:
            files[name].append(Path(text[len(name) + 1 :]))
        elif len(requests) == 1:
            files[requests[0]].append(Path(text))
        else:
            message = f"{text!r} says of none of the {len(requests)} requests: write REQUEST=FILE, as in"
            raise typer.BadParameter(f"{message} {next(iter(files), 'one.json')}={text}", param_hint="--image")
    return [read_images(files[name], folder) for name in requests]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="--image") from None
