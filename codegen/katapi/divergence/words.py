"""Where two executions part, in words: what `katapi diff` prints above its table, and `str` of a `Diff` gives."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from katapi.divergence.difference import Difference, Excerpt, Kind
from katapi.runtime.stages import Stage

if TYPE_CHECKING:
    from katapi.divergence.compare import Diff

_SHOWN: Final = 60
"""How many characters of a text stand on a line."""

_FEW: Final = 3
"""How many rows of table 1.10 are told where it can be more than one."""


def in_words(
    found: Diff, names: tuple[str, str] = ("first", "second"), shown: tuple[str, str] | None = None, behind: str = ""
) -> Iterator[str]:
    """The first difference in lines of text, with what is known of its cause.

    `names` is what the two executions are called, `shown` what stands in both, where that is not what the difference
    says, and `behind` a text in front of it.
    """
    first = found.first
    if first is None or first.difference is None:
        yield from _alike(found, names)
        return
    difference = first.difference
    yield f"{names[0]} and {names[1]} part at the stage {first.stage.value}: {difference.kind.value}"
    yield from _place(names, difference, shown or (difference.first, difference.second))
    if behind:
        yield f"  behind {behind}"
    if first.stage is Stage.BYTES and difference.excerpts is None:
        yield from _in_the_request(found, difference)
    if difference.kind is not Kind.ERROR:
        yield from _ended(names, found)
    if all(found.models) and found.models[0] != found.models[1]:
        yield f"  {names[0]} is of the model {found.models[0]}, {names[1]} of {found.models[1]}"
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
    said = {each.stage: each.same.value for each in found.stages}
    if said[Stage.IDS] == "same" and said[Stage.TENSORS] != "different":
        also = ", mask and positions" if said[Stage.TENSORS] == "same" else ""
        beside = " beside the images" if said[Stage.IMAGES] == "different" else ""
        yield f"  what the model received{beside} is the same: ids{also}"
    for name, old, new in found.versions:
        yield f"  {name} {old} in {names[0]}, {new} in {names[1]}"


def _alike(found: Diff, names: tuple[str, str]) -> Iterator[str]:
    """What is said where no stage is known to be different."""
    same, unknown = (
        ", ".join(each.stage.value for each in found.stages if each.same.value == value)
        for value in ("same", "unknown")
    )
    if not same:
        yield f"{names[0]} and {names[1]} agree: but no stage is known of both"
    elif unknown:
        yield f"{names[0]} and {names[1]} agree in all that is known of both: {same}"
        yield f"  not known of both: {unknown}"
    else:
        yield f"{names[0]} and {names[1]} agree"


def _in_the_request(found: Diff, difference: Difference) -> Iterator[str]:
    """Where the request differs, of bytes of which no place is told, as redacted ones."""
    request = next((each.difference for each in found.consequences if each.stage is Stage.REQUEST), None)
    if request is not None and request.kind is not Kind.ERROR and request.where not in ("", difference.where):
        yield f"  in the request: {request.kind.value} at {request.where}"


def _ended(names: tuple[str, str], found: Diff) -> Iterator[str]:
    """The error behind the first difference with which one of the two ended, or both."""
    for each in found.consequences:
        if each.difference is not None and each.difference.kind is Kind.ERROR:
            for name, said in zip(names, (each.difference.first, each.difference.second), strict=True):
                if said:
                    yield f"  {name} ended at the stage {each.stage.value}: {said}"
            return


def _place(names: tuple[str, str], difference: Difference, shown: tuple[str, str]) -> Iterator[str]:
    """The place, and what stands there in both."""
    lacking = "came further" if difference.kind is Kind.ERROR else "nothing"
    width = max(map(_columns, names))
    if difference.where:
        yield f"  {'':{width}}--> {difference.where}"
    for side, name in enumerate(names):
        label = f"  {name}{' ' * (width - _columns(name))} | "
        if difference.excerpts is None:
            yield f"{label}{shown[side] or lacking}"
        else:
            before, marked, after = _window(difference.excerpts[side])
            yield f"{label}{before}{marked}{after}"
            carets = "^" * max(1, _columns(marked))
            yield f"  {'':{width}} | {' ' * _columns(before)}{carets} {shown[side] or lacking}"


def _window(excerpt: Excerpt) -> tuple[str, str, str]:
    """A place on one line: before, at and behind it; what does not print stands as an escape."""
    text, start, end = excerpt
    first, last = max(0, start - _SHOWN // 3), min(len(text), end + _SHOWN // 3)
    before = ("…" if first else "") + _printable(text[first:start])
    if end - start > _SHOWN:
        return before, _printable(text[start : start + _SHOWN]), "…"
    return before, _printable(text[start:end]), _printable(text[end:last]) + ("…" if last < len(text) else "")


def _printable(text: str) -> str:
    return "".join(
        c if c.isprintable() or c == "\N{REPLACEMENT CHARACTER}" else c.encode("unicode_escape").decode() for c in text
    )


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
