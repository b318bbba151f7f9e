"""Formulas and their terms as they are meant: every term has a sort, every name is a variable, every call is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TypeAlias

from katapi.language.source import Span
from katapi.language.syntax_expressions import Operator
from katapi.language.syntax_formulas import Choice, Sign


class Basic(Enum):
    """What a value can be that is no list."""

    INT = "int"
    REAL = "real"
    BOOL = "bool"
    SIZE = "size"
    PICTURE = "picture"
    FILM = "film"
    RECORDING = "recording"
    ARRAY = "array"
    NUMBERS = "numbers"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class ListSort:
    """A list; `item` is None for one that is written empty, which fits every list."""

    item: Sort | None


Sort: TypeAlias = Basic | ListSort

NUMERIC = (Basic.INT, Basic.REAL)
"""The sorts of numbers."""


def named(sort: Sort) -> str:
    """A sort as it is written."""
    match sort:
        case Basic():
            return sort.value
        case ListSort(item):
            return "[]" if item is None else f"[{named(item)}]"


def fits(sort: Sort, wanted: Sort) -> bool:
    """Whether a value may stand where one of a sort is wanted: a whole number is a real too."""
    if sort == wanted or (sort is Basic.INT and wanted is Basic.REAL):
        return True
    if isinstance(sort, ListSort) and isinstance(wanted, ListSort):
        return sort.item is None or (wanted.item is not None and fits(sort.item, wanted.item))
    return False


def common(first: Sort, second: Sort) -> Sort | None:
    """The sort that holds the values of two; None where there is none."""
    if fits(first, second):
        return second
    if fits(second, first):
        return first
    if isinstance(first, ListSort) and isinstance(second, ListSort) and first.item and second.item:
        item = common(first.item, second.item)
        return None if item is None else ListSort(item)
    return None


class Binding(Enum):
    """What gives a variable its value."""

    SOURCE = "source"
    PARAMETER = "parameter"
    LET = "let"
    LOOP = "loop"


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A variable of a formula or an image; two are the same only if they are one."""

    name: str
    sort: Sort
    binding: Binding
    span: Span


class Function(Enum):
    """The functions of the language on numbers, lists and sizes."""

    ABS = "abs"
    CEIL = "ceil"
    FLOOR = "floor"
    LENGTH = "length"
    LOG = "log"
    MAX = "max"
    MIN = "min"
    RANGE = "range"
    REAL32 = "real32"
    ROUND = "round"
    SIZE = "size"
    SQRT = "sqrt"
    SUM = "sum"
    TRUNC = "trunc"


class Operation(Enum):
    """The functions of the language on pictures, films, recordings and arrays, which formulas have not."""

    BFLOAT16 = "bfloat16_normalization"
    CHAINED = "chained"
    CROP = "crop"
    EXTENDED = "extended"
    FILLED = "filled"
    FLAT_PATCHES = "flat_patches"
    FOLDED = "folded_normalization"
    FRAMES_AT = "frames_at"
    MERGED_PATCHES = "merged_patches"
    NORMALIZATION = "normalization"
    PAD = "pad"
    PATCHES = "patches"
    PLANES = "planes"
    PLANES_BY_OPENCV = "planes_by_opencv"
    REAL = "real_normalization"
    RESCALING = "rescaling"
    RESIZE = "resize"
    RESIZE_BY_TORCHVISION = "resize_by_torchvision"
    STRIPS = "strips"
    TEMPORAL_PATCHES = "temporal_patches"
    TILE_MASKS = "tile_masks"
    TILES = "tiles"
    VIEW_BY_TORCH = "view_by_torch"
    WAVEFORM = "waveform"
    WITHIN = "within"


class Filter(Enum):
    """The filters of a resize."""

    NEAREST = "nearest"
    LANCZOS = "lanczos"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"


class Member(Enum):
    """What can be asked of a size, a picture, a film or a recording."""

    HEIGHT = "height"
    WIDTH = "width"
    SIZE = "size"
    FRAMES = "frames"
    FPS = "fps"
    TIMES = "times"
    SAMPLES = "samples"
    RATE = "rate"
    CHANNELS = "channels"


