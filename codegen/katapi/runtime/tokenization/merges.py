"""Byte-pair encoding by a list of merges, as the model "BPE" of tokenizer.json (Sennrich et al. 2016).

A piece starts as one symbol a character, or a byte, and again and again the leftmost of the pairs that come first in
the list is merged. Pairs are pairs of tokens: a token that could be made of two parts is not made where no merge says
so.
"""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.byte_alphabet import LETTERS
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.merge_queue import NO_MERGE, SHORT, merge_all
from katapi.runtime.tokenization.merge_table import MergeTable
from katapi.runtime.tokenization.piece_bytes import character_ranges, utf8_of
from katapi.runtime.tokenization.seams import Seams, meeting_in_merges, ranges_in_parts
from katapi.runtime.tokenization.token_index import TokenIndex
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.runtime.tokenization.configuration import BytePairMerges


class Merges:
    """Segments pieces by merges, over the characters of a piece or over its UTF-8 bytes.

    `unknown` is the id of a character that is no token; without it such a character is left out. Over bytes, a piece
    that does not consist of whole characters has its single bytes as `utf8_of` reads them.

    Time is n log n in the length of a piece. Over characters with byte fallback, a long piece is cut where no merge
    can cross (`Seams`), and the parts are remembered: a piece there is often a whole text.
    """

    def __init__(self, data: VocabularyData, rules: BytePairMerges, *, unknown: int | None = None) -> None:
        self._rules = rules
        self._unknown = unknown
        reachable = data.is_reachable()
        texts = data.tokens.letters() if rules.over_bytes else data.tokens.texts()
        marked = len(rules.continuing_prefix) + len(rules.word_suffix)
        self._ids = texts.ids(reachable & (texts.lengths() <= marked + 1))  # of what a piece is taken apart into
        self._whole_pieces = (
            TokenIndex(texts, np.flatnonzero(reachable).astype(np.int32)) if rules.ignore_merges else None
        )
        self._fallback = _byte_tokens(data, reachable) if rules.byte_fallback else [None] * 256
        merges = _among(reachable, data.merges)
        self._seams = Seams(meeting_in_merges(texts, merges)) if not rules.over_bytes and self._spells(merges) else None
        self._ranks = MergeTable(merges)
        self._of_part = Memo(lambda part: tuple(self._merge(self._symbols(part))))
        self._ranges_of_part = Memo(self._ranges)

    @property
    def seams(self) -> Seams | None:
        """Where no merge crosses, whatever the piece; None where that is not known."""
        return None if self._rules.ignore_merges else self._seams

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece."""
        text = self._units(piece)
        whole = self._whole(text)
        if whole is not None:
            return (whole,)
        if self._seams is None:
            return tuple(self._merge(self._symbols(text)))
        return tuple(chain.from_iterable(map(self._of_part.__getitem__, self._seams.cut(text))))

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the range of characters (code points) that it takes.

        The tokens of a character that is spelled in bytes all take that character.
        """
        text = self._units(piece)
        whole = self._whole(text)
        if whole is not None:
            return [(whole, 0, len(piece))]
        if self._seams is None:
            tokens = self._ranges(text)
            return character_ranges(piece, tokens) if self._rules.over_bytes else tokens
        return ranges_in_parts(self._seams.cut(text), self._ranges_of_part.__getitem__)

    def _ranges(self, text: str) -> list[tuple[int, int, int]]:
        """Each id with the range of units that it takes."""
        symbols, places = self._symbols_and_places(text)
        left = merge_all(symbols, self._rank, self._ranks.merged)
        return [
            (symbols[first], places[first][0], places[following - 1][1])
            for first, following in pairwise([*left, len(symbols)])
        ]

    def _spells(self, merges: NDArray[np.int32]) -> bool:
        """Whether the text of every symbol that takes part in a merge is the text that it covers, none left out."""
        if self._rules.continuing_prefix or self._rules.word_suffix or None in self._fallback:
            return False
        return not np.isin(merges[:, :2], np.array(self._fallback, dtype=np.int64)).any()

    def _units(self, piece: str) -> str:
        """The piece with one character a unit: bytes are written as the characters U+0000 to U+00FF."""
        return _letters(utf8_of(piece)) if self._rules.over_bytes else piece

    def _whole(self, text: str) -> int | None:
        return None if self._whole_pieces is None else self._whole_pieces.get(text)

    def _symbols(self, text: str) -> list[int]:
        """The ids of the units of a piece before any merge."""
        if not (self._rules.continuing_prefix or self._rules.word_suffix):
            symbols = [token for token in map(self._ids.get, text) if token is not None]
            if len(symbols) == len(text):
                return symbols
        return self._symbols_and_places(text)[0]

    def _symbols_and_places(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The same with the range of units that each takes.

        The reference keeps an unknown unit back until a unit comes that is a token, and lets units that it spells in
        bytes pass it. Symbols that have changed places so take the range of them all.
        """
        rules, unknown = self._rules, self._unknown
        symbols: list[int] = []
        places: list[tuple[int, int]] = []
        held: int | None = None  # where the unknown that is kept back begins
        for place, unit in enumerate(text):
            spelling = rules.continuing_prefix + unit if place else unit
            if place == len(text) - 1:
                spelling += rules.word_suffix
            token = self._ids.get(spelling)
            found = [token] if token is not None else self._in_bytes(spelling)
            ends = token is not None or not (found or rules.fuse_unknown)
            if ends and held is not None and unknown is not None:
                symbols.append(unknown)
                places.append((held, place))
                held = None
            if found:
                symbols += found
                places += [(place if held is None else held, place + 1)] * len(found)
            elif held is None and unknown is not None:
                held = place
        if held is not None and unknown is not None:
            symbols.append(unknown)
            places.append((held, len(text)))
        return symbols, places

    def _in_bytes(self, spelling: str) -> list[int]:
        """The tokens of the bytes of a unit; none where one is missing. A unit that is a byte counts as its letter."""
        data = (spelling.translate(LETTERS) if self._rules.over_bytes else spelling).encode()
        found = [token for byte in data if (token := self._fallback[byte]) is not None]
        return found if len(found) == len(data) else []

    def _rank(self, left: int, right: int) -> int:
        return self._ranks[left].get(right, NO_MERGE)

    def _merge(self, symbols: list[int]) -> list[int]:
        """What is left of the symbols after all merges."""
        if len(symbols) > SHORT:
            return [symbols[place] for place in merge_all(symbols, self._rank, self._ranks.merged)]
        ranks_of, results = self._ranks, self._ranks.merged
        ranks = [ranks_of[left].get(right, NO_MERGE) for left, right in pairwise(symbols)]
        while ranks and (lowest := min(ranks)) != NO_MERGE:
            place = ranks.index(lowest)
            symbols[place] = merged = results[lowest]
            del symbols[place + 1], ranks[place]
            if place < len(ranks):
                ranks[place] = ranks_of[merged].get(symbols[place + 1], NO_MERGE)
            if place:
                ranks[place - 1] = ranks_of[symbols[place - 1]].get(merged, NO_MERGE)
        return symbols


def _among(reachable: NDArray[np.bool_], merges: NDArray[np.int32]) -> NDArray[np.int32]:
    """The merges all of whose tokens are reachable; the same array where that is all of them."""
    left, right, merged = merges.T
    usable = reachable[left] & reachable[right] & reachable[merged]
    return merges if usable.all() else merges[usable]


def _letters(data: bytes) -> str:
    return data.decode("latin-1")


def _byte_tokens(data: VocabularyData, reachable: NDArray[np.bool_]) -> list[int | None]:
    """The token "<0x00>" to "<0xFF>" of each byte, where text can yield it."""
    return [token if token is not None and reachable[token] else None for token in data.byte_tokens]
