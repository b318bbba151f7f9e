"""The ids of a long piece of bytes that is not known: one token, or what its merges leave. For mypyc.

`katapi.runtime.native.kernel` asks for them.
"""

from __future__ import annotations

from array import array
from typing import Final

from librt.strings import read_i32_le
from mypy_extensions import i64

from katapi.runtime.native.merging import Merging
from katapi.runtime.native.whole_tokens import WholeTokens

TABLES: Final = (
    "in_order",
    "byte_pairs",
    "pairs",
    "splits",
    "lengths",
    "prefixes",
    "trie",
    "ids",
    "long",
    "joined",
    "bounds",
)
"""Those of `katapi.runtime.native.tables` that are wanted here."""


class BytePairs(Merging):
    """Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.tables` derives them."""
        super().__init__(tables)
        self._ids = tables["ids"]
        self._whole = WholeTokens(tables)

    def ids(self, piece: bytes, size: int, is_part: bool) -> bytes:
        """The ids, packed as int32, of `piece[:size]`, 16 bytes or more, behind which there are 32 others.

        `is_part` says that it was cut out of a longer piece.
        """
        length: i64 = size
        token: i64 = self._whole.find(piece, 0, length, is_part)
        if token >= 0:
            return array("i", [int(token)]).tobytes()
        count: i64 = self.merge(piece, 0, length)
        ids = self._ids
        parts = self.parts
        i: i64 = 0
        while i < count:
            parts[i] = read_i32_le(ids, i64(parts[i]) << 2)
            i += 1
        return memoryview(parts)[: int(count)].tobytes()
