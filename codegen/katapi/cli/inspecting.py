"""`katapi inspect`: a request, from its bytes to what the model receives, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from katapi.cli.models import ModelName, Params, RequestFile, load_model, read_params, read_request, write_file


def inspect(
    model: ModelName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")],
    file: RequestFile = "-",
    param: Params = None,
    policy: Annotated[str | None, typer.Option(help="A budget of the spec.")] = None,
) -> None:
    """Write a page that shows a request on its way to the model: stages, messages, tokens and where each came from."""
    from katapi.inspecting.document import page
    from katapi.inspecting.from_input import view_of

    loaded = load_model(model)
    result = loaded.assemble(read_request(file), policy, params=read_params(param))
    write_file(page(view_of(loaded, result)).encode(), output)
