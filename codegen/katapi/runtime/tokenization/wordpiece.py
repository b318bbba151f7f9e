"""WordPiece: a word is cut greedily into the longest tokens, or it is unknown as a whole.

Schuster and Nakajima, "Japanese and Korean Voice Search" (2012), in the form of BERT (Devlin et al. 2019): tokens that
continue a word are marked by a prefix in the vocabulary.
"""

from __future__ import annotations

import numpy as np

from katapi.runtime.tokenization.lexicon import Lexicon
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


class WordPiece:
    """Segments words by the longest token at each place.

    `continuing_prefix` marks those that do not begin a word ("##"). A
    word longer than `longest_word` characters (`max_input_chars_per_word`), or one that has a place where no token
    fits, is one `unknown` token. Time is linear in the length of the word, times the number of token lengths.
    """

    def __init__(self, data: VocabularyData, *, unknown: int, continuing_prefix: str, longest_word: int) -> None:
        texts, reachable = data.tokens.texts(), np.flatnonzero(data.is_reachable()).astype(np.int32)
        letters, prefix = np.frombuffer(texts.joined, dtype=np.uint8), continuing_prefix.encode()
        continuing = reachable[np.diff(texts.bounds)[reachable] >= len(prefix)]
        for place, letter in enumerate(prefix):
            continuing = continuing[letters[texts.bounds[continuing] + place] == letter]
        self._beginning = Lexicon(texts, reachable)
        self._continuing = Lexicon(texts, continuing, prefix=continuing_prefix)
        self._unknown = unknown
        self._longest_word = longest_word

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one word."""
        return tuple([token for token, _, _ in self.segment_ranges(piece)])

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that it takes."""
        if len(piece) > self._longest_word:
            return [(self._unknown, 0, len(piece))]
        tokens: list[tuple[int, int, int]] = []
        position = 0
        while position < len(piece):
            found = (self._continuing if position else self._beginning).longest(piece, position)
            if found is None:
                return [(self._unknown, 0, len(piece))]
            token, length = found
            tokens.append((token, position, position + length))
            position += length
        return tokens
