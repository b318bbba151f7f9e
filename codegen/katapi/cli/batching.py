"""The command `batch`: several requests as the arrays that a model receives at once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from katapi.cli.images import AttachedTo, Folder, read_images_of
from katapi.cli.models import ModelName, Params, Policy, load_model, read_params, read_request, write_file

if TYPE_CHECKING:
    from katapi.runtime.images.arrays import Array
    from katapi.runtime.images.given import Images
    from katapi.runtime.json_types import Json
    from katapi.runtime.model import Model
    from katapi.runtime.model_input import ModelInput
    from katapi.runtime.request_model import RequestModel
    from katapi.runtime.tensors.batch import Batch, Padding
    from katapi.runtime.tensors.packed import PackedBatch


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
    form: Annotated[
        Form,
        typer.Option("--padding", help="The side on which short rows are filled up, or all in one row."),
    ] = (Form.LEFT),
    multiple: Annotated[
        int | None, typer.Option("--pad-to-multiple-of", min=1, help="Make the rows as long as a multiple of this.")
    ] = None,
    pad_id: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, help="The id that fills; by default the one that the vocabulary names."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="The rows of the model's embedding: an id beyond them is an error.")
    ] = None,
    param: Params = None,
    policy: Policy = None,
    image: AttachedTo = None,
    image_folder: Folder = None,
) -> None:
    """Turn several requests into one batch: ids, mask, positions, labels and lengths in an npz file.

    A packed row has cu_seqlens, where its inputs begin and end, in place of the mask. What the model receives of images
    stands beside them.
    """
    if form is Form.PACKED and (multiple, pad_id) != (None, None):
        raise typer.BadParameter("a packed row has no padding", param_hint="--padding")
    import katapi

    loaded, params = load_model(model), read_params(param)
    requests = [request for file in files for request in _requests(file)]
    given = read_images_of(image, image_folder, [name for _, name in requests])
    inputs = [
        _assembled(loaded, raw, name, policy, params, images)
        for (raw, name), images in zip(requests, given, strict=True)
    ]
    made: Batch | PackedBatch
    arrays: dict[str, Array]
    match form:
        case Form.PACKED:
            made = katapi.pack(inputs)
            arrays = {"cu_seqlens": made.cu_seqlens}
        case Form.LEFT | Form.RIGHT:
            side: Padding = "left" if form is Form.LEFT else "right"
            made = katapi.batch(inputs, side, pad_to_multiple_of=multiple, pad_id=pad_id)
            arrays = {"attention_mask": made.attention_mask}
        case _:
            assert_never(form)
    if rows is not None:
        made.check_rows(rows)
    arrays["input_ids"] = made.input_ids
    arrays["position_ids"] = made.position_ids
    arrays["labels"] = made.labels
    arrays["lengths"] = made.lengths
    arrays |= made.pixel_inputs()
    write_file(_npz(arrays), output)


def _requests(file: str) -> Iterator[tuple[bytes, str]]:
    """The requests of a file, each with its name: that of the file, and behind it the number of the line."""
    raw = read_request(file)
    if file != "-" and not file.endswith(".jsonl"):
        yield raw, file
        return
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            yield line, f"{file}:{number}"


def _assembled(
    model: Model[RequestModel],
    raw: bytes,
    name: str,
    policy: str | None,
    params: dict[str, Json],
    images: Images | None,
) -> ModelInput:
    """One request as an input; an error names the file before the place in the request."""
    from katapi.runtime.errors import KatapiError

    try:
        return model.assemble(raw, policy, params=params, images=images)
    except KatapiError as error:
        place = f"standard input{name[1:]}" if name.startswith("-:") else name
        where = f"{place}, {error.where}" if error.where else place
        raise type(error)(error.message, code=error.code, where=where, help=error.help) from None


def _npz(arrays: dict[str, Array]) -> bytes:
    import numpy as np

    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()
