"""Text whose characters know which bytes of the source they came from."""

from __future__ import annotations

from typing import NamedTuple


class Letter(NamedTuple):
    """A character and the half-open range of source bytes that it was made from."""

    character: str
    start: int
    end: int


class Edit(NamedTuple):
    """The characters from `start` up to `end` give way to `new`."""

    start: int
    end: int
    new: str


def letters_of(text: str) -> list[Letter]:
    """The source itself."""
    out: list[Letter] = []
    for character in text:
        start = out[-1].end if out else 0
        out.append(Letter(character, start, start + len(character.encode())))
    return out


def text_of(letters: list[Letter]) -> str:
    """The characters."""
    return "".join(letter.character for letter in letters)


def edited(letters: list[Letter], edits: list[Edit]) -> list[Letter]:
    """The text after all edits, which are ascending and do not overlap.

    What stands for others came from all that they came from. What was put in came from nothing, at the place before
    which it stands, unless the characters on both sides were made together: then it was made with them.
    """
    out: list[Letter] = []
    position = 0
    for start, end, new in edits:
        out += letters[position:start]
        out += [Letter(character, *_source(letters, start, end)) for character in new]
        position = end
    return out + letters[position:]


def _source(letters: list[Letter], start: int, end: int) -> tuple[int, int]:
    if start < end:
        return letters[start].start, letters[end - 1].end
    if not letters:
        return 0, 0
    if start == len(letters):
        return letters[-1].end, letters[-1].end
    place = letters[start].start
    return place, max(place, letters[start - 1].end) if start else place
