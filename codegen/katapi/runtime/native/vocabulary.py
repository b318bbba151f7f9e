"""The tokens that text can yield, and of which two each is made: what tables are derived from. For mypyc."""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le
from librt.vecs import vec
from mypy_extensions import i64

from katapi.runtime.native.merging import MIX, NONE, are_equal
from katapi.runtime.native.whole_tokens import hash_of
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


def counts_as_whole(vocabulary: Vocabulary, token: i64, any_whole: bool) -> bool:
    """Whether a piece with the bytes of a token is that token."""
    if vocabulary.size(token) == 0 or not vocabulary.is_token(token):
        return False
    return any_whole or vocabulary.size(token) == 1 or vocabulary.place[token] >= 0


def word(b: bytes, p: i64, size: i64) -> i64:
    """Up to eight bytes as a number, the first in the lowest place."""
    value: i64 = 0
    i: i64 = 0
    while i < size and i < 8:
        value |= i64(b[p + i]) << 8 * i
        i += 1
    return value
