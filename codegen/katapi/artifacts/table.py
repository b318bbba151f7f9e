"""Writes the compact table of a vocabulary, in the form that `katapi.runtime.tokenization.table` documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import FIELDS, LENGTH_TYPES, MARK, checksum


def table_bytes(tokens: Sequence[bytes], *, artifact: str) -> bytes:
    """The table of `tokens`, ids from 0 on; `artifact` is the hexadecimal SHA-256 of the file that they were read from.

    The same tokens give the same bytes. Raises `ArtifactError` where two ids have the same token, or a token is empty
    or longer than 65,535 bytes.
    """
    first: dict[bytes, int] = {}
    for token, data in enumerate(tokens):
        if not 0 < len(data) < 1 << 16:
            raise ArtifactError(f"the token is {len(data)} bytes long", code="A104", where=f"id {token}")
        if first.setdefault(data, token) != token:
            raise ArtifactError(f"the same token as id {first[data]}: {data!r}", code="A104", where=f"id {token}")
    width = 1 if max(map(len, tokens), default=0) < 1 << 8 else 2
    lengths = np.array([len(data) for data in tokens], LENGTH_TYPES[width])
    body = lengths.tobytes() + b"".join(tokens)
    fields = FIELDS.pack(MARK, len(tokens), width, bytes.fromhex(artifact))
    return fields + checksum(fields, body) + body
