"""Byte-pair encoding over characters with byte fallback, of whole texts, as SentencePiece has it. For mypyc.

A text is not cut by a pattern there. It is cut where no merge can cross: first before each space that no merge joins to
the character before it, so that words come out which a memo knows, and a long word again wherever two characters meet
that meet in no merge. Memos and merges are those of byte-level encoding, with characters in the place of bytes.

In a text that is encoded here, and in the tokens, a space is a space, not the mark "▁" by which vocabularies write it.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i16_le, read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.encoder import (
    ALIGNED,
    COUNT,
    ID,
    LENGTH,
    PADDING,
    ROOM,
    SHORT_BITS,
)
from katapi.runtime.native.merging import MASKS, MIX, NONE, SHORT
from katapi.runtime.native.word_memo import WordMemoEncoder

SPACE: Final = 0x20
LOW_BITS: Final = 0x0101010101010101
HIGH_BITS: Final = -9187201950435737472  # 0x8080808080808080
SPACES: Final = 0x2020202020202020
PLACES: Final = 0x0001020304050607  # times a number with one bit, of byte i: i in the highest byte
FIRST_CHARACTER: Final = 256  # the rank of the first token of one character; those below are of bytes


class CharacterPairEncoder(WordMemoEncoder):
    """Encodes texts; the ids of the last one are left in `out`. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.character_tables` derives them."""
        super().__init__(tables)
        self._symbols = tables["symbols"]
        self._symbol_pages = tables["symbol_pages"]
        self._joins_space = tables["joins_space"]
        self._meeting = tables["meeting"]
        self._meeting_ascii = tables["meeting_ascii"]
        self._first_tied: i64 = i64(read_i32_le(tables["tied"], 0))
        self._last_tied: i64 = i64(read_i32_le(tables["tied"], 4))
        self._meeting_mask: i64 = len(self._meeting) * 8 - 1

    def encode(self, text: str) -> i64:
        """Encodes a text and gives the number of ids. Raises UnicodeEncodeError on a lone surrogate."""
        b = text.encode("utf-8")
        n: i64 = len(b)
        b = b + PADDING
        out = self.out
        room: i64 = i64(len(out)) - 8 * ROOM
        memo = self.short_memo
        masks = MASKS
        joins = self._joins_space
        mix: i64 = MIX
        low_bits: i64 = LOW_BITS
        high_bits: i64 = HIGH_BITS
        spaces: i64 = SPACES
        places: i64 = PLACES
        count: i64 = 0
        p: i64 = 0
        while p < n:
            if count > room:
                self.make_room(2 * count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            # The next space, eight bytes at a time: the lowest byte that is one is found exactly.
            q: i64 = p + 1
            while q < n:
                word: i64 = read_i64_le(b, q) ^ spaces
                found: i64 = (word - low_bits) & ~word & high_bits
                if found == 0:
                    q += 8
                    continue
                q += ((found & -found) >> 7 & low_bits) * places >> 56
                if q >= n or joins[b[q - 1]] == 0:
                    break
                q += 1
            size: i64 = q - p if q < n else n - p
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
                    count = self._short_word(b, p, size, key, slot, count)
            elif size < 16:
                count = self._medium_word(b, p, size, count)
            else:
                count = self._in_parts(b, p, size, count)
                out = self.out
                room = i64(len(out)) - 8 * ROOM
            p += size
        return count

    def _in_parts(self, b: bytes, p: i64, size: i64, count: i64) -> i64:
        """A word of 16 bytes or more, cut where two characters meet that meet in no merge."""
        meeting = self._meeting
        mask: i64 = self._meeting_mask
        meeting_ascii = self._meeting_ascii
        end: i64 = p + size
        start: i64 = p
        before: i64 = 0
        while p < end:
            here: i64 = b[p]
            after: i64 = p + 1
            if here >= 0x80:
                if here < 0xE0:
                    after = p + 2
                    here = read_i64_le(b, p) & 0xFFFF
                elif here < 0xF0:
                    after = p + 3
                    here = read_i64_le(b, p) & 0xFFFFFF
                else:
                    after = p + 4
                    here = read_i64_le(b, p) & 0xFFFFFFFF
            if p > start:
                crosses: i64
                if before < 0x80 and here < 0x80:
                    crosses = i64(meeting_ascii[before << 7 | here])
                else:
                    mixed: i64 = meeting_of(before, here) & mask
                    crosses = i64(meeting[mixed >> 3]) >> (mixed & 7) & 1
                    if crosses != 0 and self._symbol(b, p) < 0:
                        crosses = 0  # two others have the same bit
                if crosses == 0:
                    if count + 4 * ROOM > i64(len(self.out)):
                        self.make_room(2 * count + 4 * ROOM)
                    count = self._segment(b, start, p - start, count)
                    start = p
            before = here
            p = after
        if count + 4 * ROOM > i64(len(self.out)):
            self.make_room(2 * count + 4 * ROOM)
        return self._segment(b, start, end - start, count)

    def merge(self, b: bytes, p: i64, size: i64) -> i64:
        """Merges `b[p : p + size]`, which is not empty, and gives the number of parts.

        A long piece is taken apart at characters that are no token, which nothing merges with.
        """
        if size <= SHORT:
            return self.merge_short(b, p, size, self.parts)
        q: i64 = p
        end: i64 = p + size
        while q < end and self._symbol(b, q) >= 0:
            q += width_of(b, q)
        if q == end:
            return self.merge_long(b, p, size)
        return self._merge_apart(b, p, size)

    def _merge_apart(self, b: bytes, p: i64, size: i64) -> i64:
        """The same of a piece with such characters."""
        whole = bytearray()  # the ranks of the parts, 4 bytes each
        end: i64 = p + size
        parts: i64
        while p < end:
            q: i64 = p
            while q < end and self._symbol(b, q) >= 0:
                q += width_of(b, q)
            if q > p:
                parts = self.merge_short(b, p, q - p, self.parts) if q - p <= SHORT else self.merge_long(b, p, q - p)
                whole += memoryview(self.parts)[: int(parts)].tobytes()
            if q < end:
                parts = self.merge_short(b, q, width_of(b, q), self.parts)
                whole += memoryview(self.parts)[: int(parts)].tobytes()
                q += width_of(b, q)
            p = q
        ranks = bytes(whole)
        parts = len(ranks) // 4
        held = self.parts
        if parts > i64(len(held)):
            held = vec[i32]([0] * int(parts))
            self.parts = held
        i: i64 = 0
        while i < parts:
            held[i] = read_i32_le(ranks, i << 2)
            i += 1
        return parts

    def merge_short(self, b: bytes, p: i64, size: i64, parts: vec[i32]) -> i64:
        """Again and again merges the leftmost pair of the lowest rank, beginning with characters."""
        ranks = self._ranks  # of the pair that begins at each part
        end: i64 = p + size
        last: i64 = -1
        left: i64 = -1
        while p < end:
            symbol: i64 = self._symbol(b, p)
            width: i64 = width_of(b, p)
            if symbol < 0:
                while width > 0:
                    if last >= 0:
                        ranks[last] = i32(NONE)
                    last += 1
                    parts[last] = i32(i64(b[p]))
                    p += 1
                    width -= 1
                left = -1
                continue
            if last >= 0:
                ranks[last] = i32(NONE if left < 0 else self.pair(left, symbol))
            last += 1
            parts[last] = i32(symbol)
            left = symbol
            p += width
        first_tied: i64 = self._first_tied
        last_tied: i64 = self._last_tied
        i: i64
        while True:
            best: i64 = NONE
            place: i64 = 0
            i = 0
            while i < last:
                rank: i64 = i64(ranks[i])
                if rank < best and not (rank >= first_tied and best <= last_tied and best >= first_tied):
                    best = rank
                    place = i
                i += 1
            if best == NONE:
                return last + 1
            parts[place] = i32(best)
            i = place + 1
            while i < last:
                parts[i] = parts[i + 1]
                ranks[i - 1] = ranks[i]
                i += 1
            last -= 1
            if place < last:
                ranks[place] = i32(self.pair(best, i64(parts[place + 1])))
            if place > 0:
                ranks[place - 1] = i32(self.pair(i64(parts[place - 1]), best))

    def _bytes_of(self, rank: i64) -> bytes:
        token: i64 = i64(read_i32_le(self._ids, rank << 2))
        return self._joined[
            i64(read_i32_le(self._bounds, token << 2)) : i64(read_i32_le(self._bounds, (token << 2) + 4))
        ]

    def _symbol(self, b: bytes, p: i64) -> i64:
        """The rank of the token of the character at `p`, or -1."""
        code: i64 = b[p]
        if code >= 0x80:
            if code < 0xE0:
                code = (code & 0x1F) << 6 | i64(b[p + 1]) & 0x3F
            elif code < 0xF0:
                code = (code & 0x0F) << 12 | (i64(b[p + 1]) & 0x3F) << 6 | i64(b[p + 2]) & 0x3F
            else:
                code = (
                    (code & 0x07) << 18
                    | (i64(b[p + 1]) & 0x3F) << 12
                    | (i64(b[p + 2]) & 0x3F) << 6
                    | i64(b[p + 3]) & 0x3F
                )
        page: i64 = i64(read_i16_le(self._symbol_pages, code >> 6 << 1))
        return i64(read_i32_le(self._symbols, (page << 6 | code & 63) << 2))


def width_of(b: bytes, p: i64) -> i64:
    """How many bytes the character at `p` has."""
    lead: i64 = b[p]
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def meeting_of(before: i64, here: i64) -> i64:
    """The bit for two characters, as their bytes are read as numbers; to be taken modulo the number of bits."""
    return (before * 0x9E3779B1 ^ here * 0x85EBCA77) >> 8
