"""Extended grapheme clusters: the rules of Unicode Standard Annex #29, asked of every place of a text in turn."""

from __future__ import annotations

from functools import cache

from katapi.oracle.characters import characters
from katapi.runtime.unicode.graphemes_17_0 import TABLE

_JOINER = "\u200d"


def clusters(text: str) -> list[str]:
    """The clusters of a text, in order."""
    found: list[str] = []
    for place, character in enumerate(text):
        if found and not _breaks(text, place):
            found[-1] += character
        else:
            found.append(character)
    return found


def _breaks(text: str, place: int) -> bool:
    """Whether a cluster ends before the character at a place, which is not the first."""
    before, behind = text[place - 1], text[place]
    if before + behind == "\r\n":  # GB3
        return False
    if _is("control", before) or _is("control", behind):  # GB4, GB5
        return True
    if _is("leading", before) and (_is("leading", behind) or _is("vowel", behind) or _syllable(behind)):  # GB6
        return False
    if (_is("vowel", before) or _syllable(before) == "LV") and (_is("vowel", behind) or _is("trailing", behind)):  # GB7
        return False
    if (_is("trailing", before) or _syllable(before) == "LVT") and _is("trailing", behind):  # GB8
        return False
    if _is("extend", behind) or behind == _JOINER or _is("spacing", behind):  # GB9, GB9a
        return False
    if _is("prepend", before):  # GB9b
        return False
    if _is("consonant", behind) and _ends_in_conjunct(text[:place]):  # GB9c
        return False
    if _is("pictographic", behind) and _ends_in_joined_picture(text[:place]):  # GB11
        return False
    if _flag(before) and _flag(behind):  # GB12, GB13
        flags = len(text[:place]) - len(text[:place].rstrip("".join(_FLAGS)))
        return flags % 2 == 0
    return True  # GB999


def _ends_in_conjunct(text: str) -> bool:
    """A consonant, then only what may stand in a conjunct, a linker among it."""
    linked = False
    for character in reversed(text):
        if _is("linker", character):
            linked = True
        elif not _is("between", character):
            return linked and _is("consonant", character)
    return False


def _ends_in_joined_picture(text: str) -> bool:
    """A picture, then only extending characters, then a joiner."""
    if not text.endswith(_JOINER):
        return False
    rest = text[:-1]
    while rest and _is("extend", rest[-1]):
        rest = rest[:-1]
    return bool(rest) and _is("pictographic", rest[-1])


def _syllable(character: str) -> str:
    """The kind of a Hangul syllable; nothing for any other character."""
    index = ord(character) - 0xAC00
    return "" if not 0 <= index < 11172 else "LV" if index % 28 == 0 else "LVT"


_FLAGS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


def _flag(character: str) -> bool:
    return character in _FLAGS


def _is(name: str, character: str) -> bool:
    return character in _members(name)


@cache
def _members(name: str) -> frozenset[str]:
    return characters(getattr(TABLE, name))
