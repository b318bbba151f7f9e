"""The types of the language.

Three string types do not mix: a `Control` is an id that only the template places, a `Literal` is text written in the
template, a `Content` is text that came with the request. Nothing turns a text into a control.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from katapi.language.syntax_types import MediaKind


class Trust(Enum):
    """Where a text comes from: written in the template, or brought by the request."""

    LITERAL = "literal"
    CONTENT = "content"


class JsonKind(Enum):
    """The kinds of JSON values; together they cover all of JSON and no two overlap."""

    TEXT = "text"
    INTEGER = "integer"
    FRACTION = "fraction"
    BOOL = "bool"
    NULL = "null"
    LIST = "list"
    OBJECT = "object"


#: The words for JSON kinds in patterns and `is` tests.
KIND_WORDS: dict[str, frozenset[JsonKind]] = {
    "text": frozenset({JsonKind.TEXT}),
    "integer": frozenset({JsonKind.INTEGER}),
    "number": frozenset({JsonKind.INTEGER, JsonKind.FRACTION}),
    "bool": frozenset({JsonKind.BOOL}),
    "null": frozenset({JsonKind.NULL}),
    "list": frozenset({JsonKind.LIST}),
    "object": frozenset({JsonKind.OBJECT}),
}


@dataclass(frozen=True, slots=True)
class ControlType:
    """A control token of the template's vocabulary."""


@dataclass(frozen=True, slots=True)
class TextType:
    """A text; `choices` are its possible values where the declaration closes them."""

    trust: Trust
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class BoolType:
    """True or false."""


@dataclass(frozen=True, slots=True)
class IntType:
    """A whole number."""


@dataclass(frozen=True, slots=True)
class DateType:
    """A day and a time of day, to the second and in no time zone."""


@dataclass(frozen=True, slots=True)
class JsonType:
    """A JSON value of one of some kinds."""

    kinds: frozenset[JsonKind]


@dataclass(frozen=True, slots=True)
class ParsedType:
    """A JSON object that may have arrived as text; `verbatim` keeps that text for printing."""

    verbatim: bool


@dataclass(frozen=True, slots=True)
class ImageType:
    """The image or video that a part carries, in whichever form it came; a template shows it, or drops it."""

    kind: MediaKind


@dataclass(frozen=True, slots=True)
class ListType:
    """A list of values of one type."""

    item: Type


@dataclass(frozen=True, slots=True)
class OptionalType:
    """A value that may be absent; an absent value and null are one."""

    item: Type


@dataclass(frozen=True, slots=True)
class RecordType:
    """A declared record."""

    name: str


@dataclass(frozen=True, slots=True)
class TaggedType:
    """One of some records that a field of closed text, the tag, tells apart; each with its values of the tag."""

    tag: str
    members: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def records(self) -> tuple[str, ...]:
        """The names of the records."""
        return tuple(name for name, _ in self.members)

    @property
    def values(self) -> tuple[str, ...]:
        """All values of the tag."""
        return tuple(value for _, values in self.members for value in values)


@dataclass(frozen=True, slots=True)
class UnionType:
    """A text or a list of values."""

    text: TextType
    list: ListType


@dataclass(frozen=True, slots=True)
class MessageType:
    """A message whose role is one of some roles, in the order of their declaration."""

    roles: tuple[str, ...]


Type: TypeAlias = (
    ControlType
    | TextType
    | BoolType
    | IntType
    | DateType
    | JsonType
    | ParsedType
    | ImageType
    | ListType
    | OptionalType
    | RecordType
    | TaggedType
    | UnionType
    | MessageType
)

LITERAL = TextType(Trust.LITERAL)
CONTENT = TextType(Trust.CONTENT)
ANY_JSON = JsonType(frozenset(JsonKind))
OBJECT = JsonType(KIND_WORDS["object"])
NUMBER = JsonType(KIND_WORDS["number"])


def json_type(kinds: frozenset[JsonKind]) -> Type:
    """The type of a JSON value of these kinds; a single kind gives the type with methods of its own."""
    if kinds == KIND_WORDS["text"]:
        return CONTENT
    if kinds == KIND_WORDS["integer"]:
        return IntType()
    if kinds == KIND_WORDS["bool"]:
        return BoolType()
    if kinds == KIND_WORDS["list"]:
        return ListType(ANY_JSON)
    return JsonType(kinds)


def is_content(t: Type) -> bool:
    """Whether a value of the type is a text that came with the request, where it is there."""
    inner = present(t)
    return isinstance(inner, TextType) and inner.trust is Trust.CONTENT


def may_be_absent(t: Type) -> bool:
    """Whether a value of the type can be absent or null."""
    return isinstance(t, OptionalType) or (isinstance(t, JsonType) and JsonKind.NULL in t.kinds)


def present(t: Type) -> Type:
    """The type of a value that is known to be there."""
    if isinstance(t, OptionalType):
        return present(t.item)
    if isinstance(t, JsonType) and JsonKind.NULL in t.kinds and len(t.kinds) > 1:
        return json_type(t.kinds - {JsonKind.NULL})
    return t


def optional(t: Type) -> Type:
    """The type of a value that may be absent as well."""
    return t if may_be_absent(t) else OptionalType(t)


