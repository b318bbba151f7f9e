"""Byte-pair encoding by scores, as in SentencePiece (Kudo and Richardson 2018).

A piece starts as one symbol a character, and again and again the leftmost of the pairs of symbols whose joint text has
the highest score is merged. A pair needs no rule of its own: any two symbols merge whose joint text is a token.
"""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np

from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.merge_queue import NO_MERGE, merge_all
from katapi.runtime.tokenization.seams import Seams, meeting_in_tokens
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
        texts = data.tokens.texts()
        chosen = data.hiding({unknown}).is_reachable()
        self._ids = texts.ids(chosen)
        self._unknown = unknown
        self._bytes = data.byte_tokens if byte_fallback else [None] * 256
        rank_of = np.unique(-data.scores, return_inverse=True)[1].data  # by id
        self._ranks = {text: rank_of[token] for text, token in self._ids.items()}
        self._seams = Seams(meeting_in_tokens(texts, chosen))
        self._of_part = Memo(lambda part: tuple([token for token, _, _ in self._tokens(part)]))

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece."""
        if any(self._byte_tokens(character) is None for character in set(piece) - self._ids.keys()):
            return tuple([token for token, _, _ in self._tokens(piece)])  # unknown neighbours must be seen together
        return tuple(chain.from_iterable(map(self._of_part.__getitem__, self._seams.cut(piece))))

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that it takes."""
        return self._tokens(piece)

    def _tokens(self, piece: str) -> list[tuple[int, int, int]]:
        symbols = [*piece]
        places = merge_all(symbols, self._rank)
        tokens: list[tuple[int, int, int]] = []
        for start, end in pairwise([*places, len(piece)]):
            token = self._ids.get(symbols[start])
            spelled = self._byte_tokens(symbols[start]) if token is None else None
            if token is not None:
                tokens.append((token, start, end))
            elif spelled is not None:
                tokens += [(byte, start, end) for byte in spelled]
            elif tokens and tokens[-1][0] == self._unknown:
                tokens[-1] = (self._unknown, tokens[-1][1], end)
            else:
                tokens.append((self._unknown, start, end))
        return tokens

    def _rank(self, left: str, right: str) -> int:
        return self._ranks.get(left + right, NO_MERGE)

    def _byte_tokens(self, character: str) -> list[int] | None:
        """The tokens of the bytes of a character; None where one is missing."""
        found = [token for byte in character.encode() if (token := self._bytes[byte]) is not None]
        return found if len(found) == len(character.encode()) else None
