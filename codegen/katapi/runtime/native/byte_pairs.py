"""Byte-level byte-pair encoding of whole texts: the pieces that a scanner finds, each from a memo or by its merges.

For mypyc. The scanners in `katapi_scanners` are classes that find the end of a piece; all else is here. What decides
the speed is how much memory a piece touches: a piece of up to 7 bytes is one number with its length in the highest
byte, one of up to 15 bytes two, and each is looked up in one line of a cache, first among those that came before.

The memos are direct-mapped and bounded: a new entry takes the place of the one that was there. Up to 3 ids are packed
in a number, 18 bits each, their count above them.

An encoder keeps what it works with from one text to the next, so two threads must not use one at the same time. The
global lock does not see to that: memory that is allocated here can start the garbage collector, and that can run code
which lets another thread go on. `NativeEngine` gives each call an encoder of its own.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.encoder import (
    ALIGNED,
    ALIGNED_BYTES,
    BYTES,
    COUNT,
    ID,
    LENGTH,
    ONE_ID,
    PADDING,
    ROOM,
    SHORT_BITS,
    WHOLE_ONLY,
    Encoder,
)
from katapi.runtime.native.merging import MASKS, MIX

HIGH: Final = -9187201950435737472  # the highest bit of each of eight bytes
SPACES: Final = 0x2020202020202020  # eight of them
OPENS: Final = 1
INSIDE: Final = 2
CLOSES: Final = 4
MEDIUM_BITS: Final = 15  # of the number of entries of each memo
MERGED_BITS: Final = 16
PART: Final = 0x2000000000000000  # marks a part of a piece, where that makes a difference
CROSSING_BITS: Final = 20
PARTS_CROSS: Final = 1 << 17  # where it says of a byte and the next whether a token begins with both: behind the bits
ALONE: Final = 2  # one has no more than these


class BytePairEncoder(Encoder):
    """Encodes texts; the ids of the last one are left in `out`."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.tables` derives them."""
        super().__init__(tables)
        self._crossings = tables["crossings"]
        self._characters = tables["characters"]
        self._part: i64 = PART if tables["parts_differ"] == b"\1" else 0
        self.high: i64 = HIGH
        self._medium_memo = vec[i64]([-1] * ((4 << MEDIUM_BITS) + 8))
        self._merged_memo = vec[i64]([-1] * ((4 << MERGED_BITS) + 8))
        self._packed: i64 = 0

    def piece_end(self, b: bytes, q: i64) -> i64:
        """Where the piece ends that begins at `q`: what a scanner knows."""
        raise NotImplementedError

    def words_of(self, opens: i64, inside: i64, closes: i64) -> bytes:
        """By a byte of ASCII, or the one at the end: whether a word can begin with it, consist of it, end before it."""
        words = bytearray(256)
        for byte in range(256):
            kind: i64 = self.leads[byte]
            if byte < 0x80 or byte == 0xFF:
                words[byte] = (
                    OPENS * int(opens >> kind & 1) | INSIDE * int(inside >> kind & 1) | CLOSES * int(closes >> kind & 1)
                )
        return bytes(words)

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids. Raises UnicodeEncodeError on a lone surrogate."""
        b = text.encode("utf-8")
        n: i64 = len(b)
        b = b + PADDING
        out = self.out
        room: i64 = i64(len(out)) - 8 * ROOM
        memo = self.short_memo
        masks = MASKS
        mix: i64 = MIX
        count: i64 = 0
        p: i64 = 0
        while p < n:
            if count > room:
                self.make_room(2 * count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            end: i64 = self.piece_end(b, p)
            size: i64 = end - p
            if size < 8:
                key: i64 = read_i64_le(b, p) & read_i64_le(masks, size << 3) | size << LENGTH
                slot: i64 = (key * mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
                if memo[slot] == key:
                    packed: i64 = memo[slot + 1]
                    out[count] = i32(packed & ID)
                    ids: i64 = packed >> COUNT
                    if ids > 1:
                        out[count + 1] = i32(packed >> 18 & ID)
                        if ids > 2:
                            out[count + 2] = i32(packed >> 36 & ID)
                    count += ids
                else:
                    count = self._short_piece(b, p, size, key, slot, count)
            elif size < 16 and not is_wide_lead(b[p]):
                count = self._medium_piece(b, p, size, count, 0, False)
            else:
                count = self._in_parts(b, p, size, count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            p = end
        return count

    def _segment(self, b: bytes, p: i64, size: i64, count: i64, part: i64) -> i64:
        """A piece, or a part of one to which no token reaches from outside; `part` is 0, or marks a part."""
        if size < 8:
            key: i64 = read_i64_le(b, p) & read_i64_le(MASKS, size << 3) | size << LENGTH | part
            slot: i64 = (key * self.mix >> 40 & ((1 << SHORT_BITS) - 1)) * 2 + ALIGNED
            if self.short_memo[slot] == key:
                return self._put(self.short_memo[slot + 1], 0, count)
            return self._short_piece(b, p, size, key, slot, count)
        if size < 16:
            return self._medium_piece(b, p, size, count, part, True)
        return self._remembered(b, p, size, count, part)

    def _short_piece(self, b: bytes, p: i64, size: i64, key: i64, slot: i64, count: i64) -> i64:
        """A piece of up to 7 bytes that its memo does not have at `slot`."""
        table = self._short
        memo = self.short_memo
        mask: i64 = self._short_mask
        plain: i64 = key & ~PART
        at: i64 = plain * self.mix >> 36 & mask
        while True:
            found: i64 = read_i64_le(table, (at << 4) + ALIGNED_BYTES)
            if found == plain:
                token: i64 = read_i64_le(table, (at << 4) + ALIGNED_BYTES + 8)
                if token >= WHOLE_ONLY and key != plain:
                    break
                token &= ID
                self.out[count] = i32(token)
                memo[slot] = key
                memo[slot + 1] = token | ONE_ID
                return count + 1
            if found == -1:
                break
            at = (at + 1) & mask
        count = self._merged_piece(b, p, size, key & BYTES, size << LENGTH, count)
        if self._packed != 0:
            memo[slot] = key
            memo[slot + 1] = self._packed
        return count

    def _medium_piece(self, b: bytes, p: i64, size: i64, count: i64, part: i64, cut: bool) -> i64:
        """A piece or a part of 8 to 15 bytes; `cut` says that it was cut already where that is possible."""
        low: i64 = read_i64_le(b, p)
        high: i64 = read_i64_le(b, p + 8) & read_i64_le(MASKS, size - 8 << 3) | size << LENGTH
        mixed: i64 = low * self.mix + high * self.mix_high
        marked: i64 = high | part
        memo = self._medium_memo
        slot: i64 = (mixed >> 40 & ((1 << MEDIUM_BITS) - 1)) * 4 + ALIGNED
        if memo[slot] == low and memo[slot + 1] == marked:
            return self._put(memo[slot + 2], 0, count)
        table = self._medium
        mask: i64 = self._medium_mask
        at: i64 = mixed >> 36 & mask
        while True:
            found: i64 = read_i64_le(table, (at << 5) + ALIGNED_BYTES + 8)
            if found == high and read_i64_le(table, (at << 5) + ALIGNED_BYTES) == low:
                token: i64 = read_i64_le(table, (at << 5) + ALIGNED_BYTES + 16)
                if token >= WHOLE_ONLY and part != 0:
                    break
                token &= ID
                self.out[count] = i32(token)
                memo[slot] = low
                memo[slot + 1] = marked
                memo[slot + 2] = token | ONE_ID
                return count + 1
            if found == -1:
                break
            at = (at + 1) & mask
        if not cut and b[p + size - 1] >= 0x80:
            return self._in_parts(b, p, size, count)
        count = self._merged_piece(b, p, size, low, high, count)
        if self._packed != 0:
            memo[slot] = low
            memo[slot + 1] = marked
            memo[slot + 2] = self._packed
        return count

    def _merged_piece(self, b: bytes, p: i64, size: i64, low: i64, high: i64, count: i64) -> i64:
        """A piece of up to 15 bytes that is no token. Up to 3 ids are left in `_packed`, which is 0 for more."""
        memo = self._merged_memo
        slot: i64 = (low * self.mix + high * self.mix_high >> 40 & ((1 << MERGED_BITS) - 1)) * 4 + ALIGNED
        packed: i64
        if memo[slot] == low and memo[slot + 1] == high:
            packed = memo[slot + 2]
            self._packed = packed if packed >> COUNT <= 3 else 0
            return self._put(packed, memo[slot + 3], count)
        parts: i64 = self.merge_short(b, p, size, self.parts)
        ids = self._ids
        packed = parts << COUNT
        more: i64 = 0
        i: i64 = 0
        while i < parts:
            token: i64 = i64(read_i32_le(ids, i64(self.parts[i]) << 2))
            self.out[count + i] = i32(token)
            if i < 3:
                packed |= token << 18 * i
            elif i < 6:
                more |= token << 18 * (i - 3)
            i += 1
        self._packed = packed if parts <= 3 else 0
        if parts <= 6:
            memo[slot] = low
            memo[slot + 1] = high
            memo[slot + 2] = packed
            memo[slot + 3] = more
        return count + parts

    def _in_parts(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A piece of 8 bytes or more, cut between characters of three bytes where no token holds both.

        So no merge ever reaches across, and each part has the ids that it has by itself.
        """
        if count + size + 4 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + size + 4 * ROOM)
        out = self.out
        crossings = self._crossings
        characters = self._characters
        end: i64 = p + size
        start: i64 = p
        before: i64 = 0
        part: i64 = 0
        while p < end:
            c: i64 = b[p]
            if not is_wide_lead(c):
                before = 0
                p += 1
                continue
            here: i64 = i64(read_i32_le(b, p)) & 0xFFFFFF
            if before != 0:
                mixed: i64 = crossing_of(before, here)
                parts: i64 = crossings[PARTS_CROSS + (before >> 12 & 0x3F0 | c & 15)]
                if crossings[mixed >> 3] >> (mixed & 7) & 1 == 0 and (
                    parts == 0 or not self._part_crosses(before >> 16, here, parts)
                ):
                    part = self._part
                    token: i64 = -1
                    if p - start == 3:
                        token = i64(read_i32_le(characters, place_of(before)))
                    if token >= 0:
                        out[count] = i32(token)
                        count += 1
                    else:
                        count = self._segment(b, start, p - start, count, part)
                    start = p
            before = here
            p += 3
        if end - start == 3 and before != 0:
            token = i64(read_i32_le(characters, place_of(before)))
            if token >= 0:
                out[count] = i32(token)
                return count + 1
        return self._segment(b, start, end - start, count, part)

    def _part_crosses(self, last: i64, here: i64, parts: i64) -> bool:
        """Whether a token begins with the last byte of a character and holds the next, or two bytes of it.

        `parts` tells that one begins with the byte and the first of the next: with these, or with these alone.
        """
        if parts == ALONE:
            return True
        crossings = self._crossings
        whole: i64 = crossing_of(last, here)
        begun: i64 = crossing_of(last, here & 0xFFFF)
        return (crossings[whole >> 3] >> (whole & 7) | crossings[begun >> 3] >> (begun & 7)) & 1 != 0


def is_wide_lead(byte: i64) -> bool:
    """Whether it begins a character of three bytes."""
    return byte >> 4 == 0xE


def place_of(character: i64) -> i64:
    """Where the id of such a character stands, whose first byte is in the lowest place."""
    return ((character & 15) << 12 | (character >> 8 & 63) << 6 | character >> 16 & 63) << 2


def crossing_of(before: i64, here: i64) -> i64:
    """The bit for two characters of three bytes, the first byte of each in the lowest place."""
    return (before * 0x9E3779B1 ^ here * 0x85EBCA77) >> 8 & ((1 << CROSSING_BITS) - 1)
