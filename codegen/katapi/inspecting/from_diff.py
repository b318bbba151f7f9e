"""Two packs as a view: both executions, and the first stage at which they part as `katapi.diff` names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import Final

from katapi.divergence.compare import Diff, Same, StageDiff, diff
from katapi.divergence.difference import Difference as Found
from katapi.divergence.difference import Kind
from katapi.divergence.plain import numbers
from katapi.inspecting.from_pack import execution_of_pack, versions
from katapi.inspecting.view import Difference, Execution, View
from katapi.packs.pack import Pack
from katapi.packs.redaction import HIDDEN
from katapi.runtime.model import Model
from katapi.runtime.record import ARRAYS
from katapi.runtime.request_model import RequestModel
from katapi.runtime.stages import Stage

_FEW: Final = 3
"""How many rows of table 1.10 are told where it can be more than one."""

_FURTHER: Final = "came further"
"""What is said of the one of two that an error did not end."""


def view_of_diff(
    packs: tuple[Pack, Pack], models: Mapping[str, Model[RequestModel]], names: tuple[str, str] = ("first", "second")
) -> View:
    """What a page shows of two packs: side by side, at the first token that the difference reaches.

    `models` are those at hand by their names, for the bytes of tokens; `names` is what the two are called.
    """
    found = diff(*packs)
    one, other = (
        execution_of_pack(pack, models.get(pack.model), name) for pack, name in zip(packs, names, strict=True)
    )
    first = found.first
    difference = None
    if first is not None and first.difference is not None:
        what = _sentence(first.difference, names)
        at = _of_text(first, one, other) or _first_tokens(packs, one, other)
        difference = Difference(first.stage.value, what, at, tuple(_follows(found, names)))
    return View(versions(packs[0].environment), one, other, difference, _alike(found))


def _sentence(found: Found, names: tuple[str, str]) -> str:
    """The smallest difference in a sentence."""
    place = f" at {found.where}" if found.where else ""
    if found.kind is Kind.ERROR:
        both = zip(names, (found.first, found.second), strict=True)
        return f"{found.kind.value}{place}: {'; '.join(f'{name} {said or _FURTHER}' for name, said in both)}"
    sides = "; ".join(
        f"{name} has {shown or 'nothing'}" for name, shown in zip(names, (found.first, found.second), strict=True)
    )
    return f"{found.kind.value}{place}: {sides}"


def _follows(found: Diff, names: tuple[str, str]) -> Iterator[str]:
    """Where it may have arisen, which row of table 1.10 it is, what it led to, and what of the versions is another."""
    if found.unknown:
        unknown = ", ".join(stage.value for stage in found.unknown)
        yield f"it may have arisen before; not known of both: {unknown}"
    for spelled in found.spelled:
        text, token = names[spelled.text_in], names[1 - spelled.text_in]
        yield f"{spelled.where} spells {spelled.token}: text in {text}; {token} has {spelled.more} more of that token"
    if found.failure is not None:
        yield f"failure of table 1.10: {found.failure.value}"
    elif 0 < len(found.possible) <= _FEW:
        yield f"failure of table 1.10, perhaps: {'; or '.join(failure.value for failure in found.possible)}"
    parted = [] if found.first is None else [found.first, *found.consequences]
    ended = [each for each in parted if each.difference is not None and each.difference.kind is Kind.ERROR]
    for each in found.consequences:
        if each.difference is not None and each not in ended[1:]:
            yield f"{each.stage.value}: {_sentence(each.difference, names)}"
    if ended[1:]:
        yield f"not reached by one of them: {', '.join(each.stage.value for each in ended[1:])}"
    again = [each.stage.value for each in found.consequences if each.same is Same.SAME]
    if again:
        yield f"the same again: {', '.join(again)}"
    if {Stage.IDS.value, Stage.TENSORS.value} <= {*again}:
        images = [each.same for each in found.stages if each.stage is Stage.IMAGES]
        yield f"what the model received{' beside the images' if Same.DIFFERENT in images else ''} is the same"
    for name, old, new in found.versions:
        yield f"{name} {old} in {names[0]}, {new} in {names[1]}"


def _alike(found: Diff) -> str:
    """What is said where no stage is known to be different."""
    same = _named(found.stages, Same.SAME)
    unknown = _named(found.stages, Same.UNKNOWN)
    if not unknown:
        return "The two are alike."
    known = f"alike: {same}" if same else "no stage is known of both"
    return f"Nothing that is known of both differs; {known}; unknown: {unknown}."


def _named(stages: tuple[StageDiff, ...], same: Same) -> str:
    return ", ".join(each.stage.value for each in stages if each.same is same)


def _first_tokens(packs: tuple[Pack, Pack], one: Execution, other: Execution) -> tuple[int, int]:
    """The first token, in each, that is another id, has another cell, or is of another segment or place."""
    arrays = [{**pack.stages.get(Stage.IDS, {}), **pack.stages.get(Stage.TENSORS, {})} for pack in packs]
    names = [name for name in ARRAYS if name in arrays[0] and name in arrays[1]]
    places = [_parting(*(numbers(each[name]) for each in arrays)) for name in names]
    known = [at for at in places if at is not None] or [_parting(_sources(one), _sources(other)) or 0]
    at = min(known)
    return min(at, max(0, len(one.tokens) - 1)), min(at, max(0, len(other.tokens) - 1))


def _of_text(first: StageDiff, one: Execution, other: Execution) -> tuple[int, int] | None:
    """The first tokens of the segment that differs, where one of the two has no tokens and so only texts compare."""
    difference = first.difference
    if first.stage is not Stage.RENDERED or difference is None or difference.excerpts is None:
        return None
    if one.tokens and other.tokens:
        return None
    places = [_token_at(side, excerpt.start) for side, excerpt in zip((one, other), difference.excerpts, strict=True)]
    return places[0], places[1]


def _token_at(execution: Execution, character: int) -> int:
    """The first token of the segment in which a character stands, or the last of all."""
    ends = accumulate(len(part.text) for part in execution.parts)
    part = next((index for index, end in enumerate(ends) if character < end), len(execution.parts) - 1)
    found = (at for at, token in enumerate(execution.tokens) if execution.places[token.place].parts[1] > part)
    return next(found, max(0, len(execution.tokens) - 1))


def _parting(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The first index at which two rows differ, also where one of them ends; None where they are the same.

    An id that is redacted is the same as any other.
    """
    pairs = enumerate(zip_longest(one, other))
    return next((at for at, (a, b) in pairs if a != b and (None in (a, b) or HIDDEN not in (a, b))), None)


def _sources(execution: Execution) -> list[object]:
    """For each token the segments that it is of: their kinds, texts and places."""
    parts = [
        tuple((part.kind, part.text, part.place) for part in execution.parts[slice(*place.parts)])
        for place in execution.places
    ]
    return [parts[token.place] for token in execution.tokens]
