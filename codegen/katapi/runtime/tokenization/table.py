"""Reads the compact table of a vocabulary that the compiler writes (`katapi.artifacts.table`), format version 2.

Numbers are integers or binary floating point, the least significant byte first:

    bytes  0–7   the mark "KATAPIV2"
    bytes  8–39  SHA-256 of the artifact that the table was made from
    bytes 40–43  CRC-32 of all other bytes
    bytes 44–47  T, how many ids there are, from 0 on
    bytes 48–51  how many bytes a token's length takes: 1, 2 or 4
    bytes 52–55  how many bytes a score takes: 4 or 8, or 0 where ids have none
    bytes 56–59  G, how many ids have no token
    bytes 60–63  U, how many ids no text yields
    bytes 64–67  M, how many merges there are
    bytes 68–71  C, how many bytes the character map takes
    bytes 72–75  A, how many bytes the added tokens take, 0 where the artifact lists none
    bytes 76–83  the lowest score, in 8 bytes
    then   T lengths, one for each id
           G ids, then U ids, ascending, in 4 bytes each
           M left parts, then M right parts, then M results, as ids in 4 bytes each, the first to merge in front
           T scores, if there are any
           the bytes of all tokens
           C bytes, the character map
           A bytes, what the artifact lists beside its tokens: JSON, a list of the fields of each added token
"""

from __future__ import annotations

import binascii
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.runtime.tokenization.configuration import AddedToken

VERSION = 2
"""The version of the format."""
MARK = b"KATAPIV%d" % VERSION
"""The first eight bytes."""
START = struct.Struct("<8s32s")
"""The mark, and the digest of the artifact."""
CHECKSUM = struct.Struct("<I")
"""What stands behind these two."""
COUNTS = struct.Struct("<8Id")
"""The counts T, the two sizes, G, U, M, C and A, and the lowest score."""
LENGTH_TYPES = {1: "<u1", 2: "<u2", 4: "<u4"}
"""How numpy names the type of lengths, by its bytes."""
SCORE_TYPES = {4: "<f4", 8: "<f8"}
"""How numpy names the type of scores, by its bytes."""
ID_TYPE = "<i4"
"""How numpy names the type of ids."""

_HEAD = START.size + CHECKSUM.size + COUNTS.size


def load_table(path: Path) -> VocabularyData:
    """Reads the table in `path`.

    Raises `ArtifactError` A101 where it is missing, A102 where it is of another version, and A103 where it is cut off
    or was changed.
    """
    try:
        table = path.read_bytes()
    except OSError as error:
        raise ArtifactError(
            f"cannot read the token table: {error.strerror}", code="A101", where=str(path), help=_REBUILD
        ) from None
    return read_table(table, where=str(path))


def read_table(table: bytes, *, where: str) -> VocabularyData:
    """Reads a table from memory; `where` names it in errors.

    Raises `ArtifactError` A102 and A103 as `load_table` does.
    """
    if table[: len(MARK)] != MARK:
        raise ArtifactError(
            "this is no token table of a version that Katapi reads", code="A102", where=where, help=_REBUILD
        )
    if len(table) < _HEAD or table[START.size : START.size + CHECKSUM.size] != checksum(table):
        raise _damaged(where)
    counts = COUNTS.unpack_from(table, START.size + CHECKSUM.size)
    count, length_size, score_size, gap_count, hidden_count, merge_count, map_size, added_size, lowest = counts
    if length_size not in LENGTH_TYPES or score_size not in (0, *SCORE_TYPES):
        raise _damaged(where)
    columns = _Columns(table, _HEAD, where)
    lengths = columns.take(LENGTH_TYPES[length_size], count)
    gaps = columns.take(ID_TYPE, gap_count)
    hidden = columns.take(ID_TYPE, hidden_count)
    merges = columns.take(ID_TYPE, 3 * merge_count).reshape(3, merge_count).T
    scores = columns.take(SCORE_TYPES.get(score_size, "<f8"), count if score_size else 0)
    bounds = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    joined = columns.rest(int(bounds[-1]))
    charsmap = columns.rest(map_size)
    columns.rest(added_size)
    ids_are_known = all(((ids >= 0) & (ids < count)).all() for ids in (gaps, hidden, merges))
    if columns.position != len(table) or not ids_are_known or lengths[gaps].any():
        raise _damaged(where)
    return VocabularyData(
        Tokens(joined, bounds, gaps.tolist()),
        merges.astype(np.int32, copy=False),
        scores.astype(np.float64, copy=False),
        lowest,
        frozenset(hidden.tolist()),
        charsmap=charsmap,
    )


def artifact_of(table: bytes) -> str:
    """The hexadecimal SHA-256 of the artifact that a table was made from; the table is one that `read_table` reads."""
    digest: bytes = START.unpack_from(table)[1]
    return digest.hex()


def added_of(table: bytes) -> tuple[AddedToken, ...] | None:
    """The tokens that the artifact lists beside its own; only the compiler asks for them. As with `artifact_of`."""
    from katapi.runtime.tokenization.configuration import AddedToken

    size: int = COUNTS.unpack_from(table, START.size + CHECKSUM.size)[7]
    return tuple(AddedToken(*row) for row in json.loads(table[-size:])) if size else None


def checksum(table: bytes) -> bytes:
    """What stands in a table between the digest and the counts, computed from all other bytes: their CRC-32."""
    view = memoryview(table)
    return CHECKSUM.pack(binascii.crc32(view[START.size + CHECKSUM.size :], binascii.crc32(view[: START.size])))


@dataclass
class _Columns:
    """Takes the parts of a table from the front."""

    table: bytes
    position: int
    where: str

    def take(self, kind: str, count: int) -> NDArray[np.int64]:
        """So many numbers of a type."""
        size = count * np.dtype(kind).itemsize
        return np.frombuffer(self.rest(size), kind, count)

    def rest(self, size: int) -> bytes:
        """So many bytes."""
        start, self.position = self.position, self.position + size
        if self.position > len(self.table):
            raise _damaged(self.where)
        return self.table[start : self.position]


_REBUILD = "run `katapi build`, or install the package again"


def _damaged(where: str) -> ArtifactError:
    return ArtifactError("the token table is cut off or was changed", code="A103", where=where, help=_REBUILD)
