"""The tables of compiled encoders of words, derived from a vocabulary. For mypyc.

They are those of `katapi.runtime.native.tables`, with nothing in those of merges and of pieces that are one token, and

    trie         the tokens
    continuing   those that go on with a word, without their prefix; empty where it counts as any other text
"""

from __future__ import annotations

from librt.strings import read_i32_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.encoder import ALIGNED_BYTES
from katapi.runtime.native.trie import Trie
from katapi.runtime.native.vocabulary import NotDerivable

_NOTHING = b"\xff" * 512  # a hash table without entries
MOST_IDS = 1 << 18


def word_tables(joined: bytes, bounds: bytes, reachable: bytes, continuing_prefix: bytes) -> dict[str, bytes]:
    """The tables of a vocabulary: the bytes of all ids, where each begins, int32, and a byte for each id.

    Raises `NotDerivable`.
    """
    count: i64 = len(reachable)
    if count > MOST_IDS:
        raise NotDerivable(f"there are {len(reachable)} ids; 262,144 are supported")
    ids = vec[i32]([0] * int(count))
    token: i64 = 0
    while token < count:
        ids[token] = i32(token)
        token += 1
    return {
        "trie": trie_of(joined, bounds, reachable, b""),
        "continuing": trie_of(joined, bounds, reachable, continuing_prefix) if continuing_prefix else b"",
        "ids": memoryview(ids).tobytes(),
        "short": bytes(ALIGNED_BYTES) + _NOTHING,
        "medium": bytes(ALIGNED_BYTES) + _NOTHING,
        "long": _NOTHING,
        "pairs": _NOTHING,
        "bounds": bounds,
        "in_order": b"\1",
    } | dict.fromkeys(("byte_pairs", "splits", "lengths", "prefixes", "joined"), b"")


def trie_of(joined: bytes, bounds: bytes, reachable: bytes, prefix: bytes) -> bytes:
    """The double array of the tokens that begin with a prefix and are longer, without it; of two alike the later."""
    count: i64 = len(reachable)
    trie = Trie(i64(read_i32_le(bounds, count << 2)))
    size: i64 = len(prefix)
    token: i64 = 0
    while token < count:
        start: i64 = i64(read_i32_le(bounds, token << 2))
        end: i64 = i64(read_i32_le(bounds, (token << 2) + 4))
        if reachable[token] != 0 and end - start > size and joined[start : start + size] == prefix:
            trie.add(joined, start + size, end, token)
        token += 1
    try:
        return trie.double_array()
    except OverflowError:
        raise NotDerivable("the trie of all tokens is too large") from None
