"""Extended grapheme clusters: the rules of Unicode Standard Annex #29, asked of every place of a text in turn."""

from __future__ import annotations

from functools import cache, partial

from katapi.oracle.characters import characters
from katapi.runtime.unicode.tables import graphemes

_JOINER = "\u200d"


def clusters(text: str, version: str) -> list[str]:
    """The clusters of a text, in order, after a version of Unicode."""
    found: list[str] = []
    for place, character in enumerate(text):
        if found and not _breaks(text, place, version):
            found[-1] += character
        else:
            found.append(character)
    return found


def _breaks(text: str, place: int, version: str) -> bool:
    """Whether a cluster ends before the character at a place, which is not the first."""
    before, behind = text[place - 1], text[place]
    is_a = partial(_is, version)
    if before + behind == "\r\n":  # GB3
        return False
    if is_a("control", before) or is_a("control", behind):  # GB4, GB5
        return True
    if is_a("leading", before) and (is_a("leading", behind) or is_a("vowel", behind) or _syllable(behind)):  # GB6
        return False
    if (is_a("vowel", before) or _syllable(before) == "LV") and (
        is_a("vowel", behind) or is_a("trailing", behind)
    ):  # GB7
        return False
    if (is_a("trailing", before) or _syllable(before) == "LVT") and is_a("trailing", behind):  # GB8
        return False
    if is_a("extend", behind) or behind == _JOINER or is_a("spacing", behind):  # GB9, GB9a
        return False
    if is_a("prepend", before):  # GB9b
        return False
    if is_a("consonant", behind) and _ends_in_conjunct(text[:place], version):  # GB9c
        return False
    if is_a("pictographic", behind) and _ends_in_joined_picture(text[:place], version):  # GB11
        return False
    if _flag(before) and _flag(behind):  # GB12, GB13
        flags = len(text[:place]) - len(text[:place].rstrip("".join(_FLAGS)))
        return flags % 2 == 0
    return True  # GB999


def _ends_in_conjunct(text: str, version: str) -> bool:
    """A consonant, then only what may stand in a conjunct, a linker among it."""
    linked = False
    for character in reversed(text):
        if _is(version, "linker", character):
            linked = True
        elif not _is(version, "between", character):
            return linked and _is(version, "consonant", character)
    return False


def _ends_in_joined_picture(text: str, version: str) -> bool:
    """A picture, then only extending characters, then a joiner."""
    if not text.endswith(_JOINER):
        return False
    rest = text[:-1]
    while rest and _is(version, "extend", rest[-1]):
        rest = rest[:-1]
    return bool(rest) and _is(version, "pictographic", rest[-1])


def _syllable(character: str) -> str:
    """The kind of a Hangul syllable; nothing for any other character."""
    index = ord(character) - 0xAC00
    return "" if not 0 <= index < 11172 else "LV" if index % 28 == 0 else "LVT"


_FLAGS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


def _flag(character: str) -> bool:
    return character in _FLAGS


def _is(version: str, name: str, character: str) -> bool:
    return character in _members(version, name)


@cache
def _members(version: str, name: str) -> frozenset[str]:
    return characters(getattr(graphemes(version), name))
