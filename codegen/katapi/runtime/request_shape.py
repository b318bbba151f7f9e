"""Which place of a request a pydantic error location means, and what the request model declares for it.

Pydantic mixes the tags and labels of unions into a location: `("messages", 0, "assistant", "content")`. A tag can be
spelled like a key, so the two are told apart by walking the model's annotations.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from katapi.runtime.dataclass import dataclass
from katapi.runtime.open_roles import ANY_OTHER, ByRole, by_role


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `element` annotates its elements."""

    element: object


@dataclass(frozen=True, slots=True)
class Choices:
    """A closed set of values; `values` in the order in which they were declared."""

    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Tagged:
    """Models told apart by the field `discriminator`; `members` has one entry for each of its values."""

    discriminator: str
    members: dict[str, type[BaseModel]]
    open: bool = False
    """Whether one of the members, under `open_roles.ANY_OTHER`, takes all other values."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Other kinds of value side by side, text or a list of parts; `members` annotates each."""

    members: tuple[object, ...]


Shape: TypeAlias = type[BaseModel] | Items | Choices | Tagged | Alternatives | None
"""What the model declares for a value; None where it says no more than a type of Python."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a request."""

    path: tuple[str | int, ...]
    """Its JSON path."""
    shape: Shape
    """What is declared for the value there."""
    owner: type[BaseModel] | None
    """The model of the object that holds the value as a field; None for an element of a list."""
    fork: int | None
    """How many steps of the path lead to the first `Alternatives` on the way, if there is one."""


def place(model: type[BaseModel], loc: tuple[str | int, ...]) -> Place:
    """Where a location of a pydantic error is in the request that `model` describes."""
    path: list[str | int] = []
    shape: Shape = model
    owner: type[BaseModel] | None = None
    fork: int | None = None
    for step in loc:
        match shape:
            case Tagged(members=members):
                shape = members.get(str(step))
                continue
            case Alternatives(members=alternatives):
                fork = len(path) if fork is None else fork
                shape = _alternative(alternatives, str(step))
                continue
            case Items(element):
                shape, owner = _shape(element), None
            case None | Choices():
                shape, owner = None, None
            case _:
                owner = shape
                field = _field(shape, step)
                shape = _field_shape(field) if field else None
        path.append(step)
    return Place(tuple(path), shape, owner, len(path) if isinstance(shape, Alternatives) and fork is None else fork)


def spellings(model: type[BaseModel]) -> list[tuple[str, ...]]:
    """For each field of the model the keys that may spell it in a request."""
    return [_spellings(name, field) for name, field in model.model_fields.items()]


def roles_of(request: type[BaseModel]) -> dict[str, list[str]]:
    """For each role of the messages of a request its fields; one that may be left out has a `?` behind it."""
    messages = place(request, ("messages", 0)).shape
    members = messages.members if isinstance(messages, Tagged) else {}
    if isinstance(messages, type):
        members = by_role((messages,))
    return {
        "(any other)" if role == ANY_OTHER else role: [
            name if field.is_required() else f"{name}?" for name, field in model.model_fields.items() if name != "role"
        ]
        for role, model in members.items()
    }


def _spellings(name: str, field: FieldInfo) -> tuple[str, ...]:
    match field.validation_alias or field.alias or name:
        case str() as key:
            return (key,)
        case AliasChoices(choices=choices):
            return tuple(choice for choice in choices if isinstance(choice, str))
        case _:
            return (name,)


def _field(model: type[BaseModel], key: str | int) -> FieldInfo | None:
    for name, field in model.model_fields.items():
        if key in _spellings(name, field):
            return field
    return None


def _field_shape(field: FieldInfo) -> Shape:
    discriminator = field.discriminator if isinstance(field.discriminator, str) else None
    return _shape(field.annotation, discriminator)


def _shape(annotation: object, discriminator: str | None = None) -> Shape:
    """What an annotation declares. `discriminator` is what a `Field` around it says."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        for note in arguments[1:]:
            if isinstance(note, FieldInfo) and isinstance(note.discriminator, str):
                discriminator = note.discriminator
            if isinstance(note, ByRole):
                return Tagged("role", by_role(get_args(arguments[0])), open=True)
        return _shape(arguments[0], discriminator)
    if origin is Literal:
        return Choices(arguments)
    if origin is tuple or origin is list:
        return Items(arguments[0])
    if origin is Union or origin is UnionType:
        members = tuple(member for member in arguments if member is not NoneType)
        if len(members) == 1:
            return _shape(members[0], discriminator)
        return Alternatives(members) if discriminator is None else Tagged(discriminator, _tags(members, discriminator))
    return None


def _tags(members: tuple[object, ...], discriminator: str) -> dict[str, type[BaseModel]]:
    tags: dict[str, type[BaseModel]] = {}
    for member in members:
        model = _shape(member)
        if not isinstance(model, type):
            continue
        choices = _field_shape(model.model_fields[discriminator])
        if isinstance(choices, Choices):
            tags.update((str(value), model) for value in choices.values)
    return tags


def _alternative(members: tuple[object, ...], label: str) -> Shape:
    """The member of a union that pydantic labels so: a model by its name, a tuple by `tuple[…]`."""
    for member in members:
        shape = _shape(member)
        if isinstance(shape, type) and shape.__name__ == label:
            return shape
        if isinstance(shape, Items) and label.startswith(("tuple[", "list[")):
            return shape
    return None
