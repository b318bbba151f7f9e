"""Commands on the executions of others: diff, and foreign, which makes packs of what other systems expose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.models import load_model, read_request, write_file
from katapi.cli.terminal import cells, print_table, visible, write_json
from katapi.runtime.errors import KatapiError, ReplayError

if TYPE_CHECKING:
    from katapi.divergence.compare import Diff
    from katapi.divergence.difference import Difference, Excerpt
    from katapi.packs.pack import Pack

_SHOWN = 60
"""How many characters of a text stand on a line."""

_FEW = 3
"""How many rows of table 1.10 are told where it can be more than one."""

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
    from katapi.packs.reading import read_pack

    found = compared(read_pack(first), read_pack(second))
    if as_json:
        write_json(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        names = first.name, second.name
        for line in _lines(names if names[0] != names[1] else (str(first), str(second)), found):
            print(visible(line))
        _show(found)
    if not found.same:
        raise typer.Exit(1)


def foreign(
    known: Annotated[
        Known,
        typer.Argument(help="What FILE is: a rendered text, ids, a reply of vLLM, or a request for transformers."),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Standard input if `-`.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The pack to write.")] = None,
    model: Annotated[str, typer.Option(help="The name of the model, where it is known.")] = "",
    source: Annotated[str | None, typer.Option(help="The name of the system that ran; not with transformers.")] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The tokenizer that transformers is to load.")
    ] = None,
) -> None:
    """Write what is known of an execution of another system as a pack, for `katapi diff`.

    Ids are a list in JSON, or numbers with white space or commas between. A reply of vLLM is that of /tokenize, or an
    answer asked for with return_token_ids.

    A request for transformers is JSON with messages, tools, and other arguments of apply_chat_template. The installed
    transformers runs it with the tokenizer in a folder, and fetches nothing.
    """
    from katapi.packs.writing import pack_bytes

    if output is None:
        raise typer.BadParameter("a pack needs a name", param_hint="--output")
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
    numbers = listed.replace(",", " ").split()
    for number in numbers:
        if not (number.isascii() and number.isdecimal()) or len(number) > len(str(2**63)):
            raise ReplayError(f"{number[:20]!r} is no token id", code="Y122", help="pass numbers, or a list in JSON")
    return [int(number) for number in numbers]


def _lines(names: tuple[str, str], found: Diff) -> Iterator[str]:
    """What is said above the table."""
    first = found.first
    if first is None:
        known = [each for each in found.stages if each.same.value == "same"]
        yield f"{names[0]} and {names[1]} agree" + ("" if known else ": but no stage is known of both")
        return
    assert first.difference is not None
    texts = _texts(found, first.difference)
    yield f"{names[0]} and {names[1]} part at the stage {first.stage.value}: {first.difference.kind.value}"
    yield from _place(names, first.difference, texts)
    if found.unknown and found.between is not None:
        after = found.between[0]
        unknown = ", ".join(stage.value for stage in found.unknown)
        yield f"  it arises {f'after {after.value}' if after else 'at the latest there'}; unknown before it: {unknown}"
    if found.failure is not None:
        so_far = ", for all that is known" if found.unknown else ""
        yield f"  table 1.10{so_far}: {found.failure.value}"
    elif 0 < len(found.possible) <= _FEW:
        yield f"  table 1.10, one of: {'; '.join(failure.value for failure in found.possible)}"
    for name, old, new in found.versions:
        yield f"  {name} {old} in the first, {new} in the second"


def _texts(found: Diff, difference: Difference) -> tuple[str, str]:
    """What stands in both; tokens also as text, where the model of one of them is at hand."""
    shown = difference.first, difference.second
    if difference.kind.name != "TOKEN":
        return shown
    known = [name for name in found.models if name]
    first, second = (
        f"{id} {_token(int(id), model)}".rstrip()
        for id, model in zip(shown, (found.models if len(known) == 2 else known * 2) or ("", ""), strict=True)
    )
    return first, second


def _token(id: int, model: str) -> str:
    """A token as text in quotes; empty where there is no such model or token."""
    try:
        return json.dumps(load_model(model).decode_text([id]), ensure_ascii=False)
    except KatapiError:
        return ""


def _place(names: tuple[str, str], difference: Difference, shown: tuple[str, str]) -> Iterator[str]:
    """The place, and what stands there in both."""
    width = max(map(cells, names))
    if difference.where:
        yield f"  {'':{width}}--> {difference.where}"
    for side, name in enumerate(names):
        label = f"  {name}{' ' * (width - cells(name))} | "
        if difference.excerpts is None:
            yield f"{label}{shown[side] or 'nothing'}"
        else:
            before, marked, after = _window(difference.excerpts[side])
            yield f"{label}{before}{marked}{after}"
            carets = "^" * max(1, cells(marked))
            yield f"  {'':{width}} | {' ' * cells(before)}{carets} {shown[side] or 'nothing'}"


def _window(excerpt: Excerpt) -> tuple[str, str, str]:
    """A place on one line: before, at and behind it; what does not print stands as an escape."""
    text, start, end = excerpt
    first, last = max(0, start - _SHOWN // 3), min(len(text), end + _SHOWN // 3)
    before = ("…" if first else "") + _printable(text[first:start])
    return before, _printable(text[start:end]), _printable(text[end:last]) + ("…" if last < len(text) else "")


def _printable(text: str) -> str:
    return "".join(
        c if c.isprintable() or c == "\N{REPLACEMENT CHARACTER}" else c.encode("unicode_escape").decode() for c in text
    )


def _show(found: Diff) -> None:
    """A row for each stage."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("stage", "", "first difference", "where"):
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
