"""The smallest difference of two texts, named as what it is."""

from __future__ import annotations

import unicodedata
from typing import Final, Literal, NamedTuple, TypeVar

from katapi.divergence.characters import MOST, is_invisible, is_mark, is_space, look_alike
from katapi.divergence.difference import Kind

_LONGEST: Final = 8
"""How many code points one character may be composed of."""
_ENDS: Final = ("\r\n", "\n", "\r")

S = TypeVar("S", str, bytes, list[int])


class TextDifference(NamedTuple):
    """The first difference of two texts: its `kind`, its `start` in both, and its `ends` in each, half-open."""

    kind: Kind
    start: int
    ends: tuple[int, int]


def text_difference(one: str, other: str) -> TextDifference | None:
    """The first difference of two texts, as small as it can be; None where they are the same."""
    if one == other:
        return None
    at = parting(one, other)
    start = at
    while start and (_marked(one, start) or _marked(other, start)):
        start -= 1
    return (
        _line_end(one, other, at)
        or _in_one(one, other, at, Kind.REPLACED)
        or _composed(one, other, start, "NFC", Kind.COMPOSITION)
        or _in_one(one, other, at, Kind.INVISIBLE)
        or _single(one, other, at)
        or _composed(one, other, start, "NFKC", Kind.COMPATIBILITY)
        or _in_one(one, other, at, Kind.WHITE_SPACE)
        or _other(one, other, at)
    )


def parting(one: S, other: S) -> int:
    """The index at which two texts or rows begin to differ: the length of what both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _marked(text: str, at: int) -> bool:
    return at < len(text) and is_mark(text[at])


def _line_end(one: str, other: str, at: int) -> TextDifference | None:
    """Two different line ends; a CR that both have may begin one of them."""
    for start in (at, at - 1):
        ends = [next((end for end in _ENDS if text.startswith(end, start)), "") for text in (one, other)]
        if start >= 0 and all(ends) and ends[0] != ends[1]:
            return TextDifference(Kind.LINE_END, start, (start + len(ends[0]), start + len(ends[1])))
    return None


def _composed(one: str, other: str, at: int, form: Literal["NFC", "NFKC"], kind: Kind) -> TextDifference | None:
    """The fewest characters at one place of both that a normal form makes the same."""
    texts = one[at : at + _LONGEST], other[at : at + _LONGEST]
    forms = [[unicodedata.normalize(form, text[:n]) for n in range(len(text) + 1)] for text in texts]
    for total in range(2, sum(map(len, texts)) + 1):
        for first in range(max(1, total - len(texts[1])), min(len(texts[0]), total - 1) + 1):
            second = total - first
            same = forms[0][first] == forms[1][second] and texts[0][:first] != texts[1][:second]
            # An accent behind belongs to it: an e is not the same as an e with its accent still to come.
            if same and not _marked(one, at + first) and not _marked(other, at + second):
                return TextDifference(kind, at, (at + first, at + second))
    return None


def _in_one(one: str, other: str, at: int, kind: Kind) -> TextDifference | None:
    """Characters of a kind that stand in one of the texts, and behind which both go on alike."""

    def is_of_kind(character: str) -> bool:
        match kind:
            case Kind.INVISIBLE:
                return is_invisible(character)
            case Kind.REPLACED:
                return character == "\ufffd"
            case _:
                return character.isspace()

    ends = []
    for text in (one, other):
        end = at
        while end < len(text) and is_of_kind(text[end]):
            end += 1
        ends.append(end)
    if ends == [at, at]:
        return None
    if kind is Kind.REPLACED:
        ends = replaced_to(one, other, at, ends)
    elif one[ends[0] : ends[0] + 1] != other[ends[1] : ends[1] + 1]:
        return None
    return TextDifference(kind, at, (ends[0], ends[1]))


def replaced_to(one: str, other: str, at: int, ends: list[int]) -> list[int]:
    """Where what was replaced in one text ends in each: in the other, before that with which both go on.

    `ends` are the ends of what was replaced, `at` in a text in which nothing was. Where they do not go on alike, one
    character stands in its place.
    """
    found = [*ends]
    for side, text in enumerate((one, other)):
        behind = ends[1 - side]
        if ends[side] == at:
            rest = (other, one)[side][behind : behind + 1]
            goes_on = (end for end in range(at, behind + 1) if text[end : end + 1] == rest)
            found[side] = next(goes_on, min(at + 1, len(text)))
    return found


def _single(one: str, other: str, at: int) -> TextDifference | None:
    """Two characters in the place of each other: spaces, or characters that look alike."""
    if at >= min(len(one), len(other)):
        return None
    if is_space(one[at]) and is_space(other[at]):
        return TextDifference(Kind.SPACE, at, (at + 1, at + 1))
    if look_alike(one[at], other[at]):
        return TextDifference(Kind.LOOK_ALIKE, at, (at + 1, at + 1))
    return None


def _other(one: str, other: str, at: int) -> TextDifference:
    """What is between that which both begin with and that which both end with, where that is short; else its start."""
    behind = 0
    while behind < min(len(one), len(other)) - at and one[-1 - behind] == other[-1 - behind]:
        behind += 1
    ends = len(one) - behind, len(other) - behind
    if max(ends) - at > MOST:
        ends = min(ends[0], at + MOST), min(ends[1], at + MOST)
    return TextDifference(Kind.TEXT, at, ends)
