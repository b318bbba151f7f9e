"""Reads the compact table of a vocabulary that the compiler writes (`katapi.artifacts.table`).

Numbers are unsigned, the least significant byte first:

    bytes  0–7   the mark "KATAPIV1"
    bytes  8–11  how many tokens, ids from 0 on
    bytes 12–15  how many bytes a token's length takes: 1 or 2
    bytes 16–47  SHA-256 of the artifact that the table was made from
    bytes 48–51  CRC-32 of all other bytes
    then the length of each token, then the bytes of all tokens
"""

from __future__ import annotations

import binascii
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from katapi.runtime.errors import ArtifactError

FIELDS = struct.Struct("<8sII32s")
CHECKSUM = struct.Struct("<I")
MARK = b"KATAPIV1"
LENGTH_TYPES = {1: "<u1", 2: "<u2"}


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of an artifact: the bytes of each by id, and the hexadecimal SHA-256 of the file they came from."""

    tokens: list[bytes]
    artifact: str

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        """The id of each token by its bytes."""
        return dict(zip(self.tokens, range(len(self.tokens)), strict=True))


def load_table(path: Path) -> TokenTable:
    """Reads the table in `path`.

    Raises `ArtifactError` where it is missing, cut off, changed, or of another version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ArtifactError(
            f"cannot read the token table: {error.strerror}", code="A101", where=str(path), help=_REBUILD
        ) from None
    return read_table(data, where=str(path))


def read_table(data: bytes, *, where: str) -> TokenTable:
    """Reads a table from memory; `where` names it in errors."""
    if data[: len(MARK)] != MARK:
        raise ArtifactError(
            "this is no token table of a version that Katapi reads", code="A102", where=where, help=_REBUILD
        )
    body = FIELDS.size + CHECKSUM.size
    if len(data) < body or data[FIELDS.size : body] != checksum(data[: FIELDS.size], memoryview(data)[body:]):
        raise _damaged(where)
    _, count, width, artifact = FIELDS.unpack_from(data)
    start = body + count * width
    if width not in LENGTH_TYPES or start > len(data):
        raise _damaged(where)
    lengths = np.frombuffer(data, LENGTH_TYPES[width], count, body).astype(np.int64)
    ends = (np.cumsum(lengths) + start).tolist()
    if (ends[-1] if ends else start) != len(data):
        raise _damaged(where)
    return TokenTable([data[start : (start := end)] for end in ends], artifact.hex())


def checksum(fields: bytes, body: bytes | memoryview) -> bytes:
    """What stands between the fields and the body of a table."""
    return CHECKSUM.pack(binascii.crc32(body, binascii.crc32(fields)))


_REBUILD = "run `katapi build`, or install the package again"


def _damaged(where: str) -> ArtifactError:
    return ArtifactError("the token table is cut off or was changed", code="A103", where=where, help=_REBUILD)
