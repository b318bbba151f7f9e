"""Finding the token of 16 bytes or more that a piece is. For mypyc."""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le, read_i64_le
from mypy_extensions import i64

from katapi.runtime.native.merging import MASKS, MIX, are_equal

WHOLE_ONLY: Final = 0x100000  # marks the id of a token that cannot be made: a piece can be it, a part of one cannot
_ID: Final = 0x3FFFF


class WholeTokens:
    """The tokens of a vocabulary that have 16 bytes or more."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.tables` derives them."""
        self._long = tables["long"]
        self._mask: i64 = len(self._long) // 4 - 1
        self._bounds = tables["bounds"]
        self._joined = tables["joined"]

    def find(self, b: bytes, p: i64, size: i64, is_part: bool) -> i64:
        """The id of the token that a piece or a part of one is, or -1; `b` has 8 bytes more."""
        mixed: i64 = hash_of(b, p, size)
        mask: i64 = self._mask
        bounds = self._bounds
        joined = self._joined
        at: i64 = mixed >> 20 & mask
        while True:
            entry: i64 = i64(read_i32_le(self._long, at << 2))
            if entry < 0:
                return -1
            token: i64 = entry & _ID
            start: i64 = i64(read_i32_le(bounds, token << 2))
            if i64(read_i32_le(bounds, (token << 2) + 4)) - start == size and are_equal(b, p, joined, start, size):
                return -1 if entry >= WHOLE_ONLY and is_part else token
            at = (at + 1) & mask


def hash_of(b: bytes, p: i64, size: i64) -> i64:
    """A hash of `b[p : p + size]`, behind which `b` has 8 bytes more."""
    mix: i64 = MIX
    mixed: i64 = size
    while size >= 8:
        mixed = (mixed ^ read_i64_le(b, p)) * mix
        mixed ^= mixed >> 32
        p += 8
        size -= 8
    mixed = (mixed ^ read_i64_le(b, p) & read_i64_le(MASKS, size << 3)) * mix
    return mixed ^ mixed >> 32
