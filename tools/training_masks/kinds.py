"""Of what kind differences are: between a mask and what the model wrote, and between the ids of two templates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

from tools.training_masks.written import Ids, Judged, common


@dataclass(frozen=True)
class Spelling:
    """How ids are shown."""

    decode: Callable[[Ids], str]
    controls: Collection[int]

    def shape(self, ids: Ids) -> str:
        """Control tokens, white space and single tokens as they are, other text as `…`."""
        out: list[str] = []
        start = 0
        for place in range(len(ids) + 1):
            if place == len(ids) or ids[place] in self.controls:
                text = self.decode(ids[start:place]) if start < place else ""
                out.append(text if place - start < 2 else _shortened(text))
                out.append(self.decode(ids[place : place + 1]) if place < len(ids) else "")
                start = place + 1
        return "".join(out)


def _shortened(text: str) -> str:
    bare = text.strip()
    if not bare:
        return text
    before, _, behind = text.partition(bare)
    return f"{before}…{behind}"


class Where(Enum):
    """Where a stretch stands that a mask has wrong."""

    PROMPT = "marked, before a reply: the prompt ends with it"
    BEHIND = "marked, behind the token that ends a reply"
    ELSEWHERE = "marked, away from any reply"
    END = "not marked, the end of a reply"
    REPLY = "not marked, in a reply"


class Kind(NamedTuple):
    """What a mask has wrong."""

    where: Where
    text: str
    behind: str
    """The control token directly before it, else nothing."""


def faults(mask: Sequence[bool], judged: Judged, ids: Ids, spelling: Spelling) -> list[Kind]:
    """The kinds of all stretches in which a mask is not what the model wrote, as often as they come."""
    wrong = [
        None if told is None or told == is_marked else is_marked for is_marked, told in zip(mask, judged, strict=True)
    ]
    return [
        Kind(_where(wrong, judged, start, end), spelling.shape(ids[start:end]), _behind(ids, start, spelling))
        for start, end in _stretches(wrong)
    ]


def _where(wrong: Judged, judged: Judged, start: int, end: int) -> Where:
    if not wrong[start]:
        return Where.REPLY if end < len(judged) and judged[end] is not False else Where.END
    if end < len(judged) and judged[end] is not False:
        return Where.PROMPT
    return Where.BEHIND if start and judged[start - 1] is not False else Where.ELSEWHERE


def _behind(ids: Ids, start: int, spelling: Spelling) -> str:
    return spelling.decode(ids[start - 1 : start]) if start and ids[start - 1] in spelling.controls else ""


def untold(one: Sequence[bool], other: Sequence[bool], judged: Judged, ids: Ids, spelling: Spelling) -> list[str]:
    """What `one` of two masks marks and the `other` does not, where it is not told which is right."""
    apart = [
        True if told is None and mine and not its else None for mine, its, told in zip(one, other, judged, strict=True)
    ]
    return [spelling.shape(ids[start:end]) for start, end in _stretches(apart)]


def _stretches(flags: Sequence[bool | None]) -> Iterator[tuple[int, int]]:
    """The longest ranges of one value that is not None."""
    start = 0
    for place in range(1, len(flags) + 1):
        if place == len(flags) or flags[place] is not flags[start]:
            if flags[start] is not None:
                yield start, place
            start = place


class Change(NamedTuple):
    """Where one template prints something else than the other."""

    one: str
    other: str


def changes(one: Ids, other: Ids, spelling: Spelling) -> list[Change]:
    """What stands in one sequence of ids in place of what stands in the other, in order."""
    first = common(one, other)
    last = min(common(one[::-1], other[::-1]), len(one) - first, len(other) - first)
    mine, its = one[first : len(one) - last], other[first : len(other) - last]
    found = SequenceMatcher(None, mine, its, autojunk=False).get_opcodes()
    return [Change(spelling.shape(mine[a:b]), spelling.shape(its[c:d])) for tag, a, b, c, d in found if tag != "equal"]