@dataclass(frozen=True, slots=True, kw_only=True)
class TermNode:
    """What every term has: its sort, and where it is written."""

    sort: Sort
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant(TermNode):
    """A number or a truth value that is written out."""

    value: int | float | bool


@dataclass(frozen=True, slots=True)
class FilterOf(TermNode):
    """The name of a filter."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class VarOf(TermNode):
    """The value of a variable."""

    variable: Quantity


@dataclass(frozen=True, slots=True)
class MemberOf(TermNode):
    """A side of a size, a picture or a film, or what else one of these or a recording has."""

    base: Term
    member: Member


@dataclass(frozen=True, slots=True)
class ItemOf(TermNode):
    """An item of a list."""

    base: Term
    index: Term


@dataclass(frozen=True, slots=True)
class CallOf(TermNode):
    """The value that a formula gives; `formula` is its name."""

    formula: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class FunctionOf(TermNode):
    """The value of a function of the language."""

    function: Function
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class OperationOf(TermNode):
    """What an operation makes of a picture, a film, a recording or an array."""

    operation: Operation
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ListOf(TermNode):
    """A list that is written out."""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class LoopOf:
    """A loop of a list that is collected."""

    variable: Quantity
    source: Term


@dataclass(frozen=True, slots=True)
class CollectOf(TermNode):
    """A list that loops make."""

    item: Term
    loops: tuple[LoopOf, ...]
    condition: Term | None


@dataclass(frozen=True, slots=True)
class PickOf(TermNode):
    """An item of a list, or whether any or all of its items are so; `keys` are what `least` and `most` compare."""

    choice: Choice
    variable: Quantity
    source: Term
    condition: Term | None
    keys: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class BisectOf(TermNode):
    """The lower end of a range that was halved until it is narrower than `width`."""

    variable: Quantity
    low: Term
    high: Term
    width: Term
    condition: Term


@dataclass(frozen=True, slots=True)
class ConditionalOf(TermNode):
    """One of two values."""

    test: Term
    then: Term
    otherwise: Term


@dataclass(frozen=True, slots=True)
class AnyOf(TermNode):
    """`or`"""

    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class AllOf(TermNode):
    """`and`"""

    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class NotOf(TermNode):
    """`not`"""

    operand: Term


@dataclass(frozen=True, slots=True)
class CompareOf(TermNode):
    """How two values stand to each other."""

    operator: Operator
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class ArithmeticOf(TermNode):
    """An operation on two numbers, or two lists one behind the other."""

    sign: Sign
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class NegativeOf(TermNode):
    """A number with the other sign."""

    operand: Term


Term: TypeAlias = (
    Constant
    | FilterOf
    | VarOf
    | MemberOf
    | ItemOf
    | CallOf
    | FunctionOf
    | OperationOf
    | ListOf
    | CollectOf
    | PickOf
    | BisectOf
    | ConditionalOf
    | AnyOf
    | AllOf
    | NotOf
    | CompareOf
    | ArithmeticOf
    | NegativeOf
)


@dataclass(frozen=True, slots=True)
class LetStep:
    """A value that gets a name."""

    variable: Quantity
    value: Term


@dataclass(frozen=True, slots=True)
class RefuseStep:
    """Where the condition holds, there is no value, and the message says why."""

    message: str
    condition: Term
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GiveStep:
    """The value of a formula, where the condition holds; the last one has none."""

    value: Term
    condition: Term | None


Step: TypeAlias = LetStep | RefuseStep | GiveStep


@dataclass(frozen=True, slots=True)
class Formula:
    """A computation with a name."""

    name: str
    parameters: tuple[Quantity, ...]
    result: Sort
    steps: tuple[Step, ...]
    span: Span = field(compare=False, repr=False)


def terms(value: object) -> Iterator[Term]:
    """A term, or what holds some, and all terms below, in the order in which they are written."""
    if isinstance(value, tuple):
        for one in value:
            yield from terms(one)
    elif isinstance(value, Term | LoopOf | LetStep | RefuseStep | GiveStep):
        if isinstance(value, Term):
            yield value
        for part in fields(value):
            yield from terms(getattr(value, part.name))


def calls(value: object) -> list[str]:
    """The names of the formulas that a term, a step or several of them call, each once."""
    return list(dict.fromkeys(term.formula for term in terms(value) if isinstance(term, CallOf)))
