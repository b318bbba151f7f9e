"""The syntax tree of `image`, `video` and `audio`: what is accepted, what becomes of it, and the tokens for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from katapi.language.syntax_expressions import Name, Node
from katapi.language.syntax_formulas import FormulaLet, Refuse, Term
from katapi.language.syntax_settings import Header, Part, Setting
from katapi.language.syntax_types import MediaKind, TypeRef


@dataclass(frozen=True, slots=True)
class Arrival(Node):
    """`arrive pil { orientation: ignore  alpha: over white }`: one of the ways in which an image can come in."""

    name: Name
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class ImageParam(Node):
    """`param side: int = 224`; in an image that is `like` another, `param side = 384` without a type."""

    name: Name
    type: TypeRef | None
    value: Term


@dataclass(frozen=True, slots=True)
class Numbers(Node):
    """`numbers = normalization(1 / 255, mean, std)`: what an 8-bit value becomes in the arrays."""

    value: Term


@dataclass(frozen=True, slots=True)
class Output(Node):
    """`output pixel_values: float32, stacked = …`: an array under its official name."""

    name: Name
    form: tuple[Part, ...]
    value: Term


@dataclass(frozen=True, slots=True)
class TokenCount(Node):
    """`tokens @image_pad = grid.height * grid.width // 4`: which control the visual tokens are, and how many."""

    control: Name | None
    value: Term


@dataclass(frozen=True, slots=True)
class ImageControl(Node):
    """`@row_col(row, col) "<row_{row}_col_{col}>"`: a control token of the placeholder and its spelling."""

    name: Name
    parameters: tuple[Name, ...]
    spelling: str


@dataclass(frozen=True, slots=True)
class ImageControls(Node):
    """`control { … }` in an image."""

    rows: tuple[ImageControl, ...]


@dataclass(frozen=True, slots=True)
class MarkBlock(Node):
    """`{ … }` in a placeholder."""

    items: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class MarkControl(Node):
    """`@image_pad`, `@row_col(row, col)`"""

    name: Name
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class MarkText(Node):
    """`"\\n"`"""

    text: str


@dataclass(frozen=True, slots=True)
class MarkNumber(Node):
    """`decimal(times[group], 1)`: a number as a text, with so many digits behind the point."""

    value: Term
    digits: int


@dataclass(frozen=True, slots=True)
class MarkEach(Node):
    """`each row in range(grid.height) { … }`"""

    name: Name
    source: Term
    body: MarkBlock


@dataclass(frozen=True, slots=True)
class MarkRepeat(Node):
    """`repeat grid.width { @image_pad }`"""

    count: Term
    body: MarkBlock


@dataclass(frozen=True, slots=True)
class MarkIf(Node):
    """`if length(tiles) > 1 { … } else { … }`"""

    test: Term
    then: MarkBlock
    otherwise: MarkBlock | MarkIf | None


Mark: TypeAlias = MarkControl | MarkText | MarkNumber | MarkEach | MarkRepeat | MarkIf


@dataclass(frozen=True, slots=True)
class Placeholder(Node):
    """`placeholder { @vision_start repeat n { @image_pad } @vision_end }`"""

    body: MarkBlock


ImageItem: TypeAlias = (
    Setting | Arrival | ImageParam | FormulaLet | Refuse | Numbers | Output | TokenCount | ImageControls | Placeholder
)


@dataclass(frozen=True, slots=True)
class Image(Node):
    """`image qwen3_vl version "1" { … }`; so is a `video` or an `audio`, as `kind` says."""

    kind: MediaKind
    header: Header
    like: Name | None
    items: tuple[ImageItem, ...]
