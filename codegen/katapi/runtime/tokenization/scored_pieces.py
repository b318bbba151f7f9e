"""Byte-pair encoding by scores, as in SentencePiece (Kudo and Richardson 2018).

A piece starts as one symbol a character, and again and again the leftmost of the pairs of symbols whose joint text has
the highest score is merged. A pair needs no rule of its own: any two symbols merge whose joint text is a token.
"""

from __future__ import annotations

from array import array
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.merge_queue import NO_MERGE, SHORT, cuts_of_short, merge_all
from katapi.runtime.tokenization.seams import Seams, meeting_in_tokens
from katapi.runtime.tokenization.token_index import TokenIndex
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


class ScoredPieces:
    """Segments pieces by the scores of a vocabulary.

    Of pairs whose tokens are alike in score the leftmost merges first. A character that is no token is `unknown`,
    neighbours together; under `byte_fallback` it is the tokens "<0x00>" to "<0xFF>" of its UTF-8 bytes instead, if the
    vocabulary has all those bytes. The text of `unknown` is never made.

    Time is n log n in the length of a piece. A long piece is cut where no merge can cross (`Seams`), and the parts are
    remembered: a piece is often a whole text.
    """

    def __init__(self, data: VocabularyData, *, unknown: int, byte_fallback: bool) -> None:
        known = data.hiding({unknown})
        self._index = TokenIndex.of(known)
        self._unknown = unknown
        self._bytes = data.byte_tokens if byte_fallback else [None] * 256
        self._all_known = None not in self._bytes
        self._ranks = ranks_of(data.scores)
        self._seams = Seams(meeting_in_tokens(data.tokens.texts(), known.is_reachable()))
        self._of_part = Memo(lambda part: tuple([token for token, _, _ in self._tokens(part)]))

    @property
    def seams(self) -> Seams | None:
        """Where no merge crosses, whatever the piece; None where unknown neighbours must be seen together."""
        return self._seams if self._all_known else None

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece."""
        if not self._all_known and any(map(self._is_unknown, set(piece))):
            return tuple([token for token, _, _ in self._tokens(piece)])  # unknown neighbours must be seen together
        return tuple(chain.from_iterable(map(self._of_part.__getitem__, self._seams.cut(piece))))

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that it takes."""
        return self._tokens(piece)

    def _tokens(self, piece: str) -> list[tuple[int, int, int]]:
        self._index.meet(piece)
        met = self._index.met
        tokens: list[tuple[int, int, int]] = []
        for start, end in pairwise(self._cuts(piece)):
            token = met.get(piece[start:end])
            spelled = self._byte_tokens(piece[start]) if token is None else None
            if token is not None:
                tokens.append((token, start, end))
            elif spelled is not None:
                tokens += [(byte, start, end) for byte in spelled]
            elif tokens and tokens[-1][0] == self._unknown:
                tokens[-1] = (self._unknown, tokens[-1][1], end)
            else:
                tokens.append((self._unknown, start, end))
        return tokens

    def _cuts(self, piece: str) -> list[int]:
        """Where symbols begin and end after all merges, in a piece whose tokens have been met."""
        id_of, ranks = self._index.met.get, self._ranks

        def rank_of(text: str, default: int) -> int:
            token = id_of(text)
            return default if token is None else ranks[token]

        def rank_of_pair(left: str, right: str) -> int:
            token = id_of(left + right)
            return NO_MERGE if token is None else ranks[token]

        if len(piece) <= SHORT:
            return cuts_of_short(piece, rank_of)
        return [*merge_all([*piece], rank_of_pair), len(piece)]

    def _is_unknown(self, character: str) -> bool:
        return self._index.get(character) is None and self._byte_tokens(character) is None

    def _byte_tokens(self, character: str) -> list[int] | None:
        """The tokens of the bytes of a character; None where one is missing."""
        found = [token for byte in character.encode() if (token := self._bytes[byte]) is not None]
        return found if len(found) == len(character.encode()) else None


def ranks_of(scores: NDArray[np.float64]) -> array[int]:
    """The rank of each id: the higher its score, the lower, and for equal scores the same.

    `scores` are float64 of shape [ids].
    """
    order = np.argsort(scores)
    ascending = scores[order]
    steps = np.zeros(len(scores), dtype=np.min_scalar_type(len(scores)))
    np.cumsum(ascending[1:] != ascending[:-1], dtype=steps.dtype, out=steps[1:])
    ranks = np.empty_like(steps)
    ranks[order] = steps[-1:] - steps
    return array(ranks.dtype.char, ranks.tobytes())
