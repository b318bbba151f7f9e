"""The syntax tree of types."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from katapi.language.syntax_expressions import Name, Node


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    name: Name


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    item: TypeRef


@dataclass(frozen=True, slots=True)
class OptionalOf(Node):
    item: TypeRef


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """`"low" | "medium" | "high"`"""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromText(Node):
    """`object from text verbatim`: an object that may also arrive as the text of one."""

    target: Name
    verbatim: bool


@dataclass(frozen=True, slots=True)
class FromParts(Node):
    """`text from parts "\\n"`: a text that may also arrive as a list of text parts, with a separator between two."""

    target: Name
    separator: str


@dataclass(frozen=True, slots=True)
class UnionOf(Node):
    """`text | [part]`: a value of one of some types."""

    members: tuple[TypeRef, ...]


class MediaKind(Enum):
    """What a declaration is about, by the word that begins it."""

    IMAGE = "image"
    VIDEO = "video"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class CarriedImage(Node):
    """What stands for the type of the line `image` or `video`: the parts of this record carry one, in any wire form."""

    kind: MediaKind


TypeRef: TypeAlias = NamedType | ListOf | OptionalOf | Choice | FromText | FromParts | UnionOf | CarriedImage
