"""Names in one generated function: the variables of the template, and what is kept beside each of them.

A message `m` has the companion `m_at`, its index in the request; an item `c` of a list or object has `c_path`, its
place there. Companions are emitted only where they are read: `needed` holds those that the pass before has `used`.
"""

from __future__ import annotations

from collections.abc import Iterable

from katapi.emit.module import Module
from katapi.emit.names import local, message_class, record_class
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


class Variables:
    """The Python names of one function."""

    def __init__(self, module: Module, package: str, needed: frozenset[str]) -> None:
        self.module = module
        self.needed = needed
        self.used: set[str] = set()
        self.messages = "messages"
        self.index = "i"
        self._package = package
        self._names: dict[int, str] = {}
        self._types: dict[str, Type] = {}
        self._pathless: set[int] = set()
        self._taken: set[str] = set()

    def declare(self, variable: t.Variable) -> str:
        """The Python name of a variable that comes into being here.

        Two loops may share a name where the type is the same; the language has no shadowing, so they never nest.
        """
        base = local(variable.name)
        shared = variable.binding in (t.Binding.LOOP, t.Binding.KEY, t.Binding.QUERY)
        shared = shared and not (variable.binding is t.Binding.QUERY and self.reads_path(variable))
        name, number = base, 2
        while name in self._types and not (shared and self._types[name] == variable.type):
            name, number = f"{base}_{number}", number + 1
        self._names[variable.number] = name
        self._types[name] = variable.type
        return name

    def fresh(self, base: str) -> str:
        """A Python name that no variable of the template has."""
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name

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
