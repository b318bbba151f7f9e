"""Reads the wire format of Protocol Buffers, as far as SentencePiece's model files use it.

A message is a sequence of fields, each a number and a wire type in one varint, then the value (Protocol Buffers
documentation, "Encoding").
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT = struct.Struct("<f")
_LONGEST_VARINT = 10  # bytes


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its `number`, its `value` as it stands on the wire, and at which byte of `file`, `place`, that begins.

    A value that is not of the kind that a method asks for is an `ArtifactError` A135 that names its place.
    """

    number: int
    value: int | bytes
    place: int
    file: str

    def fields(self) -> Iterator[Field]:
        """The fields of a message within the message."""
        return read_fields(self.data(), file=self.file, start=self.place)

    def integer(self) -> int:
        """The value of an integer or an enumeration."""
        if not isinstance(self.value, int):
            raise self.fault("expected an integer")
        return self.value

    def flag(self) -> bool:
        """The value of a boolean."""
        return bool(self.integer())

    def data(self) -> bytes:
        """The value of bytes or of a message."""
        if not isinstance(self.value, bytes):
            raise self.fault("expected bytes")
        return self.value

    def text(self) -> str:
        """The value of a text."""
        try:
            return self.data().decode()
        except UnicodeDecodeError:
            raise self.fault("expected text in UTF-8") from None

    def number32(self) -> float:
        """The value of a 32-bit float."""
        data = self.data()
        if len(data) != _FLOAT.size:
            raise self.fault("expected a 32-bit float")
        value: float = _FLOAT.unpack(data)[0]
        return value

    def fault(self, message: str) -> ArtifactError:
        """An error that names the field."""
        return ArtifactError(message, code="A135", where=f"{self.file}: byte {self.place}, field {self.number}")


def read_fields(data: bytes, *, file: str, start: int = 0) -> Iterator[Field]:
    """The fields of a message in order; `start` is where it begins in the file.

    The value of a field of fixed width is its bytes. Raises `ArtifactError` A135 where the message is not well formed.
    """
    position = 0
    while position < len(data):
        place = start + position
        key, position = _varint(data, position, place, file)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            begin = start + position
            value, position = _varint(data, position, place, file)
            yield Field(number, value, begin, file)
            continue
        if wire == _BYTES:
            size, position = _varint(data, position, place, file)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise _fault(f"unknown wire type {wire}", place, file)
        if size > len(data) - position:
            raise _fault("the file is cut off within a field", place, file)
        yield Field(number, data[position : position + size], start + position, file)
        position += size


def _varint(data: bytes, position: int, place: int, file: str) -> tuple[int, int]:
    """An integer of seven bits a byte, the least significant first, and where it ends."""
    value = 0
    for index in range(_LONGEST_VARINT):
        if position + index >= len(data):
            raise _fault("the file is cut off within an integer", place, file)
        byte = data[position + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, position + index + 1
    raise _fault("an integer of more than ten bytes", place, file)


def _fault(message: str, place: int, file: str) -> ArtifactError:
    return ArtifactError(message, code="A135", where=f"{file}: byte {place}")
