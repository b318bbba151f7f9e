"""The tables of a compiled encoder, derived from a vocabulary. For mypyc.

    in_order     1 where no token merges before its parts do, else 0
    byte_pairs   the rank of the token of two bytes, by both; 4 bytes each
    pairs        which pairs merge: left and right rank and that of the result in 18 bits each, hashed; 8 bytes each
    splits       of which two a token is made, by its rank: the left in the lower half, itself for a byte; 8 bytes each
    lengths      how many bytes a token has, by its rank; 4 bytes each
    prefixes     the longest token that a token begins with, by its rank, or -1; 4 bytes each
    trie         all tokens that can be made (`katapi.runtime.native.trie`)
    ids          the id of a rank; 4 bytes each
    short        pieces of up to 7 bytes that are one token, hashed: the piece and its length, and the id
    medium       those of 8 to 15 bytes: the piece, its length, the id, nothing; 8 bytes each
    long         the ids of longer ones, hashed; 4 bytes each
    joined, bounds   the bytes of all ids, and where each begins
    characters   the ids of characters of three bytes, or -1 where one is no token that can be made; 4 bytes each
    crossings    a bit for each hash of two characters of three bytes that a token holds both of, wholly or in part;
                 behind them, by the last byte of one and the first of the next, whether a token begins with both
    parts_differ 1 where a part of a piece can have the bytes of a token that it is not, else 0

An empty place of a hash table is -1.
"""

from __future__ import annotations

from librt.strings import read_i32_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.crossings import characters, crossings, parts_differ
from katapi.runtime.native.encoder import ALIGNED_BYTES, LENGTH, MIX_HIGH
from katapi.runtime.native.merging import MIX, NONE
from katapi.runtime.native.trie import Trie
from katapi.runtime.native.vocabulary import NotDerivable, Vocabulary, counts_as_whole, power_above, slot_of, word
from katapi.runtime.native.whole_tokens import WHOLE_ONLY, hash_of


def derive(vocabulary: Vocabulary, any_whole: bool) -> dict[str, bytes]:
    """The tables; with `any_whole` a piece that is a token is that token, whether it can be made or not.

    Raises `NotDerivable`.
    """
    ranks = Ranks(vocabulary)
    tables = ranks.tables()
    tables |= whole_pieces(vocabulary, any_whole)
    tables["characters"] = characters(vocabulary)
    tables["crossings"] = crossings(vocabulary, any_whole)
    tables["parts_differ"] = b"\1" if any_whole and parts_differ(vocabulary) else b"\0"
    return tables


