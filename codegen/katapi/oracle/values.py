"""The values that a template works on. Each that came from the request carries its path there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from katapi.model.types import JsonKind
from katapi.runtime.json_types import Json
from katapi.runtime.segments import Content, ContentSegment, ControlSegment, LiteralSegment, Path, Segment


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing: a field that was left out, a key that is missing, null. `path` is where the value would be."""

    path: Path | None


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false."""

    value: bool
    path: Path | None


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    value: int
    path: Path | None


@dataclass(frozen=True, slots=True)
class Fraction:
    """A number that was written with a fraction or an exponent: a 64-bit float."""

    value: float
    path: Path | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, and the time of day on it."""

    value: datetime
    path: Path


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that a block of the template printed, in the pieces that it printed."""

    pieces: tuple[LiteralSegment | ContentSegment, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Merged:
    """One text out of several: those of the parts of a content, and what stands between them, from the content."""

    pieces: tuple[ContentSegment, ...]
    path: Path

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece.text for piece in self.pieces)

    def segments(self) -> list[ContentSegment]:
        """What is printed for it: each piece that is not empty, or one empty text of the content."""
        return [piece for piece in self.pieces if piece.text] or [ContentSegment(Content(""), self.path, None)]


Text: TypeAlias = LiteralSegment | ContentSegment | Passage | Merged


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Value, ...]
    path: Path | None


@dataclass(frozen=True, slots=True)
class Pairs:
    """A JSON object, in order. `source` is the text that it arrived as, where the request rules say `verbatim`."""

    pairs: tuple[tuple[str, Value], ...]
    path: Path | None
    source: str | None = None

    def get(self, key: str) -> Value | None:
        """The value of a key, None where the key is missing."""
        return next((value for name, value in self.pairs if name == key), None)


@dataclass(frozen=True, slots=True)
class Record:
    """An object with declared fields."""

    fields: Mapping[str, Value]
    path: Path


@dataclass(frozen=True, slots=True)
class OracleMessage:
    """One message; `position` counts in the request, from 0, whatever a template has taken away.

    `role` is the role that the rules declare for it, `spelled` the one that it has in the request.
    """

    position: int
    role: str
    spelled: str
    fields: Mapping[str, Value]

    @property
    def path(self) -> Path:
        """The place of the message in the request."""
        return ("messages", self.position)


Value: TypeAlias = (
    Absent
    | Truth
    | Whole
    | Fraction
    | Moment
    | LiteralSegment
    | ContentSegment
    | Passage
    | Merged
    | Items
    | Pairs
    | Record
    | OracleMessage
    | ControlSegment
)


def from_json(value: Json, path: Path) -> Value:
    """A JSON value of the request and, for everything inside it, where it stands."""
    if value is None:
        return Absent(path)
    if isinstance(value, bool):
        return Truth(value, path)
    if isinstance(value, int):
        return Whole(value, path)
    if isinstance(value, float):
        return Fraction(value, path)
    if isinstance(value, str):
        return ContentSegment(Content(value), path, 0)
    if isinstance(value, Mapping):
        return Pairs(tuple((key, from_json(member, (*path, key))) for key, member in value.items()), path)
    return Items(tuple(from_json(item, (*path, index)) for index, item in enumerate(value)), path)


def is_text(value: Value) -> Text | None:
    """The value if it is a text."""
    return value if isinstance(value, (LiteralSegment, ContentSegment, Passage, Merged)) else None


def passage(segments: Iterable[Segment]) -> Passage:
    """What was printed, as a text."""
    pieces: list[LiteralSegment | ContentSegment] = []
    for segment in segments:
        assert not isinstance(segment, ControlSegment), "the checks let no control token be kept"
        pieces.append(segment)
    return Passage(tuple(pieces))


def kind_of(value: Value) -> JsonKind | None:
    """The kind of JSON that a value is; None for messages, records and control tokens."""
    match value:
        case Absent():
            return JsonKind.NULL
        case Truth():
            return JsonKind.BOOL
        case Whole():
            return JsonKind.INTEGER
        case Fraction():
            return JsonKind.FRACTION
        case LiteralSegment() | ContentSegment() | Passage() | Merged():
            return JsonKind.TEXT
        case Items():
            return JsonKind.LIST
        case Pairs():
            return JsonKind.OBJECT
        case Moment() | Record() | OracleMessage() | ControlSegment():
            return None


def is_given(value: Value) -> bool:
    """There, and neither empty, zero nor false. A date, message or record is always given if it is there."""
    match value:
        case Absent():
            return False
        case Truth(value=truth):
            return truth
        case Whole(value=number):
            return number != 0
        case Fraction(value=number):
            return number != 0.0
        case LiteralSegment(text=text) | ContentSegment(text=text) | Merged(text=text) | Passage(text=text):
            return text != ""
        case Items(items=items):
            return len(items) > 0
        case Pairs(pairs=pairs):
            return len(pairs) > 0
        case Moment() | Record() | OracleMessage() | ControlSegment():
            return True


def are_equal(left: Value, right: Value) -> bool:
    """Equality of JSON values: numbers by size, and never a bool with a number. Only scalars can be equal."""
    a_text, other_text = is_text(left), is_text(right)
    if a_text is not None and other_text is not None:
        return str(a_text.text) == str(other_text.text)
    match left, right:
        case Absent(), Absent():
            return True
        case Truth(value=a), Truth(value=b):
            return a == b
        case ((Whole(value=x) | Fraction(value=x)), (Whole(value=y) | Fraction(value=y))):
            return x == y
        case _:
            return False


def path_of(value: Value) -> Path | None:
    """The place in the request that a value came from; None for what the template computes or holds itself."""
    match value:
        case LiteralSegment() | ControlSegment() | Passage():
            return None
        case _:
            return value.path


def common_path(paths: Iterable[Path | None]) -> Path | None:
    """The longest common beginning of the paths there are, None where there are none."""
    known: Sequence[Path] = [path for path in paths if path is not None]
    if not known:
        return None
    shared = known[0]
    for path in known[1:]:
        length = 0
        while length < min(len(shared), len(path)) and shared[length] == path[length]:
            length += 1
        shared = shared[:length]
    return shared
