"""Proves for a vocabulary that merging by ranks gives the same tokens as its list of merges.

`Merges` keeps a table of pairs beside the vocabulary; `BytePairs` needs the vocabulary alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_NO_TOKEN = 1 << 62  # above every id


def merges_by_ranks(data: VocabularyData) -> bool:
    """Whether an artifact with merges can be merged by the ids of its tokens, whether or not it ignores merges."""
    tokens = data.tokens
    ids = {tokens[number]: number for number in range(len(tokens)) if tokens.has(number)}
    merges = [(tokens[left], tokens[right]) for left, right, _ in data.merges.tolist()]
    return any(ranks_suffice(ids, merges, ignore_merges=ignored) for ignored in (False, True))


def ranks_suffice(
    vocabulary: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], *, ignore_merges: bool
) -> bool:
    """Whether `BytePairs` segments every piece as `Merges` does; takes some twenty microseconds a token.

    The tokens of `BytePairs` are those of `vocabulary`, without `ignore_merges` only the single bytes and the results
    of merges. What is looked at: the results of the merges have ascending ids, and the bytes of each token, merged by
    ranks, come to a pair that is in the list of merges. Under `ignore_merges` they may also come to no pair at all.

    Why it is enough. As long as no merge crosses two places of a piece, what happens between them is what would happen
    to the bytes there alone, since the next merge between them is always the one that comes first between them. So if
    a pair stands in a piece and spells a token, it is the pair that the bytes of the token come to alone; there is one
    such pair for each id, and it is in the list. Both ways thus have the same pairs to choose from, in the same order,
    and make the same choice at every step. Without `ignore_merges` a piece that is a token ends as that token, which is
    how `BytePairs` looks it up.
    """
    results = [vocabulary[left + right] for left, right in merges]
    if any(bytes([byte]) not in vocabulary for byte in range(256)) or results != sorted(results):
        return False
    listed = set(merges)
    merged = {left + right for left, right in merges}
    ranks = {token: rank for token, rank in vocabulary.items() if len(token) > 1 and (ignore_merges or token in merged)}
    pairs = (_pair(token, ranks) for token in ranks)
    return all(ignore_merges if pair is None else pair in listed for pair in pairs)


def _pair(token: bytes, ranks: Mapping[bytes, int]) -> tuple[bytes, bytes] | None:
    """The two parts to which the bytes of a token merge by ranks, if they come to two."""
    parts = [token[place : place + 1] for place in range(len(token))]
    while len(parts) > 2:
        found = [ranks.get(left + right, _NO_TOKEN) for left, right in pairwise(parts)]
        lowest = min(found)
        if lowest == _NO_TOKEN:
            return None
        place = found.index(lowest)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts[0], parts[1]
