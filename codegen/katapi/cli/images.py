"""Options of commands for the images of a request."""

from __future__ import annotations

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


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="--image") from None
