"""What the encoders of whole texts share: where ids are left, the classes of characters, and pieces that are long.

For mypyc. How a text is cut, and how short pieces are looked up, is the matter of each encoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from librt.strings import BytesWriter, read_i16_le, read_i32_le, write_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.merging import Merging
from katapi.runtime.native.whole_tokens import WholeTokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PADDING: Final = b"\xff" * 32  # behind a text, so that nothing reads beyond it; the byte begins no character
ID: Final = 0x3FFFF  # the bits of an id
COUNT: Final = 54  # the bits below a count of ids
ONE_ID: Final = 0x40000000000000  # the count 1
LENGTH: Final = 56  # the bits below the length of a piece
BYTES: Final = 0xFFFFFFFFFFFFFF  # these bits
MIX_HIGH: Final = -4417276706812531889
SHORT_BITS: Final = 15  # of the number of entries of the memo of short pieces
ALIGNED: Final = 3  # so many numbers behind the start of a large vec lies the start of a line of the cache
ALIGNED_BYTES: Final = 16  # and so many bytes behind the start of large bytes
ROOM: Final = 64  # ids; eight times as many fit before each piece, and four before each part of one
LONG_ENTRIES: Final = 1 << 14
LONGEST_KEPT: Final = 256  # bytes; a longer piece seldom comes twice


class Encoder(Merging):
    """Encodes texts; the ids of the last one are left in `out`. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.tables` and `katapi.runtime.native.classes` derive them."""
        super().__init__(tables)
        self.leads = tables["leads"]
        self._pages = tables["pages"]
        self._kinds = tables["kinds"]
        self._ids = tables["ids"]
        self._short = tables["short"]
        self._medium = tables["medium"]
        self._short_mask: i64 = (len(self._short) - ALIGNED_BYTES) // 16 - 1
        self._medium_mask: i64 = (len(self._medium) - ALIGNED_BYTES) // 32 - 1
        self._bounds = tables["bounds"]
        self._joined = tables["joined"]
        self._whole = WholeTokens(tables)
        self.mix_high: i64 = MIX_HIGH
        self.short_memo = vec[i64]([-1] * ((2 << SHORT_BITS) + 8))
        self._long_memo: dict[bytes, bytes] = {}
        self._integers: list[object] = [None] * (len(self._bounds) // 4)
        self.out = vec[i32]([0] * 4096)
        self.view: NDArray[np.int32] | None = None
        """What reads `out` as an array, once somebody has made it; None again when `out` is another."""

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids. Raises UnicodeEncodeError on a lone surrogate."""
        raise NotImplementedError

    def listed(self, text: str) -> list[int]:
        """The ids of a text as a list of integers, each of which is made once. Raises as `encode` does."""
        count: i64 = self.encode(text)
        integers = self._integers
        out = self.out
        ids: list[object] = [None] * int(count)  # mypyc would take an `int` out of its object and make it anew
        i: i64 = 0
        while i < count:
            token: i64 = i64(out[i])
            known = integers[token]
            if known is None:
                known = int(token)
                integers[token] = known
            ids[i] = known
            i += 1
        return cast("list[int]", ids)

    def in_bytes(self, text: str) -> bytes:
        """The ids of a text in the bytes of an int64 array. Raises as `encode` does."""
        count: i64 = self.encode(text)
        out = self.out
        ids = BytesWriter()
        i: i64 = 0
        while i < count:
            write_i64_le(ids, i64(out[i]))
            i += 1
        return ids.getvalue()

    def make_room(self, size: i64) -> None:
        """Makes `out` hold at least so many ids and some more."""
        old = self.out
        held: i64 = len(old)
        new = vec[i32]([0] * int(size + 16 * ROOM))
        i: i64 = 0
        while i < held:
            new[i] = old[i]
            i += 1
        self.leave_in(new)

    def leave_in(self, ids: vec[i32]) -> None:
        """Makes `out` another vec."""
        self.out = ids
        self.view = None

    def steps(self, members: i64) -> bytes:
        """The length of a character by its first byte, where every character with it is of the classes `members`.

        0 for other bytes, and for those of which some characters are of other classes. Behind these 256 the same for
        characters of three bytes by their first two.
        """
        steps = bytearray(256 + 1024)
        for byte in range(256):
            kind: i64 = self.leads[byte]
            if kind < 64 and (members >> kind) & 1 == 1:
                steps[byte] = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        page: i64 = 0x800 >> 6
        while page < 0x10000 >> 6:
            kinds: i64 = i64(read_i16_le(self._pages, page << 1)) << 6
            i: i64 = 0
            while i < 64 and (members >> i64(self._kinds[kinds + i])) & 1 == 1:
                i += 1
            if i == 64:
                steps[256 + page] = 3
            page += 1
        return bytes(steps)

    def character(self, b: bytes, q: i64) -> i64:
        """The class of the character at `q`, shifted by 3, and its length in bytes; at the end that of the end."""
        c: i64 = b[q]
        code: i64
        size: i64
        if c < 0x80 or c == 0xFF:
            kind: i64 = self.leads[c]
            return kind << 3 | 1
        if c < 0xE0:
            code = (c & 0x1F) << 6 | i64(b[q + 1]) & 0x3F
            size = 2
        elif c < 0xF0:
            code = (c & 0x0F) << 12 | (i64(b[q + 1]) & 0x3F) << 6 | i64(b[q + 2]) & 0x3F
            size = 3
        else:
            code = (c & 0x07) << 18 | (i64(b[q + 1]) & 0x3F) << 12 | (i64(b[q + 2]) & 0x3F) << 6 | i64(b[q + 3]) & 0x3F
            size = 4
        page: i64 = i64(read_i16_le(self._pages, code >> 6 << 1))
        kind = self._kinds[page << 6 | code & 63]
        return kind << 3 | size

    def step(self, b: bytes, q: i64, steps: bytes, members: i64) -> i64:
        """The length of the character at `q` where it is of the classes `members`, whose `steps` are given; else 0."""
        c: i64 = b[q]
        if c >> 4 == 0xE and steps[256 + ((c & 15) << 6 | i64(b[q + 1]) & 63)] != 0:
            return 3
        found: i64 = self.character(b, q)
        return found & 7 if members >> (found >> 3) & 1 == 1 else 0

    def _put(self, packed: i64, more: i64, count: i64) -> i64:
        """Puts packed ids behind the others, those from the fourth on in `more`."""
        out = self.out
        ids: i64 = packed >> COUNT
        out[count] = i32(packed & ID)
        if ids > 1:
            out[count + 1] = i32(packed >> 18 & ID)
            if ids > 2:
                out[count + 2] = i32(packed >> 36 & ID)
                if ids > 3:
                    out[count + 3] = i32(more & ID)
                    if ids > 4:
                        out[count + 4] = i32(more >> 18 & ID)
                        if ids > 5:
                            out[count + 5] = i32(more >> 36 & ID)
        return count + ids

    def _remembered(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A word of 16 bytes or more, from its memo where it is there."""
        if size > LONGEST_KEPT:
            token: i64 = self._whole.find(b, p, size, False)
            if token >= 0:
                self.out[count] = i32(token)
                return count + 1
            return self._merged_long(b, p, size, count)
        key = b[p : p + size]
        known = self._long_memo.get(key)
        i: i64 = 0
        if known is not None:
            out = self.out
            known_size: i64 = len(known)
            while i < known_size:
                out[count] = read_i32_le(known, i)
                count += 1
                i += 4
            return count
        first: i64 = count
        token = self._whole.find(b, p, size, False)
        if token >= 0:
            self.out[count] = i32(token)
            count += 1
        else:
            count = self._merged_long(b, p, size, count)
        if len(self._long_memo) >= LONG_ENTRIES:
            self._long_memo = {}
        self._long_memo[key] = memoryview(self.out)[int(first) : int(count)].tobytes()
        return count

    def _merged_long(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A piece of any length that is no token."""
        parts: i64 = self.merge(b, p, size)
        if count + parts + 4 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + parts + 4 * ROOM)
        out = self.out
        ids = self._ids
        merged = self.parts
        i: i64 = 0
        while i < parts:
            out[count] = read_i32_le(ids, i64(merged[i]) << 2)
            count += 1
            i += 1
        return count
