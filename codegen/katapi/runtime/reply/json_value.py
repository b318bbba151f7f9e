"""Where a JSON value ends in a text that still grows, and what it says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from katapi.runtime.json_types import Json
from katapi.runtime.reply.grammar import Kind

_INSIDE = re.compile(r"\\.|[\"\ud800-\udfff]", re.DOTALL)
_OUTSIDE = re.compile('["{}\\[\\]\ud800-\udfff]')
_SCALAR = re.compile(r"-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN|true|false|null|True|False|None")
_SCALAR_BEGUN = re.compile(r"-?(?:\d*\.?\d*(?:[eE][+-]?\d*)?|[A-Za-z]{1,7})")
_PYTHON = {"True": True, "False": False, "None": None}
_SPACE = " \t\n\r"


class NoJson(Exception):
    """No JSON value begins here."""


@dataclass(slots=True)
class JsonScan:
    """Looks for the end of the value that begins at `start`; what was looked at is not looked at again."""

    start: int
    _at: int = -1
    _depth: int = 0
    _in_text: bool = False

    def end(self, symbols: str, *, final: bool) -> int | None:
        """The position behind the value, or None where more symbols are needed. Raises NoJson where there is none."""
        if self.start == len(symbols):
            if final:
                raise NoJson
            return None
        if self._at < 0 and symbols[self.start] not in '{["':
            return self._scalar(symbols, final=final)
        end = self._closed(symbols)
        if end is None and final:
            raise NoJson
        return end

    def _scalar(self, symbols: str, *, final: bool) -> int | None:
        found = _SCALAR.match(symbols, self.start)
        begun = _SCALAR_BEGUN.match(symbols, self.start)
        if not final and begun is not None and begun.end() == len(symbols):
            return None
        if found is None:
            raise NoJson
        return found.end()

    def _closed(self, symbols: str) -> int | None:
        at = self.start if self._at < 0 else self._at
        while True:
            found = (_INSIDE if self._in_text else _OUTSIDE).search(symbols, at)
            if found is None:
                split = self._in_text and symbols.endswith("\\") and len(symbols) > at
                self._at = len(symbols) - 1 if split else len(symbols)
                return None
            at = found.end()
            symbol = found[0]
            if symbol >= "\ud800" and symbol <= "\udfff":
                raise NoJson
            if symbol == '"':
                self._in_text = not self._in_text
            elif symbol in "{[":
                self._depth += 1
            elif symbol in "}]":
                self._depth -= 1
            if self._depth < 0:
                raise NoJson
            if self._depth == 0 and not self._in_text:
                return at


def json_value(text: str, *, python: bool = False) -> Json:
    """The value of a text. Raises NoJson where it is none."""
    if python and text in _PYTHON:
        return _PYTHON[text]
    try:
        value: Json = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        raise NoJson from None
    return value


def members(text: str) -> dict[str, str]:
    """The text of each member of an object. Raises NoJson where the text is no object."""
    out: dict[str, str] = {}
    at = _behind_space(text, 1)
    if not text.startswith("{"):
        raise NoJson
    while not text.startswith("}", at):
        key, at = _member_part(text, at)
        name = json_value(key)
        at = _behind_space(text, at)
        if not isinstance(name, str) or not text.startswith(":", at):
            raise NoJson
        out[name], at = _member_part(text, _behind_space(text, at + 1))
        at = _behind_space(text, at)
        if text.startswith(",", at):
            at = _behind_space(text, at + 1)
        elif not text.startswith("}", at):
            raise NoJson
    return out


def kind_of(value: Json) -> Kind:
    """The kind of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "integer"
        case float():
            return "fraction"
        case str():
            return "text"
        case list() | tuple():
            return "list"
        case _:
            return "object"


def _member_part(text: str, at: int) -> tuple[str, int]:
    end = JsonScan(at).end(text, final=True)
    if end is None or end <= at:
        raise NoJson
    return text[at:end], end


def _behind_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
