"""The Unicode properties that a pattern can name: general categories and scripts (Standard Annexes #44 and #24).

Names are compared as the engines of the field compare them: case, spaces, `_` and `-` do not count.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from katapi.runtime.patterns.sets import EVERY, Ranges, union
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.script import HISTORY as SCRIPTS

_LONG_NAMES = {
    "letter": "L",
    "uppercase_letter": "Lu",
    "lowercase_letter": "Ll",
    "titlecase_letter": "Lt",
    "modifier_letter": "Lm",
    "other_letter": "Lo",
    "mark": "M",
    "nonspacing_mark": "Mn",
    "spacing_mark": "Mc",
    "enclosing_mark": "Me",
    "number": "N",
    "decimal_number": "Nd",
    "letter_number": "Nl",
    "other_number": "No",
    "punctuation": "P",
    "connector_punctuation": "Pc",
    "dash_punctuation": "Pd",
    "open_punctuation": "Ps",
    "close_punctuation": "Pe",
    "initial_punctuation": "Pi",
    "final_punctuation": "Pf",
    "other_punctuation": "Po",
    "symbol": "S",
    "math_symbol": "Sm",
    "currency_symbol": "Sc",
    "modifier_symbol": "Sk",
    "other_symbol": "So",
    "separator": "Z",
    "space_separator": "Zs",
    "line_separator": "Zl",
    "paragraph_separator": "Zp",
    "other": "C",
    "control": "Cc",
    "format": "Cf",
    "unassigned": "Cn",
    "private_use": "Co",
    "white_space": "WS",
}


def loose(name: str) -> str:
    """A name without what does not count."""
    return name.lower().translate({ord(sign): None for sign in " _-"})


PROPERTIES = {
    **{loose(name): name for name in _LONG_NAMES.values() if name != "WS"},
    **{loose(long): name for long, name in _LONG_NAMES.items()},
    **{loose(name): name for name in (*SCRIPTS.newest, "Unknown")},
    "any": "Any",
}
"""What may stand in `\\p{…}`, loosely written → the name of the property."""


@cache
def property_members(name: str, unicode: str) -> Ranges:
    """The members of the property `name` in the Unicode version `unicode`.

    The names are the values of `PROPERTIES`, and WS (white space) and WORD (word characters). Raises `ValueError` where
    the version does not have the script yet.
    """
    if name == "Any":
        return EVERY
    if name == "WS":
        return tables.WHITE_SPACE.ranges
    if name == "WORD":
        return tables.word_characters(unicode).ranges
    if name in _LONG_NAMES.values():
        return tables.general_category(name, unicode).ranges
    members = tables.script(name, unicode).ranges
    if not members:
        raise ValueError(f"Unicode {unicode} has no script {name}")
    return members


def is_readable(character: str) -> bool:
    """Whether a reader of a pattern can see what it is: a space, or a letter, number, punctuation or symbol.

    Of Unicode 16.0, unlike `str.isprintable`, which changes with the Python that runs.
    """
    if character.isascii():
        return " " <= character <= "~"
    ranges = _readable()
    index = bisect_right(ranges, (ord(character), 0x110000)) - 1
    return index >= 0 and ord(character) <= ranges[index][1]


@cache
def _readable() -> Ranges:
    return union(property_members(name, "16.0") for name in "LNPS")
