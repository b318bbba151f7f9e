"""`katapi inspect`: a request, a pack, or two packs side by side, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.images import Attached, Folder, read_images
from katapi.cli.models import Params, load_model, read_params, read_request, write_file
from katapi.cli.packs import read_pack_file
from katapi.runtime.errors import KatapiError

if TYPE_CHECKING:
    from katapi.inspecting.view import View
    from katapi.runtime.images.given import Images
    from katapi.runtime.model import Model
    from katapi.runtime.request_model import RequestModel

_PACK = ".pack"


def inspect(
    subject: Annotated[
        str,
        typer.Argument(metavar="MODEL|PACK", help="A name that `katapi models` lists; or a pack: a file named *.pack."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|PACK",
            help="After a model a request in JSON, standard input if `-` or none; after a pack the one to compare.",
        ),
    ] = None,
    param: Params = None,
    policy: Annotated[
        str | None, typer.Option(help="A budget that `katapi models MODEL` lists; not with packs.")
    ] = None,
    image: Attached = None,
    image_folder: Folder = None,
) -> None:
    """Write a page that shows an execution: its stages, messages, tokens and where each came from.

    With `MODEL FILE` a request on its way to the model; with `x.pack` an execution that was recorded.

    With `a.pack b.pack` two of them side by side, where they part first. What ends in .pack is a pack.
    """
    from katapi.inspecting.document import page

    if subject.endswith(_PACK):
        if param or policy is not None:
            raise typer.BadParameter("a pack has its parameters and its budget", param_hint="--param, --policy")
        if image or image_folder is not None:
            raise typer.BadParameter("a pack has its images", param_hint="--image, --image-folder")
        if file is not None and not file.endswith(_PACK):
            raise typer.BadParameter(f"beside a pack another pack is needed, a file named *{_PACK}", param_hint=file)
        view = _of_packs([subject] if file is None else [subject, file])
    elif file is not None and file.endswith(_PACK):
        raise typer.BadParameter(f"a pack names its model: `katapi inspect {file}`", param_hint=subject)
    elif file is None and Path(subject).is_file():
        raise typer.BadParameter(
            f"a request goes behind its model: `katapi inspect MODEL {subject}`; a pack is a file named *{_PACK}",
            param_hint=subject,
        )
    else:
        view = _of_request(subject, file or "-", param, policy, read_images(image, image_folder))
    write_file(page(view).encode(), output)


def _of_request(name: str, file: str, param: list[str] | None, policy: str | None, images: Images | None) -> View:
    from katapi.inspecting.from_input import view_of

    model = load_model(name)
    return view_of(model, model.assemble(read_request(file), policy, params=read_params(param), images=images))


def _of_packs(files: list[str]) -> View:
    from katapi.inspecting.from_diff import view_of_diff
    from katapi.inspecting.from_pack import view_of_pack

    packs = [read_pack_file(Path(file)) for file in files]
    models = {name: model for name in {pack.model for pack in packs} if (model := _at_hand(name)) is not None}
    if len(packs) == 1:
        return view_of_pack(packs[0], models.get(packs[0].model))
    names = [Path(file).name for file in files]
    one, other = names if names[0] != names[1] else files
    return view_of_diff((packs[0], packs[1]), models, (one, other))


def _at_hand(name: str) -> Model[RequestModel] | None:
    """The model of a name; None where it is not here, or its vocabulary was not fetched."""
    try:
        return load_model(name) if name else None
    except KatapiError:
        return None
