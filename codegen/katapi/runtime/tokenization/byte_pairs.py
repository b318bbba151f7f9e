"""Byte-level byte-pair encoding by ranks, as in tiktoken: the rank of a token is its id.

A piece that is a token is that token. Any other piece starts as single bytes, and again and again the leftmost of the
adjacent pairs whose joint bytes have the lowest rank is merged, until no pair is a token (Sennrich et al. 2016, over
bytes as in Radford et al. 2019).
"""

from __future__ import annotations

from itertools import pairwise

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.merge_queue import NO_MERGE, SHORT, cuts_of_short, merge_all
from katapi.runtime.tokenization.piece_bytes import character_ranges, utf8_of
from katapi.runtime.tokenization.rank_index import RankIndex
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


class BytePairs:
    """Segments pieces by the ranks of a vocabulary: the ids of its tokens that text can yield.

    Raises `ArtifactError` A105 where a single byte is no token, since a text that holds it could not be encoded. Pieces
    may hold single bytes, as `utf8_of` reads them.
    """

    def __init__(self, data: VocabularyData) -> None:
        self._tokens = data.tokens
        self._ranks = RankIndex(data)
        missing = data.missing_bytes()
        if missing:
            names = " ".join(f"0x{byte:02x}" for byte in missing[:8])
            raise ArtifactError(
                f"a byte-level vocabulary must hold all 256 bytes as tokens; {len(missing)} are missing: {names}",
                code="A105",
                help="declare another segmentation, or another vocabulary",
            )

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece. Time n log n in its length."""
        data = utf8_of(piece)
        rank_of = self._ranks.getter()
        whole = rank_of(data, NO_MERGE)
        if whole != NO_MERGE:
            return (whole,)
        return tuple([rank_of(data[start:end], NO_MERGE) for start, end in pairwise(self._cuts(data))])

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that its bytes touch."""
        data = utf8_of(piece)
        rank_of = self._ranks.getter()
        cuts = [0, len(data)] if rank_of(data, NO_MERGE) != NO_MERGE else self._cuts(data)
        parts = [(rank_of(data[start:end], NO_MERGE), start, end) for start, end in pairwise(cuts)]
        return character_ranges(piece, parts)

    def _cuts(self, data: bytes) -> list[int]:
        """Where parts begin and end after all merges."""
        rank_of = self._ranks.getter()
        if len(data) <= SHORT:
            return cuts_of_short(data, rank_of)
        parts = [data[place : place + 1] for place in range(len(data))]
        cuts = merge_all(parts, lambda left, right: rank_of(left + right, NO_MERGE), self._tokens)
        return [*cuts, len(data)]
