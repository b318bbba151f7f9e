"""Pinned Unicode data as plain sets and dictionaries."""

from __future__ import annotations

from functools import cache

from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.unicode.codepoints import CodePoints
from katapi.runtime.unicode.tables import WHITE_SPACE, general_category, script, word_characters
from katapi.runtime.unicode.tables import lower_case as lower_case_table


@cache
def members(name: str, version: str) -> frozenset[str]:
    """The characters of a class of a Unicode version, by the name of its table: `L`, `WS`, `Han`, `WORD`."""
    if name == "Any":
        return frozenset(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    if name == "WS":
        points = WHITE_SPACE
    elif name == "WORD":
        points = word_characters(version)
    elif (name[1:].islower() and len(name) == 2) or name in "CLMNPSZ":
        points = general_category(name, version)
    else:
        points = script(name, version)
    return characters(points)


def property_name(spelled: str) -> str | None:
    """The name of the table of a property as a pattern spells it: case, spaces, `_` and `-` do not count."""
    return PROPERTIES.get("".join(c for c in spelled.lower() if c not in " _-"))


@cache
def lower_case(version: str) -> dict[str, str]:
    """The characters that have another lower case, and which."""
    table = lower_case_table(version)
    return dict(mapping(row) for row in table.mappings.split())


def characters(points: CodePoints) -> frozenset[str]:
    """The members of a table."""
    return frozenset(chr(code) for first, last in points.ranges for code in range(first, last + 1))


def mapping(row: str) -> tuple[str, str]:
    """A row such as `C0=41+300` of a table of mappings."""
    whole, _, parts = row.partition("=")
    return chr(int(whole, 16)), "".join(chr(int(part, 16)) for part in parts.split("+"))
