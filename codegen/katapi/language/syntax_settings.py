"""The syntax tree of headers and of `key: part, part` lines, which several declarations have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from katapi.language.syntax_expressions import Name, Node


@dataclass(frozen=True, slots=True)
class Header(Node):
    """What every declaration begins with: its name and its version."""

    name: Name
    version: str


@dataclass(frozen=True, slots=True)
class Quoted(Node):
    """A quoted text in a setting."""

    text: str


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A whole number in a setting."""

    value: int


@dataclass(frozen=True, slots=True)
class Regex(Node):
    """A regular expression between backquotes."""

    source: str


@dataclass(frozen=True, slots=True)
class ControlName(Node):
    """A control token in a setting."""

    name: str


Atom: TypeAlias = Name | Quoted | Number | Regex | ControlName


@dataclass(frozen=True, slots=True)
class Part(Node):
    """What stands between the commas of a setting's value: `bpe merges`, `replace " " "▁"`, `40960`."""

    atoms: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Setting(Node):
    key: Name
    parts: tuple[Part, ...]
