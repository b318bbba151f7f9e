"""What tokens stand for, joined.

For mypyc. A token of up to 15 bytes is two numbers side by side, with its length in the highest byte: they are written
as 16 bytes, and what stands behind its end is taken back. So such a token costs one look into memory, and no branch
depends on what is found there: the processor goes on to the next tokens while it waits. Longer tokens are few, and are
kept as they are.

A token comes in when it is first met, which two threads may do at the same time: what a thread reads of a token that
was met never changes, and no line between the length of a list and what is put behind it lets another thread go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from librt.strings import BytesWriter, write_i64_le
from librt.vecs import vec
from mypy_extensions import i64

LENGTH: Final = 56  # the bits of the second number below the length of a token
LONG: Final = 0x1000000000000000  # marks there the place of a token of 16 bytes or more in the list of those
PLACE: Final = 0xFFFFFFFF  # the bits of such a place
UNMET: Final = -1


class JoinedTokens:
    """Joins the bytes of tokens."""

    def __init__(self, size: int, bytes_of: Callable[[int], bytes]) -> None:
        """The bytes of ids below `size` are kept; `bytes_of` gives those of any id, or raises an error of its own."""
        self._bytes_of = bytes_of
        self._size: i64 = size
        self._met = vec[i64]([UNMET] * (2 * size))
        self._long: list[bytes] = []

    def join(self, ids: list[int]) -> bytes:
        """The bytes of all ids.

        Raises TypeError for what is no integer, ValueError for one beyond 64 bits, and what `bytes_of` raises.
        """
        out = BytesWriter()
        met = self._met
        size: i64 = self._size
        end: i64 = 0
        count: i64 = len(ids)
        i: i64 = 0
        while i < count:
            token: i64 = ids[i]
            i += 1
            if token < 0 or token >= size:
                data = self._bytes_of(int(token))
                out.write(data)
                end += len(data)
                continue
            entry: i64 = met[2 * token + 1]
            if entry == UNMET:
                entry = self._meet(token)
            if entry < LONG:
                write_i64_le(out, met[2 * token])
                write_i64_le(out, entry)
                end += entry >> LENGTH
                out.truncate(end)
            else:
                data = self._long[entry & PLACE]
                out.write(data)
                end += len(data)
        return out.getvalue()

    def _meet(self, token: i64) -> i64:
        """The second number of a token that comes for the first time."""
        data = self._bytes_of(int(token))
        size: i64 = len(data)
        entry: i64
        if size < 16:
            self._met[2 * token] = _number(data, 0)
            entry = _number(data, 8) | size << LENGTH
        else:
            entry = LONG | i64(len(self._long))
            self._long.append(data)
        self._met[2 * token + 1] = entry
        return entry


def _number(data: bytes, start: i64) -> i64:
    """Up to 8 bytes from `start` on, the first in the lowest place."""
    end: i64 = len(data)
    number: i64 = 0
    i: i64 = 0
    while i < 8 and start + i < end:
        number |= i64(data[start + i]) << (i << 3)
        i += 1
    return number
