"""The grammar of a reply: what a template prints for a message of the assistant, read backwards.

A form is a text that is always there (`str`), a control token, a tuple of forms one after the other, or one of the
classes below. A form that has a `place` says where in the message what it reads belongs: the name of a variable and the
fields below it, `("m", "content")`; `m` is the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, Protocol, TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import Json

Place: TypeAlias = tuple[str, ...]
"""A variable, and the fields below its value."""


class Token(Protocol):
    """A control token: a member of a generated `Control`."""

    @property
    def id(self) -> int:
        """Its id."""
        ...

    @property
    def spelling(self) -> str:
        """What it looks like."""
        ...


class Writer(Protocol):
    """A serialization."""

    def dump(self, value: Json) -> str:
        """The text of a value. Raises `TemplateError` T140 to T143 where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class FreeText:
    """A text of any length without a control token, which belongs to `place`.

    It ends where what stands behind it begins.
    """

    place: Place
    strip: str | None = None
    """What the template takes off both its ends: these characters, or with an empty string white space."""
    strip_start: str | None = None
    """The same of its beginning alone."""
    strip_end: str | None = None
    """The same of its end alone."""
    default: str | None = None
    """The text that the template prints where the place is empty."""


Kind: TypeAlias = Literal["text", "integer", "fraction", "bool", "null", "list", "object"]
"""A kind of JSON value."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON value, which belongs to `place`."""

    place: Place
    serialization: Writer
    """How the template writes it."""
    kinds: tuple[Kind, ...] | None = None
    """The kinds that stand here; None where any may."""
    exact: bool = False
    """Whether it counts only where the template would have written it in the same way: a text can stand here too."""
    python: bool = False
    """Whether it is in the notation of Python: `True` and `None`."""
    optional: bool = False
    """Whether it may be missing, as a member of an object."""
    verbatim: bool = False
    """Whether the place keeps an object as the text that it was written as."""


@dataclass(frozen=True, slots=True)
class JsonMembers:
    """A JSON object of which the keys are known: `members` are these, and what stands behind each.

    Any order and spacing is read.
    """

    members: tuple[tuple[str, JsonText], ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number that the template counts."""


@dataclass(frozen=True, slots=True)
class Constant:
    """No text; but `place` has this `value`."""

    place: Place
    value: str | int


@dataclass(frozen=True, slots=True)
class Either:
    """One of some forms, `options`: the first with which the whole reply can be read."""

    options: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """The items of the list at `place`, each read by `form` into the variable `item`."""

    place: Place
    item: str
    form: Form
    join: Form = ""
    """What stands between two items."""
    some: bool = False
    """Whether there is one at least."""


@dataclass(frozen=True, slots=True)
class Members:
    """The members of the object at `place`, each read by `form` into the variables `key` and `value`."""

    place: Place
    key: str
    value: str
    form: Form
    join: Form = ""
    """What stands between two members."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the `rule` of this name reads, which its parameter then has, belongs to `place`."""

    rule: str
    place: Place


Form: TypeAlias = (
    str
    | Token
    | tuple["Form", ...]
    | FreeText
    | JsonText
    | JsonMembers
    | Number
    | Constant
    | Either
    | Items
    | Members
    | Call
)
"""A part of a reply."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A `form` with a name, which may stand inside itself; `parameter` is the variable that has what it reads."""

    parameter: str
    form: Form


Prefix: TypeAlias = "tuple[str | Token, ...]"
"""What a template prints in order to have a reply: its generation prefix."""


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """How a reply is read, by `form`: from what the template prints in front of it to the end of what is sampled."""

    form: Form
    prefixes: tuple[Prefix, ...]
    """The generation prefixes, first that of a request which leaves all parameters out; an empty one is none."""
    controls: Mapping[int, str]
    """How each id that no text spells is spelled."""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    """The forms that stand inside themselves, by name."""
    reasoning: str | None = None
    """The field that holds the reasoning; None where the template knows none."""
    marks: tuple[str, ...] = ()
    """Texts that the template takes a content apart by, unless the reasoning has a field of its own."""
