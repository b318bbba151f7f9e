"""What the reading of a reply notes on its way, one entry after the other, and the values that come of it."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from katapi.runtime.json_types import Json
from katapi.runtime.reply.grammar import FreeText, JsonText, Place

_CONTROL = re.compile("[\ud800-\udfff]")


class Started(NamedTuple):
    """A free text, as `form` says, begins at a `position` of the symbols."""

    form: FreeText
    position: int


class Left(NamedTuple):
    """The last free text that began, as `form` says, ends at a `position`."""

    form: FreeText
    position: int


class Fixed(NamedTuple):
    """A `place` has a `value`."""

    place: Place
    value: str | int | Spelled


class Emptied(NamedTuple):
    """A `place` has a list, where it is `listed`, or an object, of which nothing was read yet."""

    place: Place
    listed: bool


class Began(NamedTuple):
    """A `variable` begins without a value, at a `position`."""

    variable: str
    position: int = 0


class Appended(NamedTuple):
    """The value of a `variable` is the next item of the list at `place`; the variable is as it was before it began."""

    variable: str
    place: Place


class Broken(NamedTuple):
    """A part of the item that is open was left out: the item is none."""


class Named(NamedTuple):
    """The values of the variables `key` and `value` are a member of the object at `place`.

    The variables are as they were before they began.
    """

    key: str
    value: str
    place: Place


class Bound(NamedTuple):
    """The value of a `variable` belongs to `place`; the variable is as it was before it began."""

    variable: str
    place: Place


Entry: TypeAlias = Started | Left | Fixed | Emptied | Began | Appended | Broken | Named | Bound
"""Something that was noted."""

Log: TypeAlias = "tuple[Log, Entry] | None"
"""All that was noted, the last entry first."""


class Spelled(NamedTuple):
    """A JSON `value` and the `text` that it was read from by `form`, which may be meant as a text."""

    value: Json
    text: str
    form: JsonText


Value: TypeAlias = "None | bool | int | float | str | Spelled | list[Value] | dict[str, Value]"
"""A JSON value in which some are still known as they were spelled."""


def entries(log: Log) -> list[Entry]:
    """The entries in order."""
    out: list[Entry] = []
    while log is not None:
        log, entry = log
        out.append(entry)
    out.reverse()
    return out


def broken(log: Log) -> Log:
    """The log with the item that is open broken."""
    return log if log is not None and isinstance(log[1], Broken) else (log, Broken())


def stripped(form: FreeText, text: str) -> str:
    """A free text as it is kept: without what the template takes off."""
    if form.strip is not None:
        return text.strip(form.strip or None)
    if form.strip_start is not None:
        return text.lstrip(form.strip_start or None)
    if form.strip_end is not None:
        return text.rstrip(form.strip_end or None)
    return text


def plain(text: str) -> str:
    """A stretch of symbols as text: without control tokens that were passed over."""
    return _CONTROL.sub("", text)


class Values:
    """The variables, while entries are gone through; what is left open at the end is closed."""

    def __init__(self, symbols: str) -> None:
        self._symbols = symbols
        self._variables: dict[str, list[Value]] = {"m": [{}]}
        self.unclosed: list[str] = []
        """The variables that began and did not end."""

    def of(self, log: Log) -> dict[str, Value]:
        """The fields of the message."""
        text: Started | None = None
        broken = False
        for entry in entries(log):
            match entry:
                case Started():
                    text = entry
                case Left(form=form, position=end):
                    if text is not None:
                        self._text(form, text.position, end)
                    text = None
                case Fixed(place=place, value=value):
                    self._set(place, value)
                case Emptied(place=place, listed=listed):
                    self._set(place, [] if listed else {})
                case Began(variable=variable):
                    broken = broken and bool(self.unclosed)
                    self._variables.setdefault(variable, []).append(None)
                    self.unclosed.append(variable)
                case Appended(variable=variable, place=place):
                    item = self._end(variable)
                    if broken and not self.unclosed:
                        continue
                    items = self._value(place)
                    if isinstance(items, list):
                        items.append(item)
                    else:
                        self._set(place, [item])
                case Broken():
                    broken = bool(self.unclosed)
                case Named(key=key, value=variable, place=place):
                    member = self._end(variable)
                    name = self._end(key)
                    self._set((*place, name if isinstance(name, str) else ""), member)
                case Bound(variable=variable, place=place):
                    self._set(place, self._end(variable))
        if text is not None:
            self._text(text.form, text.position, len(self._symbols))
        message = self._variables["m"][0]
        assert isinstance(message, dict)
        return message

    def _text(self, form: FreeText, start: int, end: int) -> None:
        text = stripped(form, plain(self._symbols[start:end]))
        if form.default is None or text != form.default:
            self._set(form.place, text)

    def _end(self, variable: str) -> Value:
        self.unclosed.remove(variable)
        return self._variables[variable].pop()

    def _value(self, place: Place) -> Value:
        value = self._variables[place[0]][-1]
        for name in place[1:]:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def _set(self, place: Place, value: Value) -> None:
        variable, *path = place
        stack = self._variables[variable]
        if not path:
            stack[-1] = value
            return
        whole = stack[-1]
        inside: dict[str, Value] = whole if isinstance(whole, dict) else {}
        stack[-1] = inside
        for name in path[:-1]:
            deeper = inside.get(name)
            if not isinstance(deeper, dict):
                deeper = inside[name] = {}
            inside = deeper
        inside[path[-1]] = value
