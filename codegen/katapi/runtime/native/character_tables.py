"""The tables of a compiled encoder over characters, derived from a vocabulary. For mypyc.

They are those of `katapi.runtime.native.tables` without those of parts, of which `byte_pairs` and the classes of a
pattern stay empty, and

    tied                    the first and the last of the ranks that merge as if they were one; 4 bytes each
    symbols, symbol_pages   the rank of the token of a character, or -1, 4 bytes each, in pages of 64 characters, and
                            which page, 2 bytes each
    joins_space             by the last byte of a character: 1 where a merge may join it to a space behind it
    meeting                 a bit for each hash of two characters that meet in a merge
    meeting_ascii           a byte for each two characters of ASCII: 1 where they meet in a merge

Ranks are the numbers by which merges know tokens: 0 to 255 those of bytes, "<0x00>" to "<0xFF>", behind them those of
one character, then all that can be made, in the order of their merges.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.character_pairs import FIRST_CHARACTER, SPACE, meeting_of, width_of
from katapi.runtime.native.merging import NONE
from katapi.runtime.native.tables import whole_pieces
from katapi.runtime.native.trie import Trie
from katapi.runtime.native.vocabulary import NotDerivable, Vocabulary, look_up, power_above, slot_of

PAGES: Final = 0x110000 >> 6
MOST_IDS: Final = 1 << 18
BITS_A_PAIR: Final = 4


class CharacterVocabulary(Vocabulary):
    """The tokens that text can yield, by id, none of them alike.

    `joined` are their bytes with padding behind them, `bounds` where each begins, int32, and `reachable` a byte for
    each id. Either `merges` are the ids of a left and a right part and of the whole, int32, the first to merge in
    front; or any two merge that make a token, and `order` has a number for each id, int32, the lowest for what merges
    first. `byte_tokens` are the ids of the 256 tokens of bytes, int32, -1 where there is none.
    """

    def __init__(
        self, joined: bytes, bounds: bytes, reachable: bytes, byte_tokens: bytes, merges: bytes, order: bytes
    ) -> None:
        self.joined = joined
        self.bounds = bounds
        self.by_rank = len(order) > 0
        self.count: i64 = len(reachable)
        if self.count > MOST_IDS:
            raise NotDerivable(f"there are {len(reachable)} ids; 262,144 are supported")
        self.of_byte = vec[i64]([-1] * 256)
        byte: i64 = 0
        while byte < 256:
            self.of_byte[byte] = i64(read_i32_le(byte_tokens, byte << 2))
            byte += 1
        self._reachable = reachable
        self.index = self._index(reachable)
        self.left = vec[i64]([-1] * int(self.count))
        self.right = vec[i64]([-1] * int(self.count))
        self.place = vec[i64]([-1] * int(self.count))  # in the order of merges; for one character 0
        self.order = order
        self._check()
        if self.by_rank:
            self._split_by_rank()
        else:
            self._split_by_merges(merges)

    def is_token(self, token: i64) -> bool:
        """Whether text can yield it."""
        return self.size(token) > 0 and self._reachable[token] != 0

    def width(self, token: i64) -> i64:
        """How many bytes its first character has."""
        return width_of(self.joined, self.start(token))

    def _check(self) -> None:
        """No two tokens are alike, and a character that is no token has all tokens of its bytes."""
        ascii_tokens = vec[i64]([-1] * 128)
        token: i64 = 0
        while token < self.count:
            if self.is_token(token):
                if self.find(self.start(token), self.size(token)) != token:
                    raise NotDerivable(f"the token {int(token)} has the text of another")
                if self.width(token) == self.size(token):
                    self.place[token] = 0
                    if self.size(token) == 1:
                        ascii_tokens[self.joined[self.start(token)]] = token
            token += 1
        if ascii_tokens[SPACE] < 0:
            raise NotDerivable("the mark of a space is no token")
        byte: i64 = 0
        while byte < 256:
            occurs = ascii_tokens[byte] < 0 if byte < 0x80 else byte != 0xC0 and byte != 0xC1 and byte < 0xF5
            if self.of_byte[byte] < 0 and occurs:
                raise NotDerivable(f"there is no token of the byte {int(byte)}")
            byte += 1

    def _rank(self, start: i64, size: i64) -> i64:
        token: i64 = self.find(start, size)
        return NONE if token < 0 else i64(read_i32_le(self.order, token << 2))

    def _split_token(self, token: i64) -> None:
        """Merges the characters of a token: the last merge is how it is made, if it is made at all."""
        size: i64 = self.size(token)
        at: i64 = self.start(token)
        end: i64 = at + size
        cuts = vec[i64]([0] * int(size + 1))
        ranks = vec[i64]([NONE] * int(size + 1))
        parts: i64 = 0
        while at < end:
            cuts[parts] = at
            parts += 1
            at += width_of(self.joined, at)
        cuts[parts] = end
        if parts < 2:
            return
        i: i64 = 0
        while i < parts - 1:
            ranks[i] = self._rank(cuts[i], cuts[i + 2] - cuts[i])
            i += 1
        while True:
            best: i64 = NONE
            at = 0
            i = 0
            while i < parts - 1:
                if ranks[i] < best:
                    best = ranks[i]
                    at = i
                i += 1
            if best == NONE:
                return
            if parts == 2:
                left: i64 = self.find(cuts[0], cuts[1] - cuts[0])
                right: i64 = self.find(cuts[1], cuts[2] - cuts[1])
                if left < 0 or right < 0:
                    raise NotDerivable(f"the token {int(token)} is made of characters that are no tokens")
                self.left[token] = left
                self.right[token] = right
                self.place[token] = best
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

    def _merge_token(self, token: i64, merges: bytes, keys: vec[i64], places: vec[i64]) -> None:
        """The same by a list of merges."""
        at: i64 = self.start(token)
        end: i64 = at + self.size(token)
        parts = vec[i64]([0] * int(self.size(token)))
        count: i64 = 0
        while at < end:
            width: i64 = width_of(self.joined, at)
            parts[count] = self.find(at, width)
            if parts[count] < 0:
                return  # spelled in bytes, which do not merge
            count += 1
            at += width
        ranks = vec[i64]([NONE] * int(count))  # of the pair that begins at each part
        i: i64 = 0
        while i < count - 1:
            ranks[i] = look_up(keys, places, parts[i] << 18 | parts[i + 1])
            i += 1
        while count > 1:
            best: i64 = NONE
            at = 0
            i = 0
            while i < count - 1:
                if ranks[i] < best:
                    best = ranks[i]
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
                ranks[i - 1] = ranks[i]
                i += 1
            count -= 1
            if at < count - 1:
                ranks[at] = look_up(keys, places, merged << 18 | parts[at + 1])
            if at > 0:
                ranks[at - 1] = look_up(keys, places, parts[at - 1] << 18 | merged)


def derive_characters(vocabulary: CharacterVocabulary) -> dict[str, bytes]:
    """The tables. Raises `NotDerivable`."""
    ranks = CharacterRanks(vocabulary)
    tables = ranks.tables()
    tables |= whole_pieces(vocabulary, False)
    tables |= ranks.symbols()
    tables |= meetings(vocabulary)
    for name in ("byte_pairs", "leads", "pages", "kinds"):
        tables[name] = b""
    return tables


class CharacterRanks:
    """The tokens that can be made, numbered in the order of their merges behind those of bytes and characters."""

    def __init__(self, vocabulary: CharacterVocabulary) -> None:
        self._vocabulary = vocabulary
        merged = sorted(
            [
                (int(vocabulary.place[token]), token)
                for token in range(int(vocabulary.count))
                if vocabulary.left[token] >= 0
            ]
        )
        characters = [
            token
            for token in range(int(vocabulary.count))
            if vocabulary.place[token] == 0 and vocabulary.left[token] < 0
        ]
        self.count: i64 = FIRST_CHARACTER + len(characters) + len(merged)
        if self.count > MOST_IDS:
            raise NotDerivable(f"there are {int(self.count)} tokens; 262,144 are supported")
        self.first_merged: i64 = FIRST_CHARACTER + len(characters)
        self.ids = vec[i64]([0] * int(self.count))
        self.of_id = vec[i64]([-1] * int(vocabulary.count))
        rank: i64 = 0
        while rank < FIRST_CHARACTER:
            self.ids[rank] = vocabulary.of_byte[rank]  # of a byte that does not occur, -1
            rank += 1
        for token in characters:
            self.ids[rank] = token
            self.of_id[token] = rank
            rank += 1
        self.first_tied: i64 = NONE
        self.last_tied: i64 = -1
        before: i64 = -1
        for place, token in merged:
            if place == before:
                if self.last_tied < 0:
                    self.first_tied = rank - 1
                elif self.last_tied != rank - 1:
                    raise NotDerivable(f"the token {token} is alike in score to some, as others are to others")
                self.last_tied = rank
            before = place
            self.ids[rank] = token
            self.of_id[token] = rank
            rank += 1

    def tables(self) -> dict[str, bytes]:
        """What the merges of a piece need."""
        vocabulary = self._vocabulary
        count: i64 = self.count
        slots: i64 = power_above(3 * int(count) // 2)
        pairs = vec[i64]([-1] * int(slots))
        splits = vec[i64]([0] * int(count))
        lengths = vec[i32]([0] * int(count))
        prefixes = vec[i32]([-1] * int(count))
        ids = vec[i32]([0] * int(count))
        nodes = vec[i64]([0] * int(count))
        trie = Trie(i64(read_i32_le(vocabulary.bounds, vocabulary.count << 2)))
        in_order = b"\1" if self.last_tied < 0 else b"\0"
        rank: i64 = 0
        while rank < count:
            token: i64 = self.ids[rank]
            ids[rank] = i32(token)
            splits[rank] = rank | rank << 32
            if rank >= FIRST_CHARACTER:
                lengths[rank] = i32(vocabulary.size(token))
                start: i64 = vocabulary.start(token)
                nodes[rank] = trie.add(vocabulary.joined, start, start + vocabulary.size(token), rank)
            if rank >= self.first_merged:
                left: i64 = self.of_id[vocabulary.left[token]]
                right: i64 = self.of_id[vocabulary.right[token]]
                if left >= rank or right >= rank:
                    in_order = b"\0"
                splits[rank] = left | right << 32
                at: i64 = slot_of(left << 18 | right, slots - 1)
                while pairs[at] >= 0:
                    at = (at + 1) & (slots - 1)
                pairs[at] = (left << 18 | right) << 18 | rank
            rank += 1
        rank = FIRST_CHARACTER
        while rank < count:
            prefixes[rank] = i32(trie.prefix(nodes[rank]))
            rank += 1
        try:
            double_array = trie.double_array()
        except OverflowError:
            raise NotDerivable("the trie of all tokens is too large") from None
        return {
            "pairs": memoryview(pairs).tobytes(),
            "splits": memoryview(splits).tobytes(),
            "lengths": memoryview(lengths).tobytes(),
            "prefixes": memoryview(prefixes).tobytes(),
            "ids": memoryview(ids).tobytes(),
            "trie": double_array,
            "in_order": in_order,
            "tied": int(self.first_tied).to_bytes(4, "little") + int(self.last_tied).to_bytes(4, "little", signed=True),
        }

    def symbols(self) -> dict[str, bytes]:
        """The ranks of characters by their code points."""
        page_of = vec[i64]([0] * PAGES)  # the page 0 has no character
        used: i64 = 1
        rank: i64 = FIRST_CHARACTER
        while rank < self.first_merged:
            page: i64 = self._code(rank) >> 6
            if page_of[page] == 0:
                page_of[page] = used
                used += 1
            rank += 1
        symbols = vec[i32]([-1] * int(64 * used))
        rank = FIRST_CHARACTER
        while rank < self.first_merged:
            code: i64 = self._code(rank)
            symbols[page_of[code >> 6] << 6 | code & 63] = i32(rank)
            rank += 1
        pages = b"".join([int(page).to_bytes(2, "little") for page in page_of])
        return {"symbols": memoryview(symbols).tobytes(), "symbol_pages": pages}

    def _code(self, rank: i64) -> i64:
        start: i64 = self._vocabulary.start(self.ids[rank])
        end: i64 = start + self._vocabulary.size(self.ids[rank])
        return ord(self._vocabulary.joined[int(start) : int(end)].decode())


def meetings(vocabulary: CharacterVocabulary) -> dict[str, bytes]:
    """Which characters meet in merges that tokens are made by: all others have no effect."""
    joined = vocabulary.joined
    size: i64 = power_above(int(vocabulary.count) * BITS_A_PAIR)
    meeting = bytearray(int(size) // 8)
    meeting_ascii = bytearray(1 << 14)
    joins_space = bytearray(256)
    token: i64 = 0
    while token < vocabulary.count:
        if vocabulary.left[token] >= 0:
            left: i64 = vocabulary.left[token]
            place: i64 = vocabulary.start(left) + vocabulary.size(left)
            last: i64 = place - 1
            while i64(joined[last]) & 0xC0 == 0x80:
                last -= 1
            first: i64 = vocabulary.start(vocabulary.right[token])
            before: i64 = number_of(joined, last)
            here: i64 = number_of(joined, first)
            mixed: i64 = meeting_of(before, here) & (size - 1)
            meeting[mixed >> 3] = int(i64(meeting[mixed >> 3]) | 1 << (mixed & 7))
            if before < 0x80 and here < 0x80:
                meeting_ascii[before << 7 | here] = 1
            if here == SPACE:
                joins_space[joined[place - 1]] = 1
        token += 1
    return {"meeting": bytes(meeting), "meeting_ascii": bytes(meeting_ascii), "joins_space": bytes(joins_space)}


def number_of(b: bytes, p: i64) -> i64:
    """The bytes of the character at `p` as a number, the first in the lowest place."""
    number: i64 = 0
    width: i64 = width_of(b, p)
    i: i64 = 0
    while i < width:
        number |= i64(b[p + i]) << 8 * i
        i += 1
    return number
