"""Byte-level byte-pair encoding by ranks, as in tiktoken: the rank of a token is its id.

A piece that is a token is that token. Any other piece starts as single bytes, and again and again the leftmost of the
adjacent pairs whose joint bytes have the lowest rank is merged, until no pair is a token (Sennrich et al. 2016, over
bytes).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import ArtifactError

_NO_TOKEN = 1 << 62  # the rank of a pair that is no token: above every rank
_SHORT = 96  # bytes up to which looking through all pairs for the lowest rank is faster than keeping them in order


class BytePairs:
    """Segments pieces by the ranks of a vocabulary.

    `ranks` gives the id of each token by its bytes, `tokens` the bytes by id. Raises `ArtifactError` where a single
    byte is no token, since a text that holds it could not be encoded.
    """

    def __init__(self, tokens: Sequence[bytes], ranks: dict[bytes, int]) -> None:
        missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
        if missing:
            names = " ".join(f"0x{byte:02x}" for byte in missing[:8])
            raise ArtifactError(
                f"a byte-level vocabulary must hold all 256 bytes as tokens; {len(missing)} are missing: {names}",
                code="A105",
                help="declare another segmentation, or another vocabulary",
            )
        self._tokens = tokens
        self._ranks = ranks

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece. Time n log n in its length."""
        data = piece.encode()
        whole = self._ranks.get(data)
        if whole is not None:
            return (whole,)
        cuts = self._cuts_of_short(data) if len(data) <= _SHORT else self._cuts_of_long(data)
        return tuple([self._ranks[data[start:end]] for start, end in pairwise(cuts)])

    def widths(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """The length of each token in bytes: a token's bytes are the bytes of the text."""
        return self._lengths[np.asarray(ids, dtype=np.int64)]

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.fromiter(map(len, self._tokens), dtype=np.int64, count=len(self._tokens))

    def _cuts_of_short(self, data: bytes) -> list[int]:
        """Where parts begin and end after all merges; the ranks of all pairs are looked through for each merge."""
        rank_of = self._ranks.get
        cuts = list(range(len(data) + 1))
        ranks = [rank_of(data[start : start + 2], _NO_TOKEN) for start in range(len(data) - 1)]
        while ranks and (lowest := min(ranks)) != _NO_TOKEN:
            pair = ranks.index(lowest)
            del cuts[pair + 1], ranks[pair]
            if pair < len(ranks):
                ranks[pair] = rank_of(data[cuts[pair] : cuts[pair + 2]], _NO_TOKEN)
            if pair:
                ranks[pair - 1] = rank_of(data[cuts[pair - 1] : cuts[pair + 1]], _NO_TOKEN)
        return cuts

    def _cuts_of_long(self, data: bytes) -> list[int]:
        """The same; pairs wait in a queue of ranks, and all pairs of one rank are merged in one sweep from the left.

        A part is named by where it begins. `ends` and `before` are where it ends and where the part before it begins;
        `ranks` is the rank of the pair that it begins, which tells whether a pair that waits is still there.
        """
        rank_of = self._ranks.get
        size = len(data)
        ends = list(range(1, size + 1))
        before = list(range(-1, size))
        ranks = [rank_of(data[start : start + 2], _NO_TOKEN) for start in range(size)]
        ranks[-1] = _NO_TOKEN
        waiting: dict[int, list[int]] = {}
        for start, rank in enumerate(ranks):
            waiting.setdefault(rank, []).append(start)
        waiting.pop(_NO_TOKEN)
        queue = list(waiting)
        heapify(queue)
        while queue:
            rank = heappop(queue)
            pairs = waiting.pop(rank)
            pairs.sort(reverse=True)
            while pairs:
                left = pairs.pop()
                if ranks[left] != rank:
                    continue
                right = ends[left]
                ends[left] = end = ends[right]
                before[end] = left
                ranks[right] = _NO_TOKEN
                for start in (left, before[left]):
                    if start < 0:
                        continue
                    middle = ends[start]
                    new = rank_of(data[start : ends[middle]], _NO_TOKEN) if middle < size else _NO_TOKEN
                    ranks[start] = new
                    if new == _NO_TOKEN:
                        continue
                    if new in waiting:
                        waiting[new].append(start)
                    else:
                        waiting[new] = [start]
                        heappush(queue, new)
                if queue and queue[0] < rank:
                    # The merge made a pair of lower rank, which comes first. Vocabularies that were trained by merging
                    # have none.
                    waiting[rank] = pairs
                    heappush(queue, rank)
                    break
        cuts = [0]
        while cuts[-1] < size:
            cuts.append(ends[cuts[-1]])
        return cuts
