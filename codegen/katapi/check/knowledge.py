"""What is known of values at a place of a template: which constants, kinds and roles they may still have.

A place is the number of a variable and the steps from it to a value. What is known of it is which of some constants it
may be, or which it is not; a value without constants of its own is known to be absent or there, empty or not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from katapi.model import template as t
from katapi.model.resolve.scope import path_of
from katapi.model.types import (
    BoolType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    MessageType,
    ParsedType,
    TextType,
    Type,
    UnionType,
    is_content,
    kinds_told_apart,
    may_be_absent,
    present,
)

Place: TypeAlias = tuple[int | str, ...]

ABSENT: Hashable = ("null",)
EMPTY: Hashable = ("empty",)

KINDS = "(kinds)"
ROLES = "(roles)"
LENGTH = "(length)"


@dataclass(frozen=True, slots=True)
class Possible:
    """What a value may be: one of `only`, or anything where that is None, but nothing of `never`."""

    only: frozenset[Hashable] | None = None
    never: frozenset[Hashable] = frozenset()

    def among(self, values: frozenset[Hashable]) -> Possible:
        """What is left where the value is one of some."""
        left = values if self.only is None else values & self.only
        return Possible(left - self.never)

    def but(self, values: frozenset[Hashable]) -> Possible:
        """What is left where the value is none of some."""
        return Possible(None, self.never | values) if self.only is None else Possible(self.only - values)

    def and_also(self, other: Possible) -> Possible:
        """What fits both."""
        both = self.but(other.never)
        return both if other.only is None else both.among(other.only)

    def or_else(self, other: Possible) -> Possible:
        """What fits one of the two."""
        if self.only is None or other.only is None:
            return Possible(None, self._denied(other) & other._denied(self))
        return Possible(self.only | other.only)

    def _denied(self, other: Possible) -> frozenset[Hashable]:
        return self.never if self.only is None else other.never - self.only

    @property
    def is_nothing(self) -> bool:
        """Whether there is no such value."""
        return self.only is not None and not self.only


ANY = Possible()

Known: TypeAlias = Mapping[Place, Possible]


def either(*states: Known | None) -> Known | None:
    """What is known where one of some ways led; None where no way did."""
    ways = [state for state in states if state is not None]
    if not ways:
        return None
    places = set(ways[0]).intersection(*ways[1:])
    joined = {}
    for place in places:
        whole = ways[0][place]
        for way in ways[1:]:
            whole = whole.or_else(way[place])
        joined[place] = whole
    return joined


def place_of(expr: t.Expr) -> Place | None:
    """The place of a value; None for one that is computed."""
    match expr:
        case t.RoleOf(base=base) if not is_content(expr.type):
            return _below(place_of(base), ROLES)
        case t.LengthOf(base=base):
            return _below(place_of(base), LENGTH)
        case _:
            return path_of(expr)


def _below(place: Place | None, step: str) -> Place | None:
    return None if place is None else (*place, step)


def constant_of(expr: t.Expr) -> Hashable | None:
    """What tells a value that is written in the template from others; None for another value."""
    match expr:
        case t.TextConst(text=text):
            return ("text", text)
        case t.IntConst(value=number):
            return ("int", number)
        case t.BoolConst(value=truth):
            return ("bool", truth)
        case t.ListConst(items=()):
            return EMPTY
        case _:
            return None


def texts(values: Iterable[str]) -> frozenset[Hashable]:
    """Texts as constants."""
    return frozenset(("text", value) for value in values)


def falsy(of: Type) -> frozenset[Hashable]:
    """The values of a type that `given` takes for nothing."""
    nothing: set[Hashable] = {ABSENT}
    match present(of):
        case TextType():
            nothing.add(("text", ""))
        case IntType():
            nothing.add(("int", 0))
        case BoolType():
            nothing.add(("bool", False))
        case ListType() | ParsedType():
            nothing.add(EMPTY)
        case JsonType() | UnionType():
            nothing |= {("text", ""), ("int", 0), ("bool", False), EMPTY}
        case _:
            pass
    return frozenset(nothing)


def possible(expr: t.Expr, state: Known) -> Possible:
    """What a value may be, by its type and by what the tests before have shown."""
    constant = constant_of(expr)
    if constant is not None:
        return Possible(frozenset({constant}))
    of = _of_type(expr)
    match expr:
        case t.FieldOf(base=base) | t.RoleOf(base=base) | t.JsonFieldOf(base=base) | t.LengthOf(base=base):
            if possible(base, state).only == frozenset({ABSENT}):
                return Possible(frozenset({ABSENT}))
        case _:
            pass
    place = place_of(expr)
    return of if place is None or place not in state else of.and_also(state[place])


def _of_type(expr: t.Expr) -> Possible:
    of = present(expr.type)
    nothing: frozenset[Hashable] = frozenset({ABSENT} if may_be_absent(expr.type) else ())
    if isinstance(of, BoolType):
        return Possible(nothing | {("bool", True), ("bool", False)})
    if isinstance(of, TextType) and of.choices is not None:
        return Possible(nothing | texts(of.choices))
    if of == JsonType(frozenset({JsonKind.NULL})):
        return Possible(frozenset({ABSENT}))
    return ANY if nothing else Possible(None, frozenset({ABSENT}))


def possible_kinds(expr: t.Expr, state: Known) -> Possible:
    """Which kinds of JSON a value may have."""
    of = Possible(frozenset(kinds_told_apart(expr.type) or ()))
    place = _below(place_of(expr), KINDS)
    if possible(expr, state).only == frozenset({ABSENT}):
        return of.among(frozenset({JsonKind.NULL}))
    return of if place is None or place not in state else of.and_also(state[place])


def possible_roles(expr: t.Expr, state: Known) -> Possible:
    """Which roles a message may have, where it is there."""
    of = present(expr.type)
    assert isinstance(of, MessageType)
    roles = Possible(texts(of.roles))
    place = _below(place_of(expr), ROLES)
    return roles if place is None or place not in state else roles.and_also(state[place])


def learnt(state: Known, expr: t.Expr, of: Possible, step: str = "") -> Known:
    """What is known once a value, or what the step from it tells, is found to be one of some."""
    place = place_of(expr)
    if place is None:
        return state
    more: dict[Place, Possible] = {**state, ((*place, step) if step else place): of}
    if step == KINDS:
        null = frozenset({JsonKind.NULL})
        own = possible(expr, state)
        if of.among(null).is_nothing:
            more[place] = own.but(frozenset({ABSENT}))
        elif of.only == null:
            more[place] = own.among(frozenset({ABSENT}))
    elif not step:
        _learn_length(more, expr, of)
    return more


def _learn_length(more: dict[Place, Possible], expr: t.Expr, of: Possible) -> None:
    """A length tells whether a list or text is empty, and the other way round."""
    zero = frozenset({("int", 0)})
    if isinstance(expr, t.LengthOf):
        inner = place_of(expr.base)
        assert inner is not None, "a length has a place where its value has one"
        known = possible(expr.base, more)
        if of.only == zero:
            more[inner] = known.among(falsy(expr.base.type) - {ABSENT})
        elif of.among(zero).is_nothing and not of.among(frozenset({ABSENT})).only:
            more[inner] = known.but(falsy(expr.base.type))
        return
    place = place_of(expr)
    if place is None or not isinstance(present(expr.type), (ListType, TextType)):
        return
    nothing = falsy(expr.type) - {ABSENT}
    length = more.get((*place, LENGTH), ANY)
    if of.only is not None and of.only <= nothing:
        more[*place, LENGTH] = length.among(zero)
    elif of.among(nothing).is_nothing:
        more[*place, LENGTH] = length.but(zero)


def without(state: Known, numbers: Iterable[int]) -> Known:
    """What is still known once some variables may have changed."""
    gone = set(numbers)
    return {place: of for place, of in state.items() if place[0] not in gone} if gone else state


def renamed(state: Known, value: t.Expr, variable: t.Variable) -> Known:
    """What is known of a name that stands for a value."""
    place = place_of(value)
    if place is None:
        return state
    size = len(place)
    return {**state, **{(variable.number, *p[size:]): of for p, of in state.items() if p[:size] == place}}


Split: TypeAlias = tuple[Known | None, Known | None]
"""What is known where a test is true, and where it is false; None where it never is."""


def split(state: Known, expr: t.Expr, of: Possible, values: frozenset[Hashable], step: str = "") -> Split:
    """What is known where a value, or what the step from it tells, is one of some values, and where it is not."""
    inside, outside = of.among(values), of.but(values)
    return (
        None if inside.is_nothing else learnt(state, expr, inside, step),
        None if outside.is_nothing else learnt(state, expr, outside, step),
    )


def where(state: Known | None, change: Callable[[Known], Known]) -> Known | None:
    """A change of what is known, where there is such a way."""
    return None if state is None else change(state)
