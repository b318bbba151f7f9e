"""Where a value came from: its path in the request, as a Python tuple that the generated code makes.

A path is put together from the companions of variables (`m_at`, `c_path`) and the names of fields and keys; its parts
are kept as a list of Python expressions until it is written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable

from katapi.emit.code import TERNARY, Code, ternary
from katapi.emit.lifts import finds
from katapi.emit.python import string, tuple_of
from katapi.emit.variables import Variables
from katapi.language.syntax import End, Neighbour
from katapi.model import template as t
from katapi.model.types import (
    DateType,
    IntType,
    JsonType,
    ListType,
    MessageType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
    is_content,
    present,
)

_ANY_LENGTH = ("…",)


class Paths(Variables, ABC):
    """Paths of values in one function."""

    @abstractmethod
    def value(self, expr: t.Expr) -> Code:
        """A value as Python has it."""

    @abstractmethod
    def printed(self, expr: t.Expr) -> Code:
        """A text or control token as something to print."""

    @abstractmethod
    def condition(self, expr: t.Expr) -> Code:
        """A bool of the language as something that Python can test."""

    @abstractmethod
    def not_none(self, expr: t.Expr) -> Code:
        """Whether a value is there."""

    def declare_let(self, variable: t.Variable, value: t.Expr) -> str:
        """The Python name of a `let`; remembers whether its value came from the request at all."""
        if not self._has_path(value.source if isinstance(value, t.Query) and finds(value) else value):
            self._pathless.add(variable.number)
        if self._may_be_pieces(value):
            self._in_pieces.add(variable.number)
        return self.declare(variable)

    def declare_captured(self, variable: t.Variable) -> str:
        """The Python name of what a block prints: its pieces have paths, and the whole has none."""
        self._pathless.add(variable.number)
        self._in_pieces.add(variable.number)
        return self.declare(variable)

    def declare_parameter(self, parameter: t.Variable) -> str:
        """The Python name of a parameter of a def, whose path comes with it."""
        name = self.declare(parameter)
        self._shapes[f"{name}_path"] = _ANY_LENGTH
        return name

    def declare_item(self, variable: t.Variable, source: t.Expr, *, key: bool = False, pairs: bool = False) -> str:
        """The Python name of an item of a list, or of the `key` or value of an object's `pairs`."""
        texts = None
        if isinstance(present(variable.type), (TextType, ListType)):
            texts = self._texts[variable.number] = "key" if key else self._texts_of(source)
        if not self.reads_path(variable):
            return self.declare(variable, texts)
        path = self._shape([*self._items_path(source), '""' if pairs else "0"])
        name = self.declare(variable, texts, path)
        self._shapes[f"{name}_path"] = path
        return name

    def _texts_of(self, source: t.Expr) -> Hashable:
        """Where the texts in a list come from: a field has its own kind of text, a name any."""
        match source:
            case t.Coalesce(options=(only, t.ListConst(items=()))):
                return self._texts_of(only)
            case t.FieldOf():
                return "field"
            case t.EndOf(base=base):
                return self._texts_of(base)
            case t.Var(variable=variable) if variable.number in self._texts:
                return self._texts[variable.number]
            case _:
                return source

    def _shape(self, path: list[str]) -> tuple[str, ...]:
        """Of which types a path is made, as Python's type checker sees it; what it may see as more than one is left."""
        out: list[str] = []
        for part in path:
            if part.startswith("*") and self._shapes.get(part[1:]) == _ANY_LENGTH:
                return _ANY_LENGTH
            if part.startswith("*") and part[1:] in self._shapes:
                out.extend(self._shapes[part[1:]])
            elif part.startswith('"'):
                out.append("str")
            elif part.endswith(("_at", "[0]", " - 1")) or part.isdecimal():
                out.append("int")
            else:
                out.append(part)
        return tuple(out)

    def _has_path(self, expr: t.Expr) -> bool:
        """Whether a value may have come from the request."""
        match expr:
            case t.Var(variable=variable):
                return self._carries(variable)
            case t.RoleOf(type=of):
                return is_content(of)
            case t.FieldOf() | t.JsonFieldOf() | t.NeighbourOf():
                return True
            case t.EndOf(base=base):
                return isinstance(present(base.type), ListType)
            case t.Rewrite(base=base) if self._may_be_pieces(base):
                return True
            case t.Cut(base=base) | t.Rewrite(base=base) | t.FormatDate(base=base) | t.Serialize(value=base):
                return self._has_path(base)
            case t.Coalesce(options=values) | t.ListConst(items=values):
                return any(map(self._has_path, values))
            case t.Conditional(then=then, otherwise=otherwise):
                return self._has_path(then) or self._has_path(otherwise)
            case t.ObjectExpr(pairs=pairs):
                return any(self._has_path(value) for _, value in pairs)
            case _:
                return False

    def _may_be_pieces(self, expr: t.Expr) -> bool:
        """Whether a text may be one that a block printed, of which `replace` and the like make a text with a path."""
        match expr:
            case t.Var(variable=variable) if variable.binding is t.Binding.DEF_PARAMETER:
                return isinstance(present(variable.type), TextType)
            case t.Var(variable=variable):
                return variable.number in self._in_pieces
            case t.Cut(base=base) | t.Rewrite(base=base):
                return self._may_be_pieces(base)
            case t.Coalesce(options=values):
                return any(map(self._may_be_pieces, values))
            case t.Conditional(then=then, otherwise=otherwise):
                return self._may_be_pieces(then) or self._may_be_pieces(otherwise)
            case _:
                return False

    def path(self, expr: t.Expr) -> str:
        """The path of a value in the request, as a Python tuple."""
        return self._path_code(expr).text

    def item_path(self, source: t.Expr, step: str) -> str:
        """The path of an item of a list, or of the value of a key."""
        return tuple_of([*self._items_path(source), step])

    def _items_path(self, source: t.Expr) -> list[str]:
        """The path of a list that has items."""
        match source:
            case t.Coalesce(options=(only, t.ListConst(items=()))):
                return self._items_path(only)
            case t.Conditional(then=only, otherwise=t.ListConst(items=())):
                return self._items_path(only)
            case t.Conditional(then=t.ListConst(items=()), otherwise=only):
                return self._items_path(only)
            case _:
                return self._path(source)

    def _path_code(self, expr: t.Expr) -> Code:
        parts = self._path(expr)
        if len(parts) == 1 and parts[0].startswith("*("):
            return Code(parts[0][2:-1], TERNARY)
        return Code(self._tuple(parts))

    @staticmethod
    def _tuple(parts: list[str]) -> str:
        if len(parts) == 1 and parts[0].startswith("*"):
            return parts[0][1:]
        return tuple_of(parts) if parts else "()"

    def _path(self, expr: t.Expr) -> list[str]:
        match expr:
            case t.Var(variable=variable):
                return self._variable_path(variable)
            case t.FieldOf(base=base, field=f):
                return [*self._path(base), string(f.name)]
            case t.RoleOf(base=base, type=of):
                return [*self._path(base), '"role"'] if is_content(of) else []
            case t.JsonFieldOf(base=base, key=key):
                return [*self._path(base), string(key)]
            case t.EndOf(base=base, end=end) if isinstance(present(base.type), ListType):
                at = "0" if end is End.FIRST else "-1"
                if self.is_messages(base):
                    return ['"messages"', f"{self.value(base).text}[{at}][0]"]
                last = "0" if end is End.FIRST else f"len({self.value(base).text}) - 1"
                return [*self._path(base), last]
            case t.Rewrite(base=base) if self._may_be_pieces(base):
                return [f"*{self.module.helper('path_of')}({self.printed(expr).text})"]
            case t.Cut(base=base) | t.Rewrite(base=base) | t.FormatDate(base=base) | t.Serialize(value=base):
                return self._path(base)
            case t.NeighbourOf(neighbour=neighbour):
                step = "- 1" if neighbour is Neighbour.PREV else "+ 1"
                self.used.add(self.index)
                return ['"messages"', f"{self.messages}[{self.index} {step}][0]"]
            case t.Coalesce() | t.Conditional() if not self._has_path(expr):
                return []
            case t.Coalesce(options=options):
                return self._path(options[0]) if len(options) == 1 else self._chosen_path(options)
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                chosen = ternary(self.condition(test), self._path_code(then), self._path_code(otherwise))
                return [f"*({chosen.text})"]
            case t.ObjectExpr(pairs=pairs):
                return self._common([self._path(v) for _, v in pairs])
            case t.ListConst(items=items):
                return self._common([self._path(i) for i in items])
            case _:
                return []

    def _chosen_path(self, options: tuple[t.Expr, ...]) -> list[str]:
        code = self._path_code(options[-1])
        for option in reversed(options[:-1]):
            code = ternary(self.not_none(option), self._path_code(option), code)
        return [f"*({code.text})"]

    def _variable_path(self, variable: t.Variable) -> list[str]:
        if not self._carries(variable):
            return []
        match variable.binding:
            case t.Binding.MESSAGES | t.Binding.TOOLS | t.Binding.DOCUMENTS | t.Binding.PARAM:
                return [string(variable.name)]
            case t.Binding.WALK | t.Binding.TAKE:
                return ['"messages"', self.place(variable)]
            case _ if variable.binding is not t.Binding.DEF_PARAMETER and isinstance(
                present(variable.type), MessageType
            ):
                return ['"messages"', self.place(variable)]
            case t.Binding.DEF_PARAMETER if isinstance(present(variable.type), TextType):
                return [f"*{self.module.helper('path_of')}({self.name(variable)})"]
            case _:
                return [f"*{self._companion(variable)}"]

    def _carries(self, variable: t.Variable) -> bool:
        """Whether the code knows the path of a variable's value."""
        match variable.binding:
            case t.Binding.MESSAGES | t.Binding.TOOLS | t.Binding.DOCUMENTS | t.Binding.PARAM:
                return True
            case t.Binding.WALK | t.Binding.TAKE:
                return True
            case t.Binding.DEF_PARAMETER:
                return carries_path(variable.type) or isinstance(present(variable.type), TextType)
            case t.Binding.LOOP | t.Binding.KEY | t.Binding.LET | t.Binding.QUERY:
                if isinstance(present(variable.type), MessageType):
                    return variable.binding is not t.Binding.KEY
                return variable.number not in self._pathless
            case t.Binding.GENERATING | t.Binding.RUN | t.Binding.COUNTER:
                return False

    def _common(self, paths: list[list[str]]) -> list[str]:
        """The path that others have in common; where the code does not tell it, what gives it when it runs."""
        known = [path for number, path in enumerate(paths) if path and path not in paths[:number]]
        if len(known) < 2:
            return known[0] if known else []
        out: list[str] = []
        for parts in zip(*known, strict=False):
            if len(set(parts)) > 1:
                if all(part.startswith('"') or part.isdecimal() for part in parts):
                    break
                return [f"*{self.module.helper('common_path')}({', '.join(map(self._tuple, known))})"]
            out.append(parts[0])
        return out

    def position(self, expr: t.Expr) -> Code:
        """The index of a message in the request."""
        match expr:
            case t.Conditional(test=test, then=then, otherwise=otherwise):
                return ternary(self.condition(test), self.position(then), self.position(otherwise))
            case t.Coalesce(options=(*first, last)):
                code = self.position(last)
                for option in reversed(first):
                    code = ternary(self.not_none(option), self.position(option), code)
                return code
            case _:
                return Code(self._path(expr)[1])

    @staticmethod
    def is_messages(expr: t.Expr) -> bool:
        """Whether a value is a list of messages."""
        of = present(expr.type)
        return isinstance(of, ListType) and isinstance(of.item, MessageType)


def carries_path(of: Type) -> bool:
    """Whether a parameter of a def has a companion that says where its value came from."""
    inner = present(of)
    return isinstance(inner, (JsonType, ListType, ParsedType, IntType, DateType, RecordType, TaggedType, UnionType))
