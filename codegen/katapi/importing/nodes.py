"""Nodes of the syntax tree that stand in no source text."""

from __future__ import annotations

from collections.abc import Iterable

from katapi.language import syntax as s
from katapi.language.source import Span

NOWHERE = Span(0, 0)
"""The place of every node."""


def word(text: str) -> s.Name:
    """A name or another word."""
    return s.Name(text, span=NOWHERE)


def quoted(text: str) -> s.Quoted:
    """A text in a setting."""
    return s.Quoted(text, span=NOWHERE)


def number(value: int) -> s.Number:
    """A number in a setting."""
    return s.Number(value, span=NOWHERE)


def part(*atoms: s.Atom | str) -> s.Part:
    """A part of a setting; plain strings are words."""
    return s.Part(tuple(word(atom) if isinstance(atom, str) else atom for atom in atoms), span=NOWHERE)


def setting(key: str, parts: Iterable[s.Part]) -> s.Setting:
    """A setting of a block."""
    return s.Setting(word(key), tuple(parts), span=NOWHERE)