def join(left: Type, right: Type) -> Type | None:
    """The narrowest type that holds the values of both, or None where the language has none."""
    if isinstance(left, OptionalType) or isinstance(right, OptionalType):
        inner = join(present(left), present(right))
        return None if inner is None else optional(inner)
    if left == right:
        return left
    if isinstance(left, TextType) and isinstance(right, TextType):
        return LITERAL if left.trust is right.trust is Trust.LITERAL else CONTENT
    if isinstance(left, ListType) and isinstance(right, ListType):
        item = join(left.item, right.item)
        return None if item is None else ListType(item)
    if isinstance(left, MessageType) and isinstance(right, MessageType):
        return MessageType(left.roles + tuple(r for r in right.roles if r not in left.roles))
    left_kinds, right_kinds = json_kinds(left), json_kinds(right)
    if left_kinds is None or right_kinds is None:
        return None
    return json_type(left_kinds | right_kinds)


def json_kinds(t: Type) -> frozenset[JsonKind] | None:
    """The kinds of JSON that a value of the type can be; None for a type that is no JSON."""
    match t:
        case JsonType(kinds=kinds):
            return kinds
        case TextType():
            return KIND_WORDS["text"]
        case IntType():
            return KIND_WORDS["integer"]
        case BoolType():
            return KIND_WORDS["bool"]
        case ParsedType():
            return KIND_WORDS["object"]
        case ListType(item=item):
            return None if json_kinds(item) is None else KIND_WORDS["list"]
        case OptionalType(item=item):
            inner = json_kinds(item)
            return None if inner is None else inner | KIND_WORDS["null"]
        case ControlType() | DateType() | ImageType() | RecordType() | TaggedType() | UnionType() | MessageType():
            return None


def kinds_told_apart(t: Type) -> frozenset[JsonKind] | None:
    """The kinds that tests and the arms of a `match` tell apart; None for a value without kinds."""
    if isinstance(present(t), UnionType):
        return KIND_WORDS["text"] | KIND_WORDS["list"] | (KIND_WORDS["null"] if may_be_absent(t) else frozenset())
    return json_kinds(t)


def of_kinds(t: Type, kinds: frozenset[JsonKind]) -> Type:
    """The type of a value of which the kinds are known."""
    inner = present(t)
    if not isinstance(inner, UnionType):
        return json_type(kinds)
    members = [m for m, own in ((inner.text, JsonKind.TEXT), (inner.list, JsonKind.LIST)) if own in kinds]
    left: Type = members[0] if len(members) == 1 else inner
    return OptionalType(left) if JsonKind.NULL in kinds else left


def of_tag(t: TaggedType, values: Collection[str]) -> Type:
    """The type of a record whose tag has one of some values."""
    left = tuple((name, own) for name, own in t.members if not set(own).isdisjoint(values))
    return RecordType(left[0][0]) if len(left) == 1 else TaggedType(t.tag, left)


def records_in(t: Type) -> tuple[str, ...]:
    """The records that a value of the type is made of."""
    match t:
        case RecordType(name=name):
            return (name,)
        case TaggedType():
            return t.records
        case ListType(item=item) | OptionalType(item=item):
            return records_in(item)
        case UnionType():
            return records_in(t.list)
        case _:
            return ()


def holds_verbatim(t: Type) -> bool:
    """Whether a value, or an item of it, is written as the text that it came as."""
    inner = present(t)
    if isinstance(inner, ListType):
        return holds_verbatim(inner.item)
    return isinstance(inner, ParsedType) and inner.verbatim


def holds_text(t: Type) -> bool:
    """Whether a value may be an open text that stands in the request as it is."""
    inner = present(t)
    return inner == CONTENT or (isinstance(inner, UnionType) and inner.text == CONTENT)


def assignable(value: Type, target: Type) -> bool:
    """Whether a value of one type may stand where another is asked for."""
    if isinstance(target, OptionalType):
        return assignable(present(value), target.item)
    if isinstance(target, ControlType) or isinstance(value, ControlType):
        return value == target
    if isinstance(target, TextType):
        if not isinstance(value, TextType) or (target.trust is Trust.LITERAL and value.trust is Trust.CONTENT):
            return False
        return target.choices is None or (value.choices is not None and set(value.choices) <= set(target.choices))
    if isinstance(target, UnionType):
        parts = (value.text, value.list) if isinstance(value, UnionType) else (value,)
        return all(any(assignable(part, member) for member in (target.text, target.list)) for part in parts)
    if isinstance(target, TaggedType):
        return bool(records_in(value)) and set(records_in(value)) <= set(target.records)
    if isinstance(target, ListType):
        return isinstance(value, ListType) and assignable(value.item, target.item)
    if isinstance(target, JsonType):
        kinds = json_kinds(value)
        return kinds is not None and kinds <= target.kinds
    return value == target


def describe(t: Type) -> str:
    """A type in the words of the language, for messages."""
    match t:
        case ControlType():
            return "Control"
        case TextType(trust=trust, choices=choices):
            name = "Literal" if trust is Trust.LITERAL else "Content"
            return name if choices is None else f"{name} ({' | '.join(choices)})"
        case BoolType():
            return "bool"
        case IntType():
            return "int"
        case DateType():
            return "date"
        case JsonType(kinds=kinds):
            if kinds == ANY_JSON.kinds:
                return "json"
            return "json (" + " | ".join(k.value for k in JsonKind if k in kinds) + ")"
        case ParsedType(verbatim=verbatim):
            return "object from text" + (" verbatim" if verbatim else "")
        case ImageType(kind=kind):
            return kind.value
        case ListType(item=item):
            return f"[{describe(item)}]"
        case OptionalType(item=item):
            return f"{describe(item)}?"
        case RecordType(name=name):
            return name
        case TaggedType():
            return " | ".join(t.records)
        case UnionType(text=text, list=listed):
            return f"{describe(text)} | {describe(listed)}"
        case MessageType(roles=roles):
            return f"message ({' | '.join(roles)})"
