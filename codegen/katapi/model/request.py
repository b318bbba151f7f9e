"""The request rules of a spec: which roles, fields, records and parameters a request may have."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.language.source import Span
from katapi.language.syntax_types import MediaKind
from katapi.model.declarations import Identity
from katapi.model.types import ImageType, JsonKind, JsonType, OptionalType, Type

#: The role whose messages a model writes.
ASSISTANT = "assistant"

#: The field of a document by which budgets order documents; a document that is plain JSON is printed without it.
SCORE = "score"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message or record; an ignored one is accepted, kept in the request, and never printed.

    A request spells it by its name or by one of `also`. A text with a `separator` may come as a list of text parts.
    """

    name: str
    type: Type
    ignored: bool
    span: Span
    also: tuple[str, ...] = ()
    separator: str | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        """The keys that the field may have in a request."""
        return (self.name, *self.also)

    @property
    def optional(self) -> bool:
        """Whether the field may be left out or null."""
        return isinstance(self.type, OptionalType)

    @property
    def may_hold_parts(self) -> bool:
        """Whether parts of a content could stand in it, of which the template would see JSON and no more."""
        of = self.type.item if isinstance(self.type, OptionalType) else self.type
        return isinstance(of, JsonType) and JsonKind.LIST in of.kinds and not self.ignored


#: The image or video of a record that carries one, as if it were a field.
CARRIED = {kind: Field(kind.value, ImageType(kind), False, Span(0, 0)) for kind in MediaKind}


@dataclass(frozen=True, slots=True)
class Role:
    """A role and the fields of its messages, `role` itself left out.

    An open one stands for all roles that the request does not declare; its name is only that of the template.
    """

    name: str
    fields: tuple[Field, ...]
    span: Span
    open: bool = False

    def field(self, name: str) -> Field | None:
        """The field of a name."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass(frozen=True, slots=True)
class Record:
    """An object with declared fields inside a message.

    `carries` says of which kind the image or video is that its parts carry, if they do; its fields are beside that.
    """

    name: str
    fields: tuple[Field, ...]
    span: Span
    carries: MediaKind | None = None

    def field(self, name: str) -> Field | None:
        """The field of a name."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass(frozen=True, slots=True)
class Param:
    """A template parameter: a key of the request that no other declaration brings, or one of the keys `also`."""

    name: str
    type: Type
    default: str | int | bool | None
    span: Span
    also: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """The keys that the parameter may have in a request."""
        return (self.name, *self.also)

    @property
    def required(self) -> bool:
        """Whether the request must name the parameter."""
        return self.default is None and not isinstance(self.type, OptionalType)


@dataclass(frozen=True, slots=True)
class Request:
    """All that a request may say."""

    identity: Identity
    replace_invalid: bool
    depth: int
    roles: tuple[Role, ...]
    records: tuple[Record, ...]
    tools: Type | None
    tools_span: Span
    documents: Type | None
    documents_span: Span
    params: tuple[Param, ...]
    span: Span

    def role(self, name: str) -> Role | None:
        """The role of a name."""
        return next((r for r in self.roles if r.name == name), None)

    @property
    def open_role(self) -> Role | None:
        """The role that stands for all that are not declared, where the set of roles is open."""
        return next((r for r in self.roles if r.open), None)

    @property
    def named_roles(self) -> tuple[str, ...]:
        """The roles that a message spells as they are declared."""
        return tuple(r.name for r in self.roles if not r.open)

    def record(self, name: str) -> Record | None:
        """The record of a name."""
        return next((r for r in self.records if r.name == name), None)
