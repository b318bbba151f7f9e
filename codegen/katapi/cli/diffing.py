"""Commands on the executions of others: diff, and foreign, which makes packs of what other systems expose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katapi.cli.models import load_model, read_request, write_file
from katapi.cli.packs import read_pack_file
from katapi.cli.terminal import cells, print_table, visible, write_json
from katapi.divergence.plain import items
from katapi.runtime.errors import KatapiError, ReplayError
from katapi.runtime.stages import Stage

if TYPE_CHECKING:
    from katapi.divergence.compare import Diff
    from katapi.divergence.difference import Difference, Excerpt
    from katapi.packs.pack import Pack

_SHOWN = 60
"""How many characters of a text stand on a line."""

_FEW = 3
"""How many rows of table 1.10 are told where it can be more than one."""

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


def diff(
    first: PackFile,
    second: PackFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print all stages as JSON.")] = False,
) -> None:
    """Tell at which stage two executions part, what the smallest difference there is, and what it led to."""
    from katapi.divergence.compare import diff as compared

    packs = read_pack_file(first), read_pack_file(second)
    found = compared(*packs)
    if as_json:
        write_json(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        names = first.name, second.name
        for line in _lines(names if names[0] != names[1] else (str(first), str(second)), packs, found):
            print(visible(line))
        _show(found)
    if not found.same:
        raise typer.Exit(1)


def foreign(
    known: Annotated[
        Known,
        typer.Argument(
            metavar="text|ids|vllm", help="What FILE is: a rendered text, ids, or a reply of vLLM's /tokenize."
        ),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Standard input if `-`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The pack to write: NAME.pack.")],
    model: Annotated[
        str, typer.Option(help="The model as `katapi models` names it; then `diff` and `inspect` show ids as text.")
    ] = "",
    source: Annotated[str | None, typer.Option(help="The name of the system that ran.")] = None,
) -> None:
    """Write what is known of an execution of another system as a pack, for `katapi diff`.

    Ids are a list in JSON, or numbers with white space or commas between; of a reply that holds more, the list alone.

    A pack of what transformers gives is made in Python: katapi.foreign.of_transformers.
    """
    from katapi.packs.writing import pack_bytes

    write_file(pack_bytes(_foreign(known, read_request(file), model, source)), output)


def _foreign(known: Known, data: bytes, model: str, source: str | None) -> Pack:
    from katapi.foreign import of_ids, of_text, of_vllm

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


def parse_ids(text: str) -> list[int]:
    """The ids of a list in JSON, or of numbers with white space or commas between.

    Raises `ReplayError` Y122 for any other text.
    """
    numbers = text.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    for number in numbers:
        if not number.isdecimal() or len(number) > len(str(2**63)):
            raise ReplayError(f"{number[:20]!r} is no token id", code="Y122", help="pass numbers, or a list in JSON")
    return [int(number) for number in numbers]


def _lines(names: tuple[str, str], packs: tuple[Pack, Pack], found: Diff) -> Iterator[str]:
    """What is said above the table."""
    first = found.first
    if first is None:
        known = _named(found, "same")
        unknown = _named(found, "unknown")
        if not known:
            yield f"{names[0]} and {names[1]} agree: but no stage is known of both"
        elif unknown:
            yield f"{names[0]} and {names[1]} agree in all that is known of both: {known}"
            yield f"  not known of both: {unknown}"
        else:
            yield f"{names[0]} and {names[1]} agree"
        return
    assert first.difference is not None
    texts = _texts(found, first.difference)
    yield f"{names[0]} and {names[1]} part at the stage {first.stage.value}: {first.difference.kind.value}"
    yield from _place(names, first.difference, texts)
    if first.stage.value == "ids":
        yield from _before(packs, first.difference)
    yield from _ended(names, found)
    if found.unknown and found.between is not None:
        after = found.between[0]
        unknown = ", ".join(stage.value for stage in found.unknown)
        yield f"  it may have arisen before{f', behind {after.value}' if after else ''}; not known of both: {unknown}"
    for each in found.spelled:
        text, token = names[each.text_in], names[1 - each.text_in]
        yield f"  {each.where} spells {each.token}: text in {text}; {token} has {each.more} more of that token"
    if found.failure is not None:
        so_far = ", for all that is known" if found.unknown else ""
        yield f"  failure of table 1.10{so_far}: {found.failure.value}"
    elif 0 < len(found.possible) <= _FEW:
        yield f"  failure of table 1.10, perhaps: {'; or '.join(failure.value for failure in found.possible)}"
    received = {each.stage.value: each.same.value for each in found.stages}
    if received["ids"] == "same" and received["tensors"] != "different":
        also = ", mask and positions" if received["tensors"] == "same" else ""
        yield f"  what the model received is the same: ids{also}"
    for name, old, new in found.versions:
        yield f"  {name} {old} in {names[0]}, {new} in {names[1]}"


def _named(found: Diff, same: str) -> str:
    """The stages of which this is known."""
    return ", ".join(each.stage.value for each in found.stages if each.same.value == same)


def _ended(names: tuple[str, str], found: Diff) -> Iterator[str]:
    """The error behind the first difference with which one of the two ended, or both."""
    errors = (
        each for each in found.consequences if each.difference is not None and each.difference.kind.name == "ERROR"
    )
    first = next(errors, None)
    if first is None or first.difference is None:
        return
    for name, said in zip(names, (first.difference.first, first.difference.second), strict=True):
        if said:
            yield f"  {name} ended at the stage {first.stage.value}: {said}"


def _texts(found: Diff, difference: Difference) -> tuple[str, str]:
    """What stands in both; tokens also as text, where the model of one of them is at hand."""
    shown = difference.first, difference.second
    at_ids = found.first is not None and found.first.stage.value == "ids"
    if not at_ids or difference.kind.name not in ("TOKEN", "MISSING"):
        return shown
    known = [name for name in found.models if name]
    first, second = (
        _with_text(said, model)
        for said, model in zip(shown, (found.models if len(known) == 2 else known * 2) or ("", ""), strict=True)
    )
    return first, second


def _with_text(said: str, model: str) -> str:
    """An id with its text behind it: `198 "\\n" and 2 more`."""
    id, space, more = said.partition(" ")
    return f"{id} {_token(int(id), model)}".rstrip() + space + more if id else ""


def _before(packs: tuple[Pack, Pack], difference: Difference) -> Iterator[str]:
    """The text in front of a token, where the model of one of them is at hand and its ids are not redacted."""
    at = int(difference.where.split()[1])
    for pack in packs:
        ids = [
            id for id in items(pack.stages[Stage.IDS]["input_ids"])[max(0, at - _TOKENS) : at] if isinstance(id, int)
        ]
        if pack.model and ids and min(ids) >= 0:
            try:
                text = load_model(pack.model).decode_text(ids)
            except KatapiError:
                continue
            yield f"  behind {json.dumps(('…' if at > _TOKENS else '') + text, ensure_ascii=False)}"
            return


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
