"""Pinned Unicode data as plain sets and dictionaries."""

from __future__ import annotations

import importlib
from functools import cache

from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.unicode.codepoints import CodePoints


@cache
def members(name: str, version: str) -> frozenset[str]:
    """The characters of a class of a Unicode version, by the name of its table: `L`, `WS`, `Han`, `WORD`."""
    if name == "Any":
        return frozenset(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    module = importlib.import_module(f"katapi.runtime.unicode.classes_{version.replace('.', '_')}")
    points = getattr(module, name, None)
    if points is None:
        properties = importlib.import_module(f"katapi.runtime.unicode.properties_{version.replace('.', '_')}")
        points = properties.TABLE.get(name)
    if not isinstance(points, CodePoints):
        raise LookupError(f"Unicode {version} has no table of the property {name}")
    return characters(points)


def property_name(spelled: str) -> str | None:
    """The name of the table of a property as a pattern spells it: case, spaces, `_` and `-` do not count."""
    return PROPERTIES.get("".join(c for c in spelled.lower() if c not in " _-"))


@cache
def lower_case(version: str) -> dict[str, str]:
    """The characters that have another lower case, and which."""
    table = importlib.import_module(f"katapi.runtime.unicode.lower_case_{version.replace('.', '_')}").TABLE
    return dict(mapping(row) for row in table.mappings.split())


def characters(points: CodePoints) -> frozenset[str]:
    """The members of a table."""
    return frozenset(chr(code) for first, last in points.ranges for code in range(first, last + 1))


def mapping(row: str) -> tuple[str, str]:
    """A row such as `C0=41+300` of a table of mappings."""
    whole, _, parts = row.partition("=")
    return chr(int(whole, 16)), "".join(chr(int(part, 16)) for part in parts.split("+"))
