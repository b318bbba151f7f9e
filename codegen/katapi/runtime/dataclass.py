"""`@dataclass(frozen=True)` as the standard library has it, but declared in a twentieth of the time.

The standard library writes the methods of each class as source text and compiles it, which takes 0.7 ms a class, and
more than a hundred classes lie between the start of a process and its first token. Here all classes share methods that
go by the list of fields. To type checkers, and to `dataclasses.fields` and `replace`, they are the ordinary thing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, NoReturn, TypeVar

Declared = TypeVar("Declared")

_set = object.__setattr__


def _declare(cls: type[Declared], *, eq: bool, slots: bool, kw_only: bool) -> type[Declared]:
    """`cls` with its fields and the methods of a frozen dataclass; what it defines itself stays."""
    made: type[Declared] = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    fields = dataclasses.fields(made)  # type: ignore[arg-type]  # a dataclass since the line before
    names = tuple(field.name for field in fields)
    methods: dict[str, object] = {
        "__init__": _init(made, fields),
        "__repr__": _repr([field.name for field in fields if field.repr]),
        **_frozen(made, frozenset(names)),
    }
    if eq:
        methods["__eq__"] = _eq(_values_of([field.name for field in fields if field.compare]))
        hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
        methods["__hash__"] = _hash(_values_of(hashed))
    if slots:
        methods |= _state(names)
    for name, method in methods.items():
        if name not in cls.__dict__ or cls.__dict__[name] is None:  # Python sets `__hash__` to None beside `__eq__`
            setattr(made, name, method)
    return made


def _init(cls: type, fields: tuple[dataclasses.Field[object], ...]) -> Callable[..., None]:
    taken = [field for field in fields if field.init]
    positional = [field for field in taken if not field.kw_only]
    count = len(positional) if len(positional) == len(taken) else -1
    optional = [*takewhile(lambda field: field.default is not dataclasses.MISSING, reversed(positional))]
    defaults = tuple(field.default for field in reversed(optional))
    names = [field.name for field in positional]
    in_slots = any(isinstance(getattr(cls, name, None), MemberDescriptorType) for name in names)
    setters = [_setter(cls, name) for name in names]
    made_here = [field for field in fields if not field.init and field.default_factory is not dataclasses.MISSING]
    after: Callable[[object], None] | None = getattr(cls, "__post_init__", None)

    def initialize(self: object, *values: object, **named: object) -> None:
        missing = count - len(values)
        if named or not 0 <= missing <= len(defaults):
            values = _all_values(cls, taken, values, named)
            for field, value in zip(taken, values, strict=True):
                _set(self, field.name, value)
        else:
            for set_field, value in zip(setters, values + defaults[-missing:] if missing else values, strict=True):
                set_field(self, value)
        for field in made_here:
            _set(self, field.name, _default(cls, field))
        if after is not None:
            after(self)

    def fill(self: object, *values: object, **named: object) -> None:
        if named or len(values) != count:
            initialize(self, *values, **named)
        else:
            self.__dict__.update(zip(names, values, strict=True))

    return initialize if made_here or after is not None or in_slots or not names else fill


def _setter(cls: type, name: str) -> Callable[[object, object], None]:
    """What sets a field of an instance: a slot is fastest set by itself."""
    slot = getattr(cls, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda self, value: _set(self, name, value)


def _all_values(
    cls: type, fields: Sequence[dataclasses.Field[object]], values: tuple[object, ...], named: dict[str, object]
) -> tuple[object, ...]:
    """The value of each field, in order: given by place or by name, or its default."""
    positional = [field.name for field in fields if not field.kw_only]
    given = dict(zip(positional, values, strict=False))
    if len(values) > len(positional) or not given.keys().isdisjoint(named):
        raise TypeError(f"{cls.__qualname__} takes each of its {len(fields)} values once")
    given |= named
    unknown = given.keys() - {field.name for field in fields}
    if unknown:
        raise TypeError(f"{cls.__qualname__} has no field {min(unknown)!r}")
    return tuple(given[field.name] if field.name in given else _default(cls, field) for field in fields)


def _default(cls: type, field: dataclasses.Field[object]) -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise TypeError(f"{cls.__qualname__} needs a value for {field.name!r}")


def _repr(names: list[str]) -> Callable[[object], str]:
    def written(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return written


def _values_of(names: list[str]) -> Callable[[object], object]:
    """What two equal instances have in common."""
    return attrgetter(*names) if names else type


def _eq(values: Callable[[object], object]) -> Callable[[object, object], bool]:
    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return equal


def _hash(values: Callable[[object], object]) -> Callable[[object], int]:
    def hashed(self: object) -> int:
        return hash(values(self))

    return hashed


def _frozen(cls: type, names: frozenset[str]) -> dict[str, object]:
    """Nobody sets or deletes a field; a subclass may have further attributes."""

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            _refuse("assign to", name)
        _set(self, name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            _refuse("delete", name)
        object.__delattr__(self, name)

    return {"__setattr__": set_attribute, "__delattr__": delete_attribute}


def _refuse(what: str, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")


def _state(names: tuple[str, ...]) -> dict[str, object]:
    """Copying and pickling of classes with slots, which would otherwise assign to the fields."""

    def get_state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def set_state(self: object, state: list[object]) -> None:
        for name, value in zip(names, state, strict=True):
            _set(self, name, value)

    return {"__getstate__": get_state, "__setstate__": set_state}


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen, eq=True, slots=False, kw_only=False):
        """Declares a class as `dataclasses.dataclass` does with the same arguments; `frozen` is True."""
        if not frozen:
            raise TypeError("a class that is not frozen is for dataclasses.dataclass")

        def declare(cls):
            return _declare(cls, eq=eq, slots=slots, kw_only=kw_only)

        return declare if cls is None else declare(cls)
