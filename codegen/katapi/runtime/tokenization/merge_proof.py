"""Proves for a vocabulary that merging by ranks gives the same tokens as its list of merges.

`Merges` keeps a table of pairs beside the vocabulary; `BytePairs` needs the vocabulary alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

_NEVER = 1 << 62  # above every id


def ranks_suffice(
    vocabulary: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], *, ignore_merges: bool
) -> bool:
    """Whether `BytePairs` segments every piece as `Merges` does; about ten microseconds a token.

    The tokens of `BytePairs` are those of `vocabulary`, without `ignore_merges` only the single bytes and the results
    of merges. The answer may be no where they do agree. What is looked at:

    1. The results of the merges have ascending ids, so that both ways merge in order of ids.
    2. The bytes of each token, merged to tokens of lower ids, end as a pair that is in the list of merges. Under
       `ignore_merges` they may also end as more parts, if tokens of higher ids do not make a pair of them either.

    Why it is enough. Let both ways have merged up to some id, in order, and alike. If a pair stands that spells a token
    t, then nothing has crossed its two ends, and so its bytes have merged as they would alone. If the id of t was
    passed, they have become t, or by 2 never become a pair: so no pair stands whose turn is over, and neither way goes
    back. If it is the turn of t, then by 2 the pair is in the list, and both ways merge it wherever it stands. By
    induction they always agree; and without `ignore_merges` a piece that is a token ends as that token, which is how
    `BytePairs` looks it up.
    """
    results = [vocabulary[left + right] for left, right in merges]
    if any(bytes([byte]) not in vocabulary for byte in range(256)) or results != sorted(results):
        return False
    listed = set(merges)
    merged = {left + right for left, right in merges}
    ranks = {token: rank for token, rank in vocabulary.items() if len(token) > 1 and (ignore_merges or token in merged)}
    for token, rank in ranks.items():
        parts = _merge([token[place : place + 1] for place in range(len(token))], ranks, below=rank)
        if len(parts) == 2:
            if (parts[0], parts[1]) not in listed:
                return False
        elif not ignore_merges or len(_merge(parts, ranks, below=_NEVER)) == 2:
            return False
    return True


def _merge(parts: list[bytes], ranks: Mapping[bytes, int], *, below: int) -> list[bytes]:
    """The parts of a token after all merges to ids lower than `below`, or as far as to a pair."""
    while len(parts) > 2:
        found = [ranks.get(left + right, _NEVER) for left, right in pairwise(parts)]
        lowest = min(found)
        if lowest >= below:
            break
        place = found.index(lowest)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts
