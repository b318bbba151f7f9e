"""Merges adjacent symbols in order of rank, in time n log n: what every byte-pair encoding does with a long piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

Symbol = TypeVar("Symbol", int, str, bytes)

NO_MERGE = 1 << 62
"""The rank of a pair that does not merge: above every rank."""


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
