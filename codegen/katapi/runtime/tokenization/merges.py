"""Byte-pair encoding by a list of merges, as the model "BPE" of tokenizer.json (Sennrich et al. 2016).

A piece starts as one symbol a character, or a byte, and again and again the leftmost of the pairs that come first in
the list is merged. Pairs are pairs of tokens: a token that could be made of two parts is not made where no merge says
so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import add

from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.merge_queue import NO_MERGE, merge_all
from katapi.runtime.tokenization.merge_table import MergeTable
from katapi.runtime.tokenization.piece_bytes import character_ranges, utf8_of
from katapi.runtime.tokenization.seams import Seams

_SHORT = 96  # symbols up to which looking through all pairs for the lowest rank is faster than keeping them in order


@dataclass(frozen=True, kw_only=True)
class MergeRules:
    """What tokenizer.json says of a BPE model beside its vocabulary and merges, under the names it has there.

    `unknown` is the id of `unk_token`. Without one, a character that is no token is left out.
    """

    ignore_merges: bool = False
    """A piece that is a token is that token, whatever the merges say."""
    byte_fallback: bool = False
    """A character that is no token becomes the tokens "<0x00>" to "<0xFF>" of its bytes, if they are all there."""
    unknown: int | None = None
    fuse_unknown: bool = False
    """Unknown characters that follow one another are one unknown token."""
    continuing_prefix: str = ""
    """`continuing_subword_prefix`: stands before every symbol in the vocabulary that does not begin a piece."""
    word_suffix: str = ""
    """`end_of_word_suffix`: stands behind the symbol that ends a piece."""


class Merges:
    """Segments pieces by merges, over the characters of a piece or over its UTF-8 bytes.

    `vocabulary` gives the id of every token that text may yield, `merges` the pairs that merge, those to be merged
    first in front; a pair that stands there twice counts where it stands last. Raises `ArtifactError` where a merge
    has a part or a result that is no token.

    Time is n log n in the length of a piece. Over characters with byte fallback, a long piece is cut where no merge
    can cross (`Seams`), and the parts are remembered: a piece there is often a whole text.
    """

    @classmethod
    def of_characters(
        cls, vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]], rules: MergeRules
    ) -> Merges:
        """Over characters (code points), as in vocabularies that come from SentencePiece."""
        prefix = len(rules.continuing_prefix.encode())

        def joint(left: str, right: str) -> str:
            return left + right.encode()[prefix:].decode(errors="replace")

        table = MergeTable.of(vocabulary, merges, joint if prefix else add)
        tokenizer = cls(vocabulary, table, rules, by_byte=False)
        if tokenizer._spells():
            tokenizer._seams = Seams({left[-1:] + right[:1] for left, right in merges})
        return tokenizer

    @classmethod
    def of_bytes(
        cls, vocabulary: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], rules: MergeRules
    ) -> Merges:
        """Over bytes, as in vocabularies of the pre-tokenizer ByteLevel, the letters of that turned back into bytes.

        A piece that does not consist of whole characters has its single bytes as `utf8_of` reads them.
        """
        prefix = len(rules.continuing_prefix.encode())
        table = MergeTable.of(vocabulary, merges, (lambda left, right: left + right[prefix:]) if prefix else add)
        return cls({_letters(token): number for token, number in vocabulary.items()}, table, rules, by_byte=True)

    def __init__(self, vocabulary: Mapping[str, int], table: MergeTable, rules: MergeRules, *, by_byte: bool) -> None:
        self._ids = vocabulary
        self._rules = rules
        self._by_byte = by_byte
        self._shift = table.shift
        self._ranks = table.ranks
        self._merged = table.merged
        self._fallback = [vocabulary.get(f"<0x{byte:02X}>") if rules.byte_fallback else None for byte in range(256)]
        self._seams: Seams | None = None
        self._of_part = Memo(lambda part: tuple(self._merge(self._symbols(part))))

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
        symbols, places = self._symbols_and_places(text)
        left = merge_all(symbols, self._rank, self._merged)
        tokens = [
            (symbols[first], places[first][0], places[following - 1][1])
            for first, following in pairwise([*left, len(symbols)])
        ]
        return character_ranges(piece, tokens) if self._by_byte else tokens

    def _spells(self) -> bool:
        """Whether the text of every symbol that takes part in a merge is the text that it covers, none left out."""
        if self._rules.continuing_prefix or self._rules.word_suffix or None in self._fallback:
            return False
        shift, spelled = self._shift, set(self._fallback)
        return not any(pair >> shift in spelled or pair & ~(-1 << shift) in spelled for pair in self._ranks)

    def _units(self, piece: str) -> str:
        """The piece with one character a unit: bytes are written as the characters U+0000 to U+00FF."""
        return _letters(utf8_of(piece)) if self._by_byte else piece

    def _whole(self, text: str) -> int | None:
        return self._ids.get(text) if self._rules.ignore_merges else None

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
        rules, unknown = self._rules, self._rules.unknown
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
        """The tokens of the bytes of a unit; none where one is missing."""
        found = [token for byte in spelling.encode() if (token := self._fallback[byte]) is not None]
        return found if len(found) == len(spelling.encode()) else []

    def _rank(self, left: int, right: int) -> int:
        return self._ranks.get(left << self._shift | right, NO_MERGE)

    def _merge(self, symbols: list[int]) -> list[int]:
        """What is left of the symbols after all merges."""
        if len(symbols) > _SHORT:
            return [symbols[place] for place in merge_all(symbols, self._rank, self._merged)]
        rank_of, shift = self._ranks.get, self._shift
        ranks = [rank_of(left << shift | right, NO_MERGE) for left, right in pairwise(symbols)]
        while ranks and (lowest := min(ranks)) != NO_MERGE:
            place = ranks.index(lowest)
            symbols[place] = merged = self._merged[lowest]
            del symbols[place + 1], ranks[place]
            if place < len(ranks):
                ranks[place] = rank_of(merged << shift | symbols[place + 1], NO_MERGE)
            if place:
                ranks[place - 1] = rank_of(symbols[place - 1] << shift | merged, NO_MERGE)
        return symbols


def _letters(data: bytes) -> str:
    return data.decode("latin-1")
