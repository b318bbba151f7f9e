"""Byte-pair encoding of one piece of bytes, over tables derived from a vocabulary. For mypyc.

Tokens that merges can make are known by their rank: 0 to 255 are the single bytes, and those behind them stand in the
order of their merges. Each has one pair of parts that it can be made of: whatever stands around it, the bytes of a
token merge in the same order as they do by themselves, so that a token has one last merge, or never comes about.

A short piece is merged as the definition says. A long one takes time linear in its length: it is cut into the longest
tokens, and goes back where two of them could not stand beside each other (Antonov and van Breugel, "So many tokens, so
little time", 2024). Two tokens can where merging the bytes of both gives these two again, and a sequence is the right
one where every two neighbours can.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le, read_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

NONE: Final = 0x7FFFFFF
"""The rank of no token: above all ranks."""
SHORT: Final = 32
"""Bytes up to which a piece is short."""
MIX: Final = -7046029254386353131  # 2**64 divided by the golden ratio, for hashing by multiplication
_COMPATIBLE_BITS: Final = 13
MASKS: Final = b"".join([((1 << 8 * size) - 1).to_bytes(8, "little") for size in range(9)])  # of so many bytes
_NODE: Final = 0x1FFFFF  # a node of the trie in 21 bits


class Merging:
    """Merges pieces; the ranks of the last one are left in `parts`. Not to be shared between threads."""

    def __init__(self, tables: dict[str, bytes]) -> None:
        """`tables` as `katapi.runtime.native.tables` derives them."""
        self.byte_pairs = tables["byte_pairs"]
        self.pairs = tables["pairs"]
        self.splits = tables["splits"]
        self.lengths = tables["lengths"]
        self.prefixes = tables["prefixes"]
        self.trie = tables["trie"]
        self.mix: i64 = MIX
        self.pair_mask: i64 = len(self.pairs) // 8 - 1
        self.parts = vec[i32]([0] * 4096)
        longest: i64 = 0
        rank: i64 = 0
        while rank < len(self.lengths) // 4:
            longest = max(longest, i64(read_i32_le(self.lengths, rank << 2)))
            rank += 1
        self._in_order = tables["in_order"] == b"\1"
        self._ranks = vec[i32]([0] * int(2 * longest + SHORT + 1))
        self._tried = vec[i32]([0] * int(2 * longest + SHORT + 1))
        self._dead = vec[i32]([0] * 4096)
        self._run: i64 = 0
        self._compatible = vec[i64]([-1] * (1 << _COMPATIBLE_BITS))

    def merge(self, b: bytes, p: i64, size: i64) -> i64:
        """Merges `b[p : p + size]`, which is not empty, and gives the number of parts."""
        return self.merge_short(b, p, size, self.parts) if size <= SHORT else self.merge_long(b, p, size)

    def pair(self, left: i64, right: i64) -> i64:
        """The rank of the token that two become, or `NONE`."""
        key: i64 = left << 18 | right
        pairs = self.pairs
        mask: i64 = self.pair_mask
        slot: i64 = key * self.mix >> 40 & mask
        while True:
            found: i64 = read_i64_le(pairs, slot << 3)
            if found >> 18 == key:
                return found & 0x3FFFF
            if found < 0:
                return NONE
            slot = (slot + 1) & mask

    def merge_short(self, b: bytes, p: i64, size: i64, parts: vec[i32]) -> i64:
        """Again and again merges the leftmost pair of the lowest rank; the ranks that are left come into `parts`."""
        ranks = self._ranks  # of the pair that begins at each part
        byte_pairs = self.byte_pairs
        last: i64 = size - 1
        i: i64 = 0
        byte: i64 = b[p]
        best: i64 = NONE
        place: i64 = 0
        while i < last:
            following: i64 = b[p + i + 1]
            parts[i] = i32(byte)
            rank: i64 = i64(read_i32_le(byte_pairs, (byte << 8 | following) << 2))
            ranks[i] = i32(rank)
            if rank < best:
                best = rank
                place = i
            byte = following
            i += 1
        parts[last] = i32(byte)
        while best != NONE:
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
            best = NONE
            i = 0
            while i < last:
                rank = i64(ranks[i])
                if rank < best:
                    best = rank
                    place = i
                i += 1
        return last + 1

    def merge_long(self, b: bytes, p: i64, size: i64) -> i64:
        """Takes the longest token at each place, and goes back where it does not lead to the end."""
        if size >= i64(len(self._dead)):
            self._dead = vec[i32]([0] * int(2 * size))
            self.parts = vec[i32]([0] * int(2 * size))
            self._run = 0
        self._run += 1
        run: i64 = self._run
        dead = self._dead  # places from which no way leads to the end, marked with the number of this run
        parts = self.parts
        end: i64 = p + size
        place: i64 = p
        count: i64 = 0
        before: i64 = -1
        again = False  # whether the token is tried because it stood before: in a run the same comes again and again
        token: i64 = self.longest(b, place, end)
        while True:
            length: i64 = i64(read_i32_le(self.lengths, token << 2))
            behind: i64 = place + length
            if i64(dead[behind - p]) != run and (before < 0 or self.compatible(before, token)):
                parts[count] = i32(token)
                count += 1
                if behind == end:
                    return count
                before = token
                place = behind
                again = place + length <= end and are_equal(b, place - length, b, place, length)
                if not again:
                    token = self.longest(b, place, end)
                continue
            if again:
                again = False
                token = self.longest(b, place, end)
                continue
            shorter: i64 = i64(read_i32_le(self.prefixes, token << 2))
            if shorter >= 0:
                token = shorter
                continue
            dead[place - p] = i32(run)
            count -= 1
            token = i64(parts[count])
            place -= i64(read_i32_le(self.lengths, token << 2))
            before = i64(parts[count - 1]) if count > 0 else -1
            again = token == before

    def longest(self, b: bytes, p: i64, end: i64) -> i64:
        """The longest token that stands at `p`; there is one, since every byte is a token."""
        trie = self.trie
        node: i64 = 0
        entry: i64 = read_i64_le(trie, 0)
        token: i64 = -1
        while p < end:
            child: i64 = (entry >> 21 & _NODE) + i64(b[p])
            entry = read_i64_le(trie, child << 3)
            if entry & _NODE != node:
                break
            node = child
            p += 1
            if entry >> 42 != 0:
                token = (entry >> 42) - 1
        return token

    def compatible(self, left: i64, right: i64) -> bool:
        """Whether two tokens stay as they are when the bytes of both are merged."""
        key: i64 = left << 18 | right
        slot: i64 = key * self.mix >> 40 & ((1 << _COMPATIBLE_BITS) - 1)
        known = self._compatible
        entry: i64 = known[slot]
        if entry >> 1 == key:
            return entry & 1 != 0
        answer = self._are_compatible(left, right) if self._in_order else self._stay(left, right)
        known[slot] = key << 1 | (1 if answer else 0)
        return answer

    def _stay(self, left: i64, right: i64) -> bool:
        """The same by merging the bytes of both: for a vocabulary in which a token can merge before its parts do."""
        size: i64 = i64(read_i32_le(self.lengths, left << 2))
        both = self._bytes_of(left) + self._bytes_of(right)
        tried = self._tried
        parts: i64 = self.merge_short(both, 0, len(both), tried)
        return parts == 2 and i64(tried[0]) == left and size < len(both)

    def _bytes_of(self, rank: i64) -> bytes:
        """The bytes of a token."""
        splits = self.splits
        split: i64 = read_i64_le(splits, rank << 3)
        if split >> 32 == rank:
            return bytes([int(rank)])
        return self._bytes_of(split & 0xFFFFFFFF) + self._bytes_of(split >> 32)

    def _are_compatible(self, left: i64, right: i64) -> bool:
        """Undoes the later of the last merges of the two again and again: none of the pairs in between may merge.

        A pair that merges no earlier than the token that was just undone does no harm: it comes too late. `limit` is
        the rank from which on that is so; of one rank the leftmost merges first.
        """
        splits = self.splits
        limit: i64 = NONE
        while True:
            if self.pair(left, right) < limit:
                return False
            if left > right:
                limit = left
                left = read_i64_le(splits, left << 3) >> 32
                if left == limit:
                    limit = right + 1
                    right = read_i64_le(splits, right << 3) & 0xFFFFFFFF
                    if right + 1 == limit:
                        return True
            else:
                limit = right + 1
                right = read_i64_le(splits, right << 3) & 0xFFFFFFFF
                if right + 1 == limit:
                    limit = left
                    left = read_i64_le(splits, left << 3) >> 32
                    if left == limit:
                        return True


def are_equal(a: bytes, i: i64, b: bytes, j: i64, size: i64) -> bool:
    """Whether `a[i : i + size]` is `b[j : j + size]`; both have 8 bytes more."""
    while size >= 8:
        if read_i64_le(a, i) != read_i64_le(b, j):
            return False
        i += 8
        j += 8
        size -= 8
    return (read_i64_le(a, i) ^ read_i64_le(b, j)) & read_i64_le(MASKS, size << 3) == 0