class Ranks:
    """The tokens of a vocabulary that can be made, numbered in the order of their merges behind the single bytes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        ordered = sorted(
            [
                (int(vocabulary.place[token]), token)
                for token in range(int(vocabulary.count))
                if vocabulary.place[token] >= 0
            ]
        )
        self.ids = vec[i64]([0] * (256 + len(ordered)))
        self.of_id = vec[i64]([-1] * int(vocabulary.count))
        rank: i64 = 0
        while rank < 256:
            byte: i64 = vocabulary.of_byte[rank]
            self.ids[rank] = byte  # -1 for one that no text has
            if byte >= 0:
                self.of_id[byte] = rank
            rank += 1
        for _, token in ordered:
            self.ids[rank] = token
            self.of_id[token] = rank
            rank += 1
        self.count: i64 = rank

    def tables(self) -> dict[str, bytes]:
        """What the merges of a piece need."""
        vocabulary = self._vocabulary
        count: i64 = self.count
        slots: i64 = power_above(3 * int(count) // 2)
        pairs = vec[i64]([-1] * int(slots))
        byte_pairs = vec[i32]([NONE] * (1 << 16))
        splits = vec[i64]([0] * int(count))
        lengths = vec[i32]([0] * int(count))
        prefixes = vec[i32]([-1] * int(count))
        ids = vec[i32]([0] * int(count))
        nodes = vec[i64]([0] * int(count))
        trie = Trie(i64(read_i32_le(vocabulary.bounds, vocabulary.count << 2)))
        in_order = b"\1"
        rank: i64 = 0
        while rank < count:
            token: i64 = self.ids[rank]
            if token < 0:
                lengths[rank] = 1
                splits[rank] = rank | rank << 32
                rank += 1
                continue
            ids[rank] = i32(token)
            lengths[rank] = i32(vocabulary.size(token))
            start: i64 = vocabulary.start(token)
            nodes[rank] = trie.add(vocabulary.joined, start, start + vocabulary.size(token), rank)
            if rank < 256:
                splits[rank] = rank | rank << 32
            else:
                left: i64 = self.of_id[vocabulary.left[token]]
                right: i64 = self.of_id[vocabulary.right[token]]
                if left >= rank or right >= rank:
                    in_order = b"\0"
                splits[rank] = left | right << 32
                if left < 256 and right < 256:
                    byte_pairs[left << 8 | right] = i32(rank)
                at: i64 = slot_of(left << 18 | right, slots - 1)
                while pairs[at] >= 0:
                    at = (at + 1) & (slots - 1)
                pairs[at] = (left << 18 | right) << 18 | rank
            rank += 1
        rank = 0
        while rank < count:
            if self.ids[rank] >= 0:
                prefixes[rank] = i32(trie.prefix(nodes[rank]))
            rank += 1
        try:
            double_array = trie.double_array()
        except OverflowError:
            raise NotDerivable("the trie of all tokens is too large") from None
        return {
            "in_order": in_order,
            "byte_pairs": memoryview(byte_pairs).tobytes(),
            "pairs": memoryview(pairs).tobytes(),
            "splits": memoryview(splits).tobytes(),
            "lengths": memoryview(lengths).tobytes(),
            "prefixes": memoryview(prefixes).tobytes(),
            "trie": double_array,
            "ids": memoryview(ids).tobytes(),
        }


def whole_pieces(vocabulary: Vocabulary, any_whole: bool) -> dict[str, bytes]:
    """The hash tables of pieces that are one token."""
    counts = [0, 0, 0]
    token: i64 = 0
    while token < vocabulary.count:
        if counts_as_whole(vocabulary, token, any_whole):
            size: i64 = vocabulary.size(token)
            counts[0 if size < 8 else 1 if size < 16 else 2] += 1
        token += 1
    short_mask: i64 = power_above(counts[0] * 5 // 4) - 1
    medium_mask: i64 = power_above(counts[1] * 5 // 4) - 1
    long_mask: i64 = power_above(2 * counts[2]) - 1
    short = vec[i64]([-1] * int(2 * short_mask + 2))
    medium = vec[i64]([-1] * int(4 * medium_mask + 4))
    long = vec[i32]([-1] * int(long_mask + 1))
    mix: i64 = MIX
    mix_high: i64 = MIX_HIGH
    token = 0
    while token < vocabulary.count:
        if counts_as_whole(vocabulary, token, any_whole):
            start: i64 = vocabulary.start(token)
            size = vocabulary.size(token)
            low: i64 = word(vocabulary.joined, start, size)
            if size < 8:
                low |= size << LENGTH
                at: i64 = low * mix >> 36 & short_mask
                while short[2 * at] != -1:
                    at = (at + 1) & short_mask
                short[2 * at] = low
                short[2 * at + 1] = mark_of(vocabulary, token) | token
            elif size < 16:
                high: i64 = word(vocabulary.joined, start + 8, size - 8) | size << LENGTH
                at = low * mix + high * mix_high >> 36 & medium_mask
                while medium[4 * at + 1] != -1:
                    at = (at + 1) & medium_mask
                medium[4 * at] = low
                medium[4 * at + 1] = high
                medium[4 * at + 2] = mark_of(vocabulary, token) | token
            else:
                at = hash_of(vocabulary.joined, start, size) >> 20 & long_mask
                while long[at] != -1:
                    at = (at + 1) & long_mask
                long[at] = i32(mark_of(vocabulary, token) | token)
        token += 1
    return {
        "short": bytes(ALIGNED_BYTES) + memoryview(short).tobytes(),
        "medium": bytes(ALIGNED_BYTES) + memoryview(medium).tobytes(),
        "long": memoryview(long).tobytes(),
        "joined": vocabulary.joined,
        "bounds": vocabulary.bounds,
    }


def mark_of(vocabulary: Vocabulary, token: i64) -> i64:
    """What stands above the id of a token that cannot be made."""
    return WHOLE_ONLY if vocabulary.place[token] < 0 and vocabulary.size(token) > 1 else 0
