"""Merges adjacent symbols in order of rank: what every byte-pair encoding does with a piece.

A long piece takes time n log n; a short one has the ranks of its pairs looked through for each merge, which is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

Symbol = TypeVar("Symbol", int, str, bytes)
Piece = TypeVar("Piece", str, bytes)

NO_MERGE = 1 << 62
"""The rank of a pair that does not merge: above every rank."""
SHORT = 96
"""Symbols up to which a piece is short."""


def merge_all(
    symbols: list[Symbol], rank_of: Callable[[Symbol, Symbol], int], merged: Sequence[Symbol] | None = None
) -> list[int]:
    """Merges the leftmost pair of the lowest rank again and again, until no pair merges.

    `rank_of` gives the rank of two symbols that stand beside each other, `NO_MERGE` if they do not merge, and `merged`
    the symbol that the pair of a rank becomes; without it a pair becomes the two joined. Returns the places in
    `symbols` that are left, ascending; each holds a merged symbol afterwards, which reaches to the next place. What
    stands in the other places means nothing any more.

    Pairs wait in a queue of ranks, and those of one rank in a queue of places. A merge may well make a pair of a lower
    rank, which then comes next.
    """
    size = len(symbols)
    following = list(range(1, size + 1))  # where the next symbol stands
    previous = list(range(-1, size))
    ranks = [rank_of(left, right) for left, right in pairwise(symbols)]  # of the pair that begins at each place
    ranks.append(NO_MERGE)
    waiting: dict[int, list[int]] = {}  # places by rank, each list a heap
    for place, rank in enumerate(ranks):
        waiting.setdefault(rank, []).append(place)
    del waiting[NO_MERGE]
    queue = list(waiting)
    heapify(queue)
    while queue:
        rank = queue[0]
        places = waiting[rank]
        left = heappop(places)
        if not places:
            del waiting[rank]
            heappop(queue)
        if ranks[left] != rank:
            continue  # one of the two has been merged with another
        right = following[left]
        symbols[left] = symbols[left] + symbols[right] if merged is None else merged[rank]
        following[left] = end = following[right]
        previous[end] = left
        ranks[right] = NO_MERGE
        for place in (left, previous[left]):
            if place < 0:
                continue
            other = following[place]
            new = rank_of(symbols[place], symbols[other]) if other < size else NO_MERGE
            ranks[place] = new
            if new == NO_MERGE:
                continue
            if new in waiting:
                heappush(waiting[new], place)
            else:
                waiting[new] = [place]
                heappush(queue, new)
    left_over = [0] if size else []
    while left_over and (place := following[left_over[-1]]) < size:
        left_over.append(place)
    return left_over


def cuts_of_short(piece: Piece, rank_of: Callable[[Piece, int], int]) -> list[int]:
    """Where the parts of a piece begin, and at last where it ends, after all merges of its characters or bytes.

    `rank_of` gives the rank of a part that two others make together, or else the number that it is called with.
    """
    cuts = list(range(len(piece) + 1))
    ranks = [rank_of(piece[start : start + 2], NO_MERGE) for start in range(len(piece) - 1)]
    while ranks and (lowest := min(ranks)) != NO_MERGE:
        pair = ranks.index(lowest)
        del cuts[pair + 1], ranks[pair]
        if pair < len(ranks):
            ranks[pair] = rank_of(piece[cuts[pair] : cuts[pair + 2]], NO_MERGE)
        if pair:
            ranks[pair - 1] = rank_of(piece[cuts[pair - 1] : cuts[pair + 1]], NO_MERGE)
    return cuts
