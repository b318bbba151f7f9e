"""Unigram language model: the segmentation of the highest score (Kudo 2018, "Subword Regularization").

The score of a segmentation is the sum of the scores of its tokens. The sum is taken from the left in binary64, and of
two segmentations with the same sum the one found first stays: by the place where its last token begins, from the left.
So ties and roundings fall as in the model "Unigram" of tokenizer.json. SentencePiece itself keeps sums in binary32.
"""

from __future__ import annotations

import struct
from array import array
from math import copysign, inf

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.lexicon import Lexicon
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_PENALTY = 10.0  # how much less than the lowest score an unknown character scores
_SINGLE = struct.Struct("<f")


class Unigram:
    """Segments pieces by the scores of a vocabulary.

    A score is a logarithm of a probability; of two tokens alike the later counts. A character that is no token is
    `unknown`; neighbours that are unknown are one token together. Under `byte_fallback` they are the tokens "<0x00>" to
    "<0xFF>" of their UTF-8 bytes instead, if the vocabulary has all those bytes. `binary32` rounds every sum to
    binary32, as SentencePiece does (`unigram_model.cc`).

    Time is linear in the length of a piece, times the number of token lengths that share their first two characters.
    """

    def __init__(self, data: VocabularyData, *, unknown: int | None, byte_fallback: bool, binary32: bool) -> None:
        self._lexicon = Lexicon.of(data)
        self._scores = array("d", data.scores.tobytes())
        self._unknown = unknown
        self._unknown_score = unknown_score(data.lowest, binary32=binary32)
        self._binary32 = binary32
        self._bytes = data.byte_tokens if byte_fallback else [None] * 256

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece.

        Raises `TokenizerError` V107 where a character is no token and the vocabulary has no unknown token.
        """
        return tuple([token for token, _, _ in self.segment_ranges(piece)])

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that it takes.

        Raises `TokenizerError` V107 as `segment` does.
        """
        tokens: list[tuple[int, int, int]] = []
        end = len(piece)
        for token, start in self._best(piece):
            if token == self._unknown and tokens and tokens[-1][0] == token:
                tokens[-1] = (token, start, tokens[-1][2])
            else:
                tokens.append((token, start, end))
            end = start
        tokens.reverse()
        if all(token != self._unknown for token, _, _ in tokens):
            return tokens
        return [spelled for token in tokens for spelled in self._spelled(piece, *token)]

    def _best(self, piece: str) -> list[tuple[int, int]]:
        """The best segmentation from its end to its beginning: ids, and where each begins."""
        scores, lengths, ids = self._scores, self._lexicon.lengths, self._lexicon.met
        binary32 = self._binary32
        size = len(piece)
        totals = [0.0] * (size + 1)  # the best score of the text up to each place
        begins = [-1] * (size + 1)  # where the last token of that segmentation begins
        lasts = [-1] * (size + 1)  # and which it is
        for start in range(size):
            total = totals[start]
            alone = False  # whether the character is a token
            for length in lengths[piece[start : start + 2]]:
                end = start + length
                token = ids.get(piece[start:end])
                if token is None or end > size:
                    continue
                alone = alone or length == 1
                score = scores[token] + total
                if binary32:
                    score = _to_single(score)
                if begins[end] < 0 or score > totals[end]:
                    totals[end], begins[end], lasts[end] = score, start, token
            if not alone:
                end = start + 1
                score = self._unknown_score + total
                if binary32:
                    score = _to_single(score)
                if begins[end] < 0 or score > totals[end]:
                    totals[end], begins[end], lasts[end] = score, start, self._unknown_for(piece[start])
        path: list[tuple[int, int]] = []
        end = size
        while end > 0:
            path.append((lasts[end], begins[end]))
            end = begins[end]
        return path

    def _unknown_for(self, character: str) -> int:
        if self._unknown is None:
            raise TokenizerError(
                f"the vocabulary has no token for U+{ord(character):04X}, and no unknown token",
                code="V107",
                help="declare the unknown token of the vocabulary",
            )
        return self._unknown

    def _spelled(self, piece: str, token: int, start: int, end: int) -> list[tuple[int, int, int]]:
        """A token; characters that were unknown one by one as the token of them all, or as their bytes."""
        if token != self._unknown:
            return [(token, start, end)]
        whole = self._lexicon.get(piece[start:end])
        if whole is not None:
            return [(whole, start, end)]
        spelled: list[tuple[int, int, int]] = []
        for place in range(start, end):
            for byte in piece[place].encode():
                fallback = self._bytes[byte]
                if fallback is None:
                    return [(token, start, end)]
                spelled.append((fallback, place, place + 1))
        return spelled


def unknown_score(lowest: float, *, binary32: bool) -> float:
    """What a character scores that is no token, where the lowest score is given."""
    return _to_single(lowest - _PENALTY) if binary32 else lowest - _PENALTY


def _to_single(value: float) -> float:
    """The nearest value of binary32, an infinity where that is beyond its range."""
    try:
        rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        return copysign(inf, value)
    return rounded
