"""Reads a `.tiktoken` file: a line for each token, its bytes in base64, a space, its rank, which is its id.

The format is that of `load_tiktoken_bpe` of the library tiktoken 0.14.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection

from katapi.runtime.errors import ArtifactError


def read_tiktoken(data: bytes, *, where: str) -> list[bytes]:
    """The bytes of each token by id; `where` names the file in errors.

    Raises `ArtifactError` A131, naming the line, where a line is not of that form, a token or a rank comes twice, or
    the ranks do not ascend from 0 by 1.
    """
    return [*read_ranks(data, where=where)]


def read_ranks(data: bytes, *, where: str, passed_over: Collection[int] = ()) -> dict[bytes, int]:
    """The rank of each token, ascending; no token has a rank in `passed_over`.

    Raises `ArtifactError` A131 as `read_tiktoken` does.
    """
    ranks: dict[bytes, int] = {}
    expected = 0
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            encoded, digits = line.split(b" ")
            token = base64.b64decode(encoded, validate=True)
            rank = int(digits) if digits.isdigit() else -1
        except (ValueError, binascii.Error):
            raise _no_token(line, where, number) from None
        if not token or rank < 0:
            raise _no_token(line, where, number)
        while expected in passed_over:
            expected += 1
        if rank != expected:
            raise _fault(f"expected the rank {expected}, found {rank}: ranks must ascend by 1", where, number)
        if ranks.setdefault(token, rank) != rank:
            raise _fault(f"the token {token!r} has the rank {ranks[token]} as well", where, number)
        expected += 1
    if not ranks:
        raise ArtifactError("the file holds no token", code="A131", where=where)
    return ranks


def _no_token(line: bytes, where: str, number: int) -> ArtifactError:
    return _fault(f"expected a token in base64, one space and a rank, found {line[:60]!r}", where, number)


def _fault(message: str, where: str, line: int) -> ArtifactError:
    return ArtifactError(message, code="A131", where=f"{where}, line {line}")
