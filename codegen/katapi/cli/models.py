"""Commands on models: models, assemble, render, tokenize, detokenize, parse."""

from __future__ import annotations

import io
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.images import Attached, Folder, read_images
from katapi.cli.terminal import write_json, write_text
from katapi.files import write_whole

if TYPE_CHECKING:
    from katapi.runtime.declared_tokenizer import DeclaredTokenizer
    from katapi.runtime.json_types import Json
    from katapi.runtime.model import Model
    from katapi.runtime.model_input import ModelInput
    from katapi.runtime.request_model import RequestModel

_MOST_DIGITS = 18
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="A name that `katapi models` lists.")]
RequestFile = Annotated[str, typer.Argument(metavar="FILE", help="A request in JSON; standard input if `-`.")]
Policy = Annotated[str | None, typer.Option(help="A budget that `katapi models MODEL` lists.")]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="KEY=VALUE",
        help="A key of the request, its value in JSON or as plain text, in place of that of the file. "
        "The record's `request_sha256` is null where one is given.",
    ),
]
Color = Annotated[bool, typer.Option("--color", help="Show each stretch in the colour of its origin.")]


class Format(StrEnum):
    """What `assemble` writes."""

    JSON = "json"
    NPZ = "npz"


def load_model(name: str) -> Model[RequestModel]:
    """The model of a name, out of the project at hand or an installed package."""
    import katapi

    return katapi.load(name, _package_of(name))


def _load_tokenizer(name: str) -> DeclaredTokenizer:
    """The model or tokenizer of a name, out of the project at hand or an installed package."""
    import katapi

    return katapi.load_tokenizer(name, _package_of(name))


def _package_of(name: str) -> str | None:
    """The package of the project at hand where it has the name, else that of no project."""
    import katapi

    package = _project_package()
    return package if package is not None and name in {*katapi.models(package), *katapi.tokenizers(package)} else None


def _project_package() -> str | None:
    """The package of the project that the command runs in, put on the import path; None outside of a project."""
    from katapi.project import project_at

    project = project_at(Path.cwd())
    if project is None or not (project.generated / project.package).is_dir():
        return None
    if str(project.generated) not in sys.path:
        sys.path.insert(0, str(project.generated))
    return project.package


