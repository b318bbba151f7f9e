"""The command `batch`: several requests as the arrays that a model receives at once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.models import ModelName, Params, load_model, read_params, read_request, write_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from katapi.runtime.json_types import Json
    from katapi.runtime.model import Model
    from katapi.runtime.model_input import ModelInput
    from katapi.runtime.request_model import RequestModel


class Form(StrEnum):
    """How several inputs stand together."""

    LEFT = "left"
    RIGHT = "right"
    PACKED = "packed"


def batch(
    model: ModelName,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Requests in JSON, one a file; one a line in `.jsonl` and on standard input, `-`."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The npz file to write.")],
    form: Annotated[Form, typer.Option("--padding", help="Where short rows are filled up; or one row without.")] = (
        Form.LEFT
    ),
    multiple: Annotated[
        int | None, typer.Option("--pad-to-multiple-of", min=1, help="Make the rows as long as a multiple of this.")
    ] = None,
    pad_id: Annotated[int | None, typer.Option(min=0, help="What fills; by default what the vocabulary names.")] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="The rows of the model's embedding: an id beyond them is an error.")
    ] = None,
    param: Params = None,
    policy: Annotated[str | None, typer.Option(help="A budget of the spec.")] = None,
) -> None:
    """Turn several requests into one batch: ids, mask, positions, labels and lengths in an npz file."""
    if form is Form.PACKED and (multiple, pad_id) != (None, None):
        raise typer.BadParameter("a packed row has no padding", param_hint="--padding")
    import katapi

    loaded, params = load_model(model), read_params(param)
    inputs = [_assembled(loaded, raw, place, policy, params) for file in files for raw, place in _requests(file)]
    if form is Form.PACKED:
        row = katapi.pack(inputs)
        if rows is not None:
            row.check_rows(rows)
        arrays = {"cu_seqlens": row.cu_seqlens}
        found = row
    else:
        ...
    write_file(_npz(arrays), output)
