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

from typing import Final

from librt.strings import read_i32_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.byte_pairs import ALONE, PARTS_CROSS, crossing_of, is_wide_lead, place_of
from katapi.runtime.native.encoder import ALIGNED_BYTES, LENGTH, MIX_HIGH, WHOLE_ONLY, hash_of
from katapi.runtime.native.merging import MIX, NONE, are_equal
from katapi.runtime.native.trie import Trie
from katapi.runtime.tokenization.byte_alphabet import IN_NO_TEXT

PAD: Final = b"\xff" * 16
"""Behind all tokens, so that they are read eight bytes at a time."""


class NotDerivable(Exception):
    """A vocabulary for which there are no tables; the text says why."""


class Vocabulary:
    """The tokens that text can yield, by id.

    `joined` are their bytes with `PAD` behind them, `bounds` where each begins, int32, and `reachable` a byte for each
    id. `merges` are the ids of a left and a right part and of the whole, int32, the first to merge in front; without
    them the pair that makes the token of the lowest id merges.
    """

    def __init__(self, joined: bytes, bounds: bytes, reachable: bytes, merges: bytes, by_rank: bool) -> None:
        self.joined = joined
        self.bounds = bounds
        self.by_rank = by_rank
        self.count: i64 = len(reachable)
        if self.count > 1 << 18:
            raise NotDerivable(f"there are {len(reachable)} ids; 262,144 are supported")
        self.index = self._index(reachable)
        self._tokens = self._indexed()
        self.of_byte = vec[i64]([-1] * 256)
        self.left = vec[i64]([-1] * int(self.count))
        self.right = vec[i64]([-1] * int(self.count))
        self.place = vec[i64]([-1] * int(self.count))  # in the order of merges
        token: i64 = 0
        while token < self.count:
            if self.size(token) == 1 and self.is_token(token):
                self.of_byte[self.joined[self.start(token)]] = token
            token += 1
        for byte in range(256):
            if self.of_byte[byte] < 0 and (by_rank or byte not in IN_NO_TEXT):
                raise NotDerivable(f"the byte {byte} is no token")
        if by_rank:
            self._split_by_rank()
        else:
            self._split_by_merges(merges)

    def start(self, token: i64) -> i64:
        """Where the bytes of a token begin."""
        return i64(read_i32_le(self.bounds, token << 2))

    def size(self, token: i64) -> i64:
        """How many bytes it has."""
        return i64(read_i32_le(self.bounds, (token << 2) + 4)) - i64(read_i32_le(self.bounds, token << 2))

    def is_token(self, token: i64) -> bool:
        """Whether text can yield it: of two alike the later."""
        return self._tokens[token] != 0

    def find(self, start: i64, size: i64) -> i64:
        """The id of `joined[start : start + size]`, or -1."""
        mask: i64 = len(self.index) - 1
        at: i64 = hash_of(self.joined, start, size) >> 20 & mask
        while True:
            token: i64 = self.index[at]
            if token < 0 or (
                self.size(token) == size and are_equal(self.joined, start, self.joined, self.start(token), size)
            ):
                return token
            at = (at + 1) & mask

    def _index(self, reachable: bytes) -> vec[i64]:
        index = vec[i64]([-1] * power_above(2 * len(reachable)))
        self.index = index
        mask: i64 = len(index) - 1
        token: i64 = 0
        while token < self.count:
            if reachable[token] != 0 and self.size(token) > 0:
                at: i64 = hash_of(self.joined, self.start(token), self.size(token)) >> 20 & mask
                while index[at] >= 0:
                    if self.size(index[at]) == self.size(token) and are_equal(
                        self.joined, self.start(token), self.joined, self.start(index[at]), self.size(token)
                    ):
                        break
                    at = (at + 1) & mask
                index[at] = token
            token += 1
        return index

    def _indexed(self) -> bytes:
        """A byte for each id: whether it stands in the index, as one does of those that are alike."""
        index = self.index
        found = bytearray(int(self.count))
        for token in index:
            if token >= 0:
                found[token] = 1
        return bytes(found)

    def _split_by_rank(self) -> None:
        """Merges the bytes of each token: its last merge is how it is made, if it is made at all."""
        token: i64 = 0
        while token < self.count:
            if self.size(token) > 1 and self.is_token(token):
                self._split_token(token)
            token += 1

    def _split_token(self, token: i64) -> None:
        size: i64 = self.size(token)
        first: i64 = self.start(token)
        cuts = vec[i64]([0] * int(size + 1))
        ranks = vec[i64]([0] * int(size + 1))
        parts: i64 = size
        i: i64 = 0
        while i <= size:
            cuts[i] = first + i
            if i < size - 1:
                ranks[i] = self._rank(first + i, 2)
            i += 1
        while parts > 1:
            best: i64 = NONE
            at: i64 = 0
            i = 0
            while i < parts - 1:
                if ranks[i] < best:
                    best = ranks[i]
                    at = i
                i += 1
            if best == NONE:
                return
            if parts == 2:
                self.left[token] = self.find(cuts[0], cuts[1] - cuts[0])
                self.right[token] = self.find(cuts[1], cuts[2] - cuts[1])
                self.place[token] = token
                return
            i = at + 1
            while i < parts:
                cuts[i] = cuts[i + 1]
                ranks[i - 1] = ranks[i]
                i += 1
            parts -= 1
            if at < parts - 1:
                ranks[at] = self._rank(cuts[at], cuts[at + 2] - cuts[at])
            if at > 0:
                ranks[at - 1] = self._rank(cuts[at - 1], cuts[at + 1] - cuts[at - 1])

    def _rank(self, start: i64, size: i64) -> i64:
        token: i64 = self.find(start, size)
        return NONE if token < 0 else token

    def _split_by_merges(self, merges: bytes) -> None:
        """The same by a list of merges, of which of two alike the later counts."""
        count: i64 = len(merges) // 12
        slots: i64 = power_above(2 * len(merges) // 12)
        keys = vec[i64]([-1] * int(slots))
        places = vec[i64]([-1] * int(slots))
        i: i64 = 0
        while i < count:
            left: i64 = i64(read_i32_le(merges, i * 12))
            right: i64 = i64(read_i32_le(merges, i * 12 + 4))
            token: i64 = i64(read_i32_le(merges, i * 12 + 8))
            if self.is_token(left) and self.is_token(right) and self.is_token(token):
                if (
                    self.size(left) + self.size(right) != self.size(token)
                    or not are_equal(self.joined, self.start(token), self.joined, self.start(left), self.size(left))
                    or not are_equal(
                        self.joined,
                        self.start(token) + self.size(left),
                        self.joined,
                        self.start(right),
                        self.size(right),
                    )
                ):
                    raise NotDerivable(f"the merge {int(i)} does not give the bytes of its parts")
                at: i64 = slot_of(left << 18 | right, slots - 1)
                while keys[at] >= 0 and keys[at] != left << 18 | right:
                    at = (at + 1) & (slots - 1)
                keys[at] = left << 18 | right
                places[at] = i
            i += 1
        token = 0
        while token < self.count:
            if self.size(token) > 1 and self.is_token(token):
                self._merge_token(token, merges, keys, places)
            token += 1

    def _merge_token(self, token: i64, merges: bytes, keys: vec[i64], places: vec[i64]) -> None:
        size: i64 = self.size(token)
        first: i64 = self.start(token)
        parts = vec[i64]([0] * int(size))
        order = vec[i64]([NONE] * int(size))  # of each part with the next one
        count: i64 = size
        i: i64 = 0
        while i < size:
            parts[i] = self.of_byte[self.joined[first + i]]
            if parts[i] < 0:
                return
            if i > 0:
                order[i - 1] = look_up(keys, places, parts[i - 1] << 18 | parts[i])
            i += 1
        while count > 1:
            best: i64 = NONE
            at: i64 = 0
            i = 0
            while i < count - 1:
                if order[i] < best:
                    best = order[i]
                    at = i
                i += 1
            if best == NONE:
                return
            merged: i64 = i64(read_i32_le(merges, best * 12 + 8))
            if count == 2:
                if merged == token:
                    self.left[token] = parts[0]
                    self.right[token] = parts[1]
                    self.place[token] = best
                return
            parts[at] = merged
            i = at + 1
            while i < count - 1:
                parts[i] = parts[i + 1]
                order[i - 1] = order[i]
                i += 1
            count -= 1
            if at < count - 1:
                order[at] = look_up(keys, places, merged << 18 | parts[at + 1])
            if at > 0:
                order[at - 1] = look_up(keys, places, parts[at - 1] << 18 | merged)


def slot_of(key: i64, mask: i64) -> i64:
    """Where a key of 36 bits belongs."""
    mix: i64 = MIX
    return key * mix >> 40 & mask if mask < 1 << 23 else 0


def look_up(keys: vec[i64], places: vec[i64], key: i64) -> i64:
    """The place of a merge, or `NONE`."""
    mask: i64 = len(keys) - 1
    at: i64 = slot_of(key, mask)
    while keys[at] >= 0:
        if keys[at] == key:
            return places[at]
        at = (at + 1) & mask
    return NONE


def power_above(number: int) -> int:
    """The lowest power of two that is not below a number."""
    return 1 << max(4, (number - 1).bit_length())


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


def counts_as_whole(vocabulary: Vocabulary, token: i64, any_whole: bool) -> bool:
    """Whether a piece with the bytes of a token is that token."""
    if vocabulary.size(token) == 0 or not vocabulary.is_token(token):
        return False
    return any_whole or vocabulary.size(token) == 1 or vocabulary.place[token] >= 0


def mark_of(vocabulary: Vocabulary, token: i64) -> i64:
    """What stands above the id of a token that cannot be made."""
    return WHOLE_ONLY if vocabulary.place[token] < 0 and vocabulary.size(token) > 1 else 0


def word(b: bytes, p: i64, size: i64) -> i64:
    """Up to eight bytes as a number, the first in the lowest place."""
    value: i64 = 0
    i: i64 = 0
    while i < size and i < 8:
        value |= i64(b[p + i]) << 8 * i
        i += 1
    return value


def characters(vocabulary: Vocabulary) -> bytes:
    """The ids of characters of three bytes."""
    ids = vec[i32]([-1] * (1 << 16))
    token: i64 = 0
    while token < vocabulary.count:
        if vocabulary.size(token) == 3 and vocabulary.is_token(token) and vocabulary.place[token] >= 0:
            start: i64 = vocabulary.start(token)
            text = vocabulary.joined[start : start + 3]
            if is_wide(text):
                ids[place_of(word(text, 0, 3)) >> 2] = i32(token)
        token += 1
    return memoryview(ids).tobytes()


def crossings(vocabulary: Vocabulary, any_whole: bool) -> bytes:
    """Between which characters of three bytes a token can reach."""
    bits = bytearray(PARTS_CROSS + 1024)
    token: i64 = 0
    while token < vocabulary.count:
        size: i64 = vocabulary.size(token)
        if size > 1 and counts_as_whole(vocabulary, token, any_whole):
            start: i64 = vocabulary.start(token)
            mark(bits, vocabulary.joined[start : start + size])
        token += 1
    return bytes(bits)


def parts_differ(vocabulary: Vocabulary) -> bool:
    """Whether a token that cannot be made begins or ends where a piece can be cut.

    Then a part of a piece can have its bytes, and is not that token, while a piece with them is.
    """
    token: i64 = 0
    while token < vocabulary.count:
        size: i64 = vocabulary.size(token)
        if size > 2 and vocabulary.place[token] < 0 and vocabulary.is_token(token):
            start: i64 = vocabulary.start(token)
            text = vocabulary.joined[start : start + size]
            if is_wide(text[:3]) or is_wide(text[-3:]):
                return True
        token += 1
    return False


def is_wide(text: bytes) -> bool:
    """Whether it is a character of three bytes."""
    return len(text) == 3 and is_wide_lead(text[0]) and text[1] & 0xC0 == 0x80 and text[2] & 0xC0 == 0x80


def mark(bits: bytearray, text: bytes) -> None:
    """Marks what one token holds both of: its neighbouring characters, and what its ends may be parts of."""
    size: i64 = len(text)
    start: i64 = 0
    while start < 2 and start < size and text[start] & 0xC0 == 0x80:
        start += 1
    ahead = text[:start]  # the end of a character, where it is not longer than that
    p: i64 = start
    while p < size:
        lead: i64 = text[p]
        if not is_wide_lead(lead):
            ahead = b""
            p += 1
            continue
        here = text[p : p + 3]
        if len(ahead) > 0:
            mark_all(bits, ahead, here)
        ahead = here
        p += 3


def mark_all(bits: bytearray, left: bytes, right: bytes) -> None:
    """Marks all pairs of a character that ends with `left` and one that begins with `right`.

    One byte is the end of too many characters. It is marked as it is, and so is what stands behind it.
    """
    if len(left) == 1:
        alone: i64 = PARTS_CROSS + ((left[0] & 63) << 4 | right[0] & 15)
        if len(right) == 1:
            bits[alone] = ALONE
            return
        bits[alone] = max(bits[alone], 1)
        mark_pair(bits, left, right)
        return
    for before in completed(left, True):
        for behind in completed(right, False):
            mark_pair(bits, before, behind)


def mark_pair(bits: bytearray, left: bytes, right: bytes) -> None:
    """Marks two characters, or parts of them."""
    mixed: i64 = crossing_of(word(left, 0, len(left)), word(right, 0, len(right)))
    bits[mixed >> 3] = bits[mixed >> 3] | (1 << (mixed & 7))


def completed(part: bytes, at_end: bool) -> list[bytes]:
    """All characters that a part of one can be the end or the beginning of."""
    found = [part]
    while len(found[0]) < 3:
        longer: list[bytes] = []
        for text in found:
            if not at_end:
                longer += [text + bytes([byte]) for byte in range(0x80, 0xC0)]
            else:
                longer += [bytes([byte]) + text for byte in range(0xE0, 0xF0)]
        found = longer
    return found
