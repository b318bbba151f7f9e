"""Images, videos and audio as they are meant: which files, how they arrive, what becomes of them, and the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from katapi.language.source import Span
from katapi.language.syntax_types import MediaKind
from katapi.model.declarations import Identity
from katapi.model.formulas import Basic, Binding, Formula, LetStep, Quantity, RefuseStep, Term
from katapi.runtime.audio.hearing import Hearing
from katapi.runtime.images.arrays import Join
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.decoding import Reading

SOURCES: Mapping[MediaKind, Quantity] = {
    kind: Quantity("source", sort, Binding.SOURCE, Span(0, 0))
    for kind, sort in (
        (MediaKind.IMAGE, Basic.PICTURE),
        (MediaKind.VIDEO, Basic.FILM),
        (MediaKind.AUDIO, Basic.RECORDING),
    )
}
"""What arrives, which every declaration calls `source`: a picture, a film or a recording."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of an image and its value, which no picture decides."""

    variable: Quantity
    value: Term


class ArrayType(Enum):
    """What the items of an array are; a bfloat16 is held as the float32 of the same value, since numpy has none."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT64 = "int64"
    INT32 = "int32"


@dataclass(frozen=True, slots=True)
class Output:
    """An array of a model under its official name, and how those of several images become one."""

    name: str
    type: ArrayType
    join: Join
    value: Term
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImageControl:
    """A control token that a placeholder can hold; `{row}` in its spelling is the value of the parameter `row`."""

    name: str
    parameters: tuple[str, ...]
    spelling: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ControlMark:
    """A control token at a place of a placeholder; `arguments` are the values of its parameters."""

    control: ImageControl
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class TextMark:
    """A text at a place of a placeholder."""

    text: str


@dataclass(frozen=True, slots=True)
class NumberMark:
    """A number as a text at a place of a placeholder: `digits` of it behind the point, halves to the even digit."""

    value: Term
    digits: int


@dataclass(frozen=True, slots=True)
class EachMark:
    """Marks for each item of a list of whole numbers."""

    variable: Quantity
    source: Term
    body: Marks


@dataclass(frozen=True, slots=True)
class RepeatMark:
    """Marks that stand there so many times."""

    count: Term
    body: Marks


@dataclass(frozen=True, slots=True)
class IfMark:
    """Marks that stand there where a test comes out true, and others where it does not."""

    test: Term
    then: Marks
    otherwise: Marks


Mark: TypeAlias = ControlMark | TextMark | NumberMark | EachMark | RepeatMark | IfMark
Marks: TypeAlias = tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Image:
    """A pipeline of images, or of videos or audio, as `kind` says.

    `plan` is the name of the image whose steps, outputs and placeholder these are: its own, or that of the one it is
    like. `reading` says which files are taken; audio has no ways of arriving and no numbers. `tokens` is how many
    tokens there are, `counted` the control token that each of them is.
    """

    kind: MediaKind
    identity: Identity
    plan: str
    reading: Reading | Hearing
    ways: Mapping[str, Arrival]
    params: tuple[Param, ...]
    steps: tuple[LetStep | RefuseStep, ...]
    numbers: Term | None
    outputs: tuple[Output, ...]
    tokens: Term
    counted: ImageControl | None
    controls: tuple[ImageControl, ...]
    placeholder: Marks
    formulas: tuple[Formula, ...]
    digest: str
    span: Span = field(compare=False, repr=False)

    @property
    def source(self) -> Quantity:
        """What arrives."""
        return SOURCES[self.kind]


def marks(body: Marks) -> Iterator[Mark]:
    """All marks of a placeholder, also inside of others."""
    for mark in body:
        yield mark
        match mark:
            case EachMark(body=inner) | RepeatMark(body=inner):
                yield from marks(inner)
            case IfMark(then=then, otherwise=otherwise):
                yield from marks(then)
                yield from marks(otherwise)
            case _:
                pass


def terms_of_marks(body: Marks) -> Iterator[Term]:
    """The terms that the marks of a placeholder ask for, those below them not included."""
    for mark in marks(body):
        match mark:
            case ControlMark(arguments=arguments):
                yield from arguments
            case EachMark(source=term) | RepeatMark(count=term) | IfMark(test=term) | NumberMark(value=term):
                yield term
            case TextMark():
                pass
