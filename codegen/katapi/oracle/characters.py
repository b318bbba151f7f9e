"""Pinned Unicode data as plain sets and dictionaries."""

from __future__ import annotations

from functools import cache

from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.unicode.codepoints import CodePoints
from katapi.runtime.unicode.tables import WHITE_SPACE, general_category, script, word_characters
from katapi.runtime.unicode.tables import lower_case as lower_case_table


@cache
def members(name: str, version: str) -> frozenset[str]:
    """The characters of a class of a Unicode version: a general category, a script, `Any`, `WS`, `WORD`."""
    match name:
        case "Any":
            return frozenset(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
        case "WS":
            return characters(WHITE_SPACE)
        case "WORD":
            return characters(word_characters(version))
        case _ if len(name) <= 2:
            return characters(general_category(name, version))
        case _:
            return characters(script(name, version))


def property_name(spelled: str) -> str | None:
    """The name of a property as a pattern spells it: case, spaces, `_` and `-` do not count."""
    return PROPERTIES.get("".join(c for c in spelled.lower() if c not in " _-"))


@cache
def lower_case(version: str) -> dict[str, str]:
    """The characters that have another lower case, and which."""
    return dict(mapping(row) for row in lower_case_table(version).mappings.split())


def characters(points: CodePoints) -> frozenset[str]:
    """The members of a table."""
    return frozenset(chr(code) for first, last in points.ranges for code in range(first, last + 1))


def mapping(row: str) -> tuple[str, str]:
    """A row such as `C0=41+300` of a table of mappings."""
    whole, _, parts = row.partition("=")
    return chr(int(whole, 16)), "".join(chr(int(part, 16)) for part in parts.split("+"))
