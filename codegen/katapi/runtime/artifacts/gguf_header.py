"""Reads the key-value pairs at the head of a GGUF file (GGUF specification of the project ggml, versions 2 and 3).

    "GGUF", version (32 bits), how many tensors, how many pairs (64 bits each), then the pairs: a text, the type of the
    value (32 bits), the value. A text is its length in bytes (64 bits) and its UTF-8; a list is the type of its items
    (32 bits), how many (64 bits), and the items. Numbers stand with the least significant byte first.

Tensors follow; they are never read.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from katapi.runtime.errors import ArtifactError

Value: TypeAlias = bool | int | float | str | Sequence["Value"]
"""The value of a pair."""

MAGIC = b"GGUF"
"""The first four bytes of a file."""
_VERSIONS = (2, 3)
_HEAD = struct.Struct("<4sIQQ")
_TEXT, _LIST = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_DEEPEST = 8  # lists within lists


def read_pairs(data: bytes, *, where: str) -> Mapping[str, Value]:
    """The pairs of a file; `where` names it in errors.

    Raises `ArtifactError` A136, naming the byte, where it is no such file or is cut off, and where a key comes twice.
    """
    reader = _Reader(data, where)
    if data[:4] != MAGIC:
        raise reader.fault("the file does not begin with GGUF")
    if len(data) < _HEAD.size:
        raise reader.fault("the file is cut off")
    _, version, _, count = _HEAD.unpack_from(data)
    if version not in _VERSIONS:
        raise reader.fault(f"version {version} is not supported; versions 2 and 3 are")
    reader.position = _HEAD.size
    pairs: dict[str, Value] = {}
    for _ in range(count):
        key = reader.text()
        if key in pairs:
            raise reader.fault(f"the key {key!r} comes twice")
        pairs[key] = reader.value(reader.number("I"), 0)
    return pairs


class _Reader:
    """The bytes and the place that is read next."""

    def __init__(self, data: bytes, where: str) -> None:
        self._data = data
        self._where = where
        self.position = 0

    def number(self, form: str) -> int:
        """One integer."""
        value = self._numbers(form, 1)[0]
        return int(value)

    def text(self) -> str:
        """One text."""
        data, position = self._data, self.position
        size = int.from_bytes(data[position : position + 8], "little")
        start = position + 8
        if start + size > len(data):
            raise self.fault("the file is cut off within a text")
        self.position = start + size
        try:
            return data[start : self.position].decode()
        except UnicodeDecodeError:
            raise self.fault("a text that is not UTF-8", start) from None

    def value(self, kind: int, depth: int) -> Value:
        """One value of a type."""
        if kind == _TEXT:
            return self.text()
        if kind == _LIST:
            return self._list(depth)
        return self._numbers(self._form(kind), 1)[0]

    def _list(self, depth: int) -> Sequence[Value]:
        if depth == _DEEPEST:
            raise self.fault("lists nest too deep")
        kind, count = self.number("I"), self.number("Q")
        if kind not in (_TEXT, _LIST):
            return self._numbers(self._form(kind), count)
        if count * 8 > len(self._data) - self.position:  # each item takes eight bytes at least
            raise self.fault(f"the file is cut off: a list of {count} items")
        return [self.value(kind, depth + 1) for _ in range(count)]

    def _form(self, kind: int) -> str:
        form = _NUMBERS.get(kind)
        if form is None:
            raise self.fault(f"unknown type {kind} of a value")
        return form

    def _numbers(self, form: str, count: int) -> Sequence[bool | int | float]:
        size = struct.calcsize(form) * count
        if size > len(self._data) - self.position:
            raise self.fault(f"the file is cut off: {count} numbers")
        values = struct.unpack_from(f"<{count}{form}", self._data, self.position)
        self.position += size
        return values

    def fault(self, message: str, place: int | None = None) -> ArtifactError:
        """An error that names the byte."""
        where = f"{self._where}: byte {self.position if place is None else place}"
        return ArtifactError(message, code="A136", where=where)