def read_request(file: str) -> bytes:
    """The bytes of a file, or those of standard input for `-`."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="FILE") from None


def read_params(params: list[str] | None) -> dict[str, Json]:
    """The keys of the request that `--param` gives."""
    values: dict[str, Json] = {}
    for param in params or ():
        key, sign, text = param.partition("=")
        if not sign or not key:
            raise typer.BadParameter(f"{param!r} is not KEY=VALUE", param_hint="--param")
        if key in values:
            raise typer.BadParameter(f"{key!r} is given twice", param_hint="--param")
        values[key] = _param_value(key, text)
    return values


def _param_value(key: str, text: str) -> Json:
    """JSON where it is that, else a plain text; what begins as a list, an object or a string is not taken for one."""
    from katapi.runtime.errors import RequestError
    from katapi.runtime.strict_json import MAX_DEPTH, parse_json

    try:
        return parse_json(text, max_depth=MAX_DEPTH)
    except RequestError as error:
        if text.lstrip().startswith(("{", "[", '"')):
            raise typer.BadParameter(f"{key}: {error.message} (at {error.where})", param_hint="--param") from None
        return text


class Listing(StrEnum):
    """How `models` lists."""

    TABLE = "table"
    JSON = "json"


def models(
    name: Annotated[str | None, typer.Argument(metavar="MODEL", help="One model, in full.")] = None,
    format: Annotated[Listing, typer.Option(help="How to list them; of one model, json is its row.")] = Listing.TABLE,
) -> None:
    """List the models and tokenizers and which form of the engine runs, or show what one of them declares."""
    import katapi
    from katapi.cli.show import model_details, model_row, model_table

    if name is not None and format is Listing.JSON:
        write_json(json.dumps(model_row(_load_tokenizer(name)), ensure_ascii=False))
        return
    if name is not None:
        model_details(_load_tokenizer(name))
        return
    packages = [None, *([package] if (package := _project_package()) is not None else [])]
    names = {name for package in packages for name in (*katapi.models(package), *katapi.tokenizers(package))}
    found = [_load_tokenizer(name) for name in sorted(names)]
    if format is Listing.JSON:
        write_json(json.dumps([*map(model_row, found)], ensure_ascii=False))
    else:
        model_table(found)


def images(name: Annotated[str | None, typer.Argument(metavar="IMAGE", help="One pipeline, in full.")] = None) -> None:
    """List the image pipelines, or show what one of them declares."""
    import katapi
    from katapi.cli.show import image_details, image_table

    packages = [None, *([package] if (package := _project_package()) is not None else [])]
    owners = {one: package for package in reversed(packages) for one in katapi.image_pipelines(package)}
    if name is not None:
        image_details(katapi.image_pipeline(name, package=owners.get(name)))
        return
    image_table([katapi.image_pipeline(one, package=owners[one]) for one in sorted(owners)])


def assemble(
    model: ModelName,
    file: RequestFile = "-",
    param: Params = None,
    policy: Policy = None,
    image: Attached = None,
    image_folder: Folder = None,
    format: Annotated[Format, typer.Option(help="What to write.")] = Format.JSON,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write; npz needs it.")] = None,
    color: Color = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what the policy decided, as a table.")] = False,
) -> None:
    """Turn a request into what the model receives: ids, mask, positions, and where each token came from."""
    if explain and policy is None:
        raise typer.BadParameter("shows what a policy decided; name one with --policy", param_hint="--explain")
    loaded = load_model(model)
    images = read_images(image, image_folder)
    result = loaded.assemble(read_request(file), policy, params=read_params(param), images=images)
    if explain:
        from katapi.cli.explain import explain as show

        show(result)
        if output is None:
            return
    if color and (output is not None or format is not Format.JSON):
        raise typer.BadParameter("shows tokens on the terminal, not in a file", param_hint="--color")
    if color:
        from katapi.cli.show import colored_tokens

        colored_tokens(loaded, result)
    elif format is Format.NPZ:
        if output is None:
            raise typer.BadParameter("an npz file needs a name", param_hint="--output")
        write_file(_npz(result), output)
    elif output is None:
        write_json(json.dumps(_as_json(result), ensure_ascii=False))
    else:
        write_file((json.dumps(_as_json(result), ensure_ascii=False) + "\n").encode(), output)


def _as_json(result: ModelInput) -> dict[str, object]:
    return {
        "input_ids": result.input_ids.tolist(),
        "attention_mask": result.attention_mask.tolist(),
        "position_ids": result.position_ids.tolist(),
        "text": result.text,
        "sampled": result.sampled.tolist(),
        "origins": result.origins.ranges.tolist(),
        "images": [{"path": list(one.path), "tokens": list(one.span)} for one in result.images],
        "videos": [{"path": list(one.path), "tokens": list(one.span)} for one in result.videos],
        "record": result.record.to_json(),
    }


def write_file(data: bytes, output: Path) -> None:
    """To a file through a temporary one, so that it is whole or not there; to a device or pipe as it is."""
    try:
        if output.exists() and not output.is_file():
            with output.open("wb") as file:
                file.write(data)
            return
        write_whole(output.resolve(), data)
    except OSError as error:
        raise typer.BadParameter(f"{output} cannot be written: {error.strerror}", param_hint="--output") from None


def _npz(result: ModelInput) -> bytes:
    import numpy as np

    file = io.BytesIO()
    np.savez(
        file,
        input_ids=result.input_ids,
        attention_mask=result.attention_mask,
        position_ids=result.position_ids,
        sampled=result.sampled,
        origins=result.origins.ranges,
        allow_pickle=False,
        **result.pixel_inputs(),
    )
    return file.getvalue()


def render(model: ModelName, file: RequestFile = "-", param: Params = None, color: Color = False) -> None:
    """Print the rendered string of a request."""
    loaded = load_model(model)
    rendered = loaded.render(loaded.decode_request(read_request(file), read_params(param)))
    if color:
        from katapi.cli.show import colored_segments

        colored_segments(rendered)
    else:
        write_text(rendered.text)


def tokenize(
    model: ModelName,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The text; standard input if none.")] = None,
) -> None:
    """Print the ids of a text as content: no spelling of a control token gives its id."""
    loaded = _load_tokenizer(model)
    ids = loaded.encode(sys.stdin.buffer.read() if text is None else text)
    typer.echo(" ".join(map(str, ids)))


def detokenize(
    model: ModelName,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="The ids; standard input if none.")] = None,
) -> None:
    """Print the text that ids stand for."""
    loaded = _load_tokenizer(model)
    write_text(loaded.decode_text(_numbers(ids)))


def parse(
    model: ModelName,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="What was sampled; standard input if none.")
    ] = None,
    request: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The request that it answers; its tools say what values are."),
    ] = None,
    param: Params = None,
) -> None:
    """Take a reply apart: content, reasoning, calls of tools."""
    loaded = load_model(model)
    prompt = None if request is None else loaded.assemble(read_request(request), params=read_params(param))
    reply = loaded.parse(_numbers(ids), prompt)
    faults = [fault._asdict() for fault in reply.faults]
    shown = {"message": reply.message, "complete": reply.complete, "faults": faults}
    write_json(json.dumps(shown, ensure_ascii=False))


def _numbers(ids: list[str] | None) -> list[int]:
    """The ids in words, or on standard input."""
    written = sys.stdin.read() if ids is None else " ".join(ids)
    numbers: list[int] = []
    for word in written.replace(",", " ").strip("[] \n").split():
        if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
            shown = word if len(word) <= 40 else f"{word[:40]}…"
            raise typer.BadParameter(f"{shown!r} is no id; write numbers with spaces between", param_hint="ID")
        numbers.append(int(word))
    return numbers
