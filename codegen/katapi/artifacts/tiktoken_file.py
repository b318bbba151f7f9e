"""Reads a `.tiktoken` file: a line for each token, its bytes in base64, a space, its rank, which is its id."""

from __future__ import annotations

import base64
import binascii

from katapi.runtime.errors import ArtifactError


def read_tiktoken(data: bytes, *, where: str) -> list[bytes]:
    """The bytes of each token by id; `where` names the file in errors.

    Raises `ArtifactError`, naming the line, where a line is not of that form, a token or a rank comes twice, or the
    ranks do not ascend from 0 by 1.
    """
    tokens: list[bytes] = []
    lines: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            encoded, rank = line.split(b" ")
            token = base64.b64decode(encoded, validate=True)
            found = int(rank) if rank.isdigit() else -1
        except (ValueError, binascii.Error):
            raise _fault(
                f"expected a token in base64, one space and a rank, found {line[:60]!r}", where, number
            ) from None
        if not token or found < 0:
            raise _fault(f"expected a token in base64, one space and a rank, found {line[:60]!r}", where, number)
        if found != len(tokens):
            raise _fault(f"expected the rank {len(tokens)}, found {found}: ranks must ascend by 1", where, number)
        if lines.setdefault(token, number) != number:
            raise _fault(f"the token {token!r} stands in line {lines[token]} as well", where, number)
        tokens.append(token)
    if not tokens:
        raise ArtifactError("the file holds no token", code="A131", where=where)
    return tokens


def _fault(message: str, where: str, line: int) -> ArtifactError:
    return ArtifactError(message, code="A131", where=f"{where}, line {line}")
