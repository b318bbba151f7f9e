"""What a template prints: control tokens and stretches of text, each with where it came from.

Three types keep trust apart. A member of a generated `Control` enum is the only thing that becomes a control id.
`Literal` is text written in the template. `Content` is text that came with the request. Literal and content are encoded
by the same ordinary path, and nothing converts a text into a control token (the chapter, section 1.3).
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import NamedTuple, NewType, TypeAlias

from katapi.runtime.dataclass import dataclass

Literal = NewType("Literal", str)
"""Text that is written in a template: trusted, but text."""

Content = NewType("Content", str)
"""Text that came with a request: untrusted."""

Path: TypeAlias = tuple[str | int, ...]
"""The place of a value in a request: `("messages", 2, "content")`."""


class Strips(Enum):
    """On which sides a control token takes the white space that stands next to it: `lstrip`, `rstrip`, both."""

    NEITHER = "neither"
    """It takes nothing."""
    BEFORE = "before"
    """`lstrip`."""
    BEHIND = "behind"
    """`rstrip`."""
    BOTH = "both"
    """`lstrip` and `rstrip`."""


class ControlToken(Enum):
    """The base of every generated `Control` enum; a member's value is its `id`, its `spelling`, and what it strips."""

    def __init__(self, id: int, spelling: str, strips: Strips = Strips.NEITHER) -> None:
        self.id = id
        self.spelling = spelling
        self.strips_before = strips in (Strips.BEFORE, Strips.BOTH)
        """Whether white space at the end of the run before the token gives no token."""
        self.strips_behind = strips in (Strips.BEHIND, Strips.BOTH)
        """Whether white space at the beginning of the run behind the token gives no token."""


class Site(NamedTuple):
    """The place in the .kata file that prints something.

    `line` and `column` are counted from 1. `file` names the file where that is not the template's own, but one whose
    `def`s it uses.
    """

    line: int
    column: int
    file: str | None = None


NOWHERE = Site(0, 0)
"""The site of a control token that the model generated and no line of the template prints there."""


@dataclass(frozen=True, slots=True)
class ControlSegment:
    """One control id: that of `token`; `text` is its spelling, `site` what printed it, or `NOWHERE`."""

    token: ControlToken
    site: Site
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.token.spelling)


class LiteralSegment(NamedTuple):
    """A stretch of text that is written in the template; `text` may be empty, `site` is what printed it."""

    text: Literal
    site: Site


class ContentSegment(NamedTuple):
    """A stretch of text that came with the request.

    `text` may be empty. `path` is the value it came from. `start` is the offset of its first code point in that value,
    or None where the text was made from the value (a serialization) and is no stretch of it.
    """

    text: Content
    path: Path
    start: int | None = 0


Text: TypeAlias = LiteralSegment | ContentSegment
"""A segment that is no control token."""
Segment: TypeAlias = ControlSegment | LiteralSegment | ContentSegment
"""What a template prints."""


class Rendering(NamedTuple):
    """All that a template printed, in order.

    `segments` may hold empty texts. `sampled` holds half-open ranges of segment indices: what the model itself
    generates.
    """

    segments: list[Segment]
    sampled: list[tuple[int, int]]
