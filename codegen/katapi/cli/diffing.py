"""Commands on the executions of others: diff, and foreign, which makes packs of what other systems expose."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.models import load_model, read_request, write_file
from katapi.cli.packs import read_pack_file
from katapi.cli.terminal import print_table, visible, write_json
from katapi.divergence.plain import numbers
from katapi.runtime.errors import KatapiError, ReplayError
from katapi.runtime.stages import Stage

if TYPE_CHECKING:
    from katapi.divergence.compare import Diff
    from katapi.divergence.difference import Difference
    from katapi.packs.pack import Pack

_TOKENS = 12
"""How many tokens in front of one that differs are shown as text."""

PackFile = Annotated[
    Path, typer.Argument(metavar="PACK", exists=True, dir_okay=False, help="What `katapi record` or `foreign` wrote.")
]


class Known(StrEnum):
    """What is known of the execution of another system."""

    TEXT = "text"
    IDS = "ids"
    VLLM = "vllm"
    TRANSFORMERS = "transformers"


def diff(
    first: PackFile,
    second: PackFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print all stages as JSON.")] = False,
) -> None:
    """Tell at which stage two executions part, what the smallest difference there is, and what it led to."""
    from katapi.divergence.compare import diff as compared
    from katapi.divergence.words import in_words

    packs = read_pack_file(first), read_pack_file(second)
    found = compared(*packs)
    if as_json:
        write_json(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        names = first.name, second.name
        called = names if names[0] != names[1] else (str(first), str(second))
        for line in in_words(found, called, *_tokens(packs, found)):
            print(visible(line))
        _show(found)
    if not found.same:
        raise typer.Exit(1)


def foreign(
    known: Annotated[
        Known,
        typer.Argument(
            metavar="text|ids|vllm|transformers",
            help="What FILE is: a rendered text, ids, a reply of vLLM, or a request for transformers.",
        ),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Standard input if `-`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The pack to write: NAME.pack.")],
    model: Annotated[
        str, typer.Option(help="The model as `katapi models` names it; then `diff` and `inspect` show ids as text.")
    ] = "",
    source: Annotated[str | None, typer.Option(help="The name of the system that ran; not with transformers.")] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The tokenizer that transformers is to load.")
    ] = None,
) -> None:
    """Write what is known of an execution of another system as a pack, for `katapi diff`.

    Ids are a list in JSON, or numbers with white space or commas between; of a reply that holds more, the list alone. A
    reply of vLLM is that of /tokenize, or an answer asked for with return_token_ids.

    A request for transformers is JSON with messages, tools, and other arguments of apply_chat_template. The installed
    transformers runs it with the tokenizer in a folder, and fetches nothing.
    """
    from katapi.packs.writing import pack_bytes

    if (tokenizer is None) == (known is Known.TRANSFORMERS):
        raise typer.BadParameter("transformers needs a tokenizer, and nothing else does", param_hint="--tokenizer")
    write_file(pack_bytes(_foreign(known, read_request(file), model, source, tokenizer)), output)


def _foreign(known: Known, data: bytes, model: str, source: str | None, tokenizer: Path | None) -> Pack:
    from katapi.foreign import of_folder, of_ids, of_text, of_vllm

    if tokenizer is not None:
        return of_folder(tokenizer, data, model=model)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ReplayError("it is not UTF-8", code="Y122", where=f"byte {error.start}") from None
    match known:
        case Known.TEXT:
            return of_text(text, model=model, source=source or "a rendered text")
        case Known.VLLM:
            return of_vllm(data, model=model, source=source or "vLLM")
        case Known.IDS:
            return of_ids(parse_ids(text), model=model, source=source or "token ids")
        case Known.TRANSFORMERS:
            raise AssertionError("it has a tokenizer")


def parse_ids(text: str) -> list[int]:
    """The ids of a list in JSON, or of numbers with white space or commas between.

    Raises `ReplayError` Y122 for any other text.
    """
    bare = text.strip()
    listed = bare[1:-1] if bare[:1] == "[" and bare[-1:] == "]" else bare
    words = listed.replace(",", " ").split()
    for number in words:
        if not (number.isascii() and number.isdecimal()) or len(number) > len(str(2**63)):
            raise ReplayError(f"{number[:20]!r} is no token id", code="Y122", help="pass numbers, or a list in JSON")
    return [int(number) for number in words]


def _tokens(packs: tuple[Pack, Pack], found: Diff) -> tuple[tuple[str, str] | None, str]:
    """What stands in both and what is in front of it, ids with their text, where a model is at hand."""
    first = found.first
    if first is None or first.difference is None or first.stage is not Stage.IDS:
        return None, ""
    difference = first.difference
    if difference.kind.name not in ("TOKEN", "MISSING"):
        return None, ""
    known = [name for name in found.models if name]
    models = (found.models if len(known) == 2 else known * 2) or ("", "")
    one, other = map(_with_text, (difference.first, difference.second), models)
    return (one, other), _before(packs, int(difference.where.split()[1]))


def _with_text(said: str, model: str) -> str:
    """An id with its text behind it: `198 "\\n" and 2 more`."""
    id, space, more = said.partition(" ")
    return f"{id} {_token(int(id), model)}".rstrip() + space + more if id else ""


def _before(packs: tuple[Pack, Pack], at: int) -> str:
    """The text in front of a token; empty where no model of one of them is at hand, or ids are redacted."""
    for pack in packs:
        ids = numbers(pack.stages[Stage.IDS]["input_ids"])[max(0, at - _TOKENS) : at]
        if pack.model and ids and min(ids) >= 0:
            try:
                text = load_model(pack.model).decode_text(ids)
            except KatapiError:
                continue
            return json.dumps(("…" if at > _TOKENS else "") + text, ensure_ascii=False)
    return ""


def _token(id: int, model: str) -> str:
    """A token as text in quotes; empty where there is no such model or token."""
    try:
        return json.dumps(load_model(model).decode_text([id]), ensure_ascii=False)
    except KatapiError:
        return ""


def _show(found: Diff) -> None:
    """A row for each stage."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("stage", "", "difference", "where"):
        table.add_column(heading, no_wrap=True)
    for each in found.stages:
        table.add_row(each.stage.value, each.same.value, *_cells(each.difference))
    print()
    print_table(table)


def _cells(difference: Difference | None) -> tuple[str, str]:
    """What a difference is, and its place or, of an error, what was said."""
    if difference is None:
        return "", ""
    said = difference.where or difference.first or difference.second
    return difference.kind.value, visible(said)
