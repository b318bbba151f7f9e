"""Names in one generated function: the variables of the template, and what is kept beside each of them.

A message `m` has the companion `m_at`, its index in the request; an item `c` of a list or object has `c_path`, its
place there. Companions are emitted only where they are read: `needed` holds those that the pass before has `used`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from katapi.emit.module import Module
from katapi.emit.names import local, message_class, numbered, record_class
from katapi.language.syntax import End
from katapi.model import template as t
from katapi.model.types import (
    ControlType,
    DateType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    MessageType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
    present,
)


@dataclass(frozen=True, slots=True)
class Held:
    """What the loops hold that share a Python name: values of a type; None says that it does not matter.

    `texts` tells where their texts come from, which Python's type checker tells apart, `path` the parts of their paths.
    """

    type: Type
    texts: Hashable
    path: Hashable

    def and_also(self, other: Held) -> Held | None:
        """What both hold; None where it is not the same."""
        pairs = ((self.texts, other.texts), (self.path, other.path))
        if self.type != other.type or any(one != two for one, two in pairs if one is not None and two is not None):
            return None
        return Held(self.type, *(two if one is None else one for one, two in pairs))


class Variables:
    """The Python names of one function."""

    def __init__(self, module: Module, package: str, needed: frozenset[str], unread: frozenset[int]) -> None:
        self.module = module
        self.needed = needed
        self.unread = unread
        """The numbers of the names that no code reads: they get none in Python."""
        self.used: set[str] = set()
        self.messages = "messages"
        self.index = "i"
        self._package = package
        self._names: dict[int, str] = {}
        self._held: dict[str, Held | None] = {}
        self._lets: set[int] = set()
        self._pathless: set[int] = set()
        self._in_pieces: set[int] = set()
        self._texts: dict[int, Hashable] = {}
        self._shapes: dict[str, tuple[str, ...]] = {}
        self._taken: set[str] = set()

    def declare(self, variable: t.Variable, texts: Hashable = None, path: Hashable = None) -> str:
        """The Python name of a variable that comes into being here.

        Two loops may share a name where they hold the same; the language has no shadowing, so they never nest.
        """
        base = local(variable.name)
        shared = variable.binding in (t.Binding.LOOP, t.Binding.KEY, t.Binding.QUERY)
        own = Held(variable.type, texts, path) if shared else None
        name, number = base, 2
        while name in self._held:
            both = self._both(name, own)
            if both is not None:
                own = both
                break
            name, number = numbered(base, number), number + 1
        self._names[variable.number] = name
        if variable.binding is t.Binding.LET:
            self._lets.add(variable.number)
        self._held[name] = own
        return name

    def _both(self, name: str, own: Held | None) -> Held | None:
        """What a name holds if it is shared; None where it cannot be."""
        other = self._held[name]
        return None if own is None or other is None else other.and_also(own)

    def fresh(self, base: str) -> str:
        """A Python name that no variable of the template has."""
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name

    @property
    def never_read(self) -> frozenset[int]:
        """The numbers of the `let`s of which the code so far reads neither the value nor where it came from."""
        return frozenset(
            number for number in self._lets if self.used.isdisjoint((f"{number}", f"{number}_at", f"{number}_path"))
        )

    @property
    def declared(self) -> frozenset[int]:
        """The numbers of the variables that have come into being so far."""
        return frozenset(self._names)

    def name(self, variable: t.Variable) -> str:
        """The Python name of a variable in scope."""
        if variable.binding is t.Binding.MESSAGES:
            return self.messages
        self.used.add(f"{variable.number}")
        return self._names[variable.number]

    def place(self, variable: t.Variable) -> str:
        """The companion of a variable that holds the index of its message or item."""
        self.used.add(f"{variable.number}_at")
        return self._names[variable.number] + "_at"

    def reads(self, variable: t.Variable) -> bool:
        """Whether the code reads a variable."""
        return f"{variable.number}" in self.needed

    def reads_place(self, variable: t.Variable) -> bool:
        """Whether the code reads a variable's companion `_at`."""
        return f"{variable.number}_at" in self.needed

    def reads_path(self, variable: t.Variable) -> bool:
        """Whether the code reads a variable's companion `_path`."""
        return f"{variable.number}_path" in self.needed

    def request_class(self, name: str) -> str:
        """A class out of the package's request types."""
        self.module.use(f"{self._package}.request", name)
        return name

    def python_type(self, of: Type) -> str:
        """The annotation of a plain value of a type."""
        match of:
            case OptionalType(item=item):
                return f"{self.python_type(item)} | None"
            case MessageType(roles=roles):
                return " | ".join(self.request_class(message_class(r)) for r in roles)
            case RecordType(name=name):
                return self.request_class(record_class(name))
            case TaggedType():
                return self.record_classes(of.records)
            case UnionType(list=ListType(item=item)):
                return f"{self.module.segment('Content')} | tuple[{self.python_type(item)}, ...]"
            case ListType(item=MessageType() as item):
                return f"list[tuple[int, {self.python_type(item)}]]"
            case ListType(item=item):
                self.module.use("collections.abc", "Sequence")
                return f"Sequence[{self.python_type(item)}]"
            case ParsedType(verbatim=True):
                self.module.use("katapi.runtime.arguments", "JsonText")
                return "JsonText"
            case ParsedType():
                self.module.use("katapi.runtime.json_types", "JsonObject")
                return "JsonObject"
            case JsonType(kinds=kinds):
                name = "JsonObject" if kinds == frozenset({JsonKind.OBJECT}) else "Json"
                self.module.use("katapi.runtime.json_types", name)
                return name
            case TextType():
                return "str"
            case IntType():
                return "int"
            case DateType():
                self.module.use("datetime", "datetime")
                return "datetime"
            case _:
                return "bool"

    def asks_end(self, variable: t.Variable, end: End) -> bool:
        """Whether the code asks whether a loop's item is the first or last."""
        return f"{variable.number}_{end.value}" in self.needed

    def _companion(self, variable: t.Variable) -> str:
        self.used.add(f"{variable.number}_path")
        return self._names[variable.number] + "_path"

    def classes(self, roles: tuple[str, ...]) -> str:
        """The class or classes of messages with some roles, for `isinstance`."""
        names = [self.request_class(message_class(r)) for r in roles]
        return names[0] if len(names) == 1 else " | ".join(names)

    def record_classes(self, names: Iterable[str]) -> str:
        """The class or classes of some records, for `isinstance` and annotations."""
        return " | ".join(self.request_class(record_class(name)) for name in names)

    def is_printed(self, variable: t.Variable) -> bool:
        """Whether the Python variable holds a text with its origin, or a control token, and not a plain value."""
        keeps = variable.binding in (t.Binding.LET, t.Binding.DEF_PARAMETER)
        return keeps and isinstance(present(variable.type), (TextType, ControlType))
