"""The pre-tokenizers: text stays whole, is cut by a pattern, or by several pre-tokenizers one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, pairwise

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.stages import PreTokenizer
from katapi.runtime.unicode.codepoints import Planes


class Whole:
    """Leaves text in one piece."""

    positional = False

    def split(self, text: str, first: bool) -> list[str]:
        """`text`, or nothing where it is empty."""
        return [text] if text else []

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same."""
        return [text] if len(text) else []


class IsolatedSplit:
    """Cuts text by a pattern; the matches and what lies between them are pieces ("isolated" in tokenizer.json).

    `pattern` gives the source of the pattern for the standard `re` module, its classes limited to the given planes; it
    has no capturing group. `total` says that the pattern matches at every character, so that nothing can lie between
    matches. Each of the three forms is compiled when a text first needs it.
    """

    positional = False

    def __init__(self, pattern: Callable[[Planes], str], *, total: bool) -> None:
        self._pattern = lru_cache(lambda planes: re.compile(pattern(planes)))
        self._total = total

    def split(self, text: str, first: bool) -> list[str]:
        """The pieces in order."""
        if self._total:
            return self._pattern(Planes.of(text)).findall(text)
        return [text[start:end] for start, end in self._ranges(text)]

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same, with the source of each character."""
        return [text.part(start, end) for start, end in self._ranges(text.text)]

    def _ranges(self, text: str) -> list[tuple[int, int]]:
        cuts = [0]
        for match in self._pattern(Planes.of(text)).finditer(text):
            cuts += match.span()
        cuts.append(len(text))
        return [(start, end) for start, end in pairwise(cuts) if start < end]


class Chained:
    """Cuts text by the first pre-tokenizer, each piece by the second, and so on."""

    def __init__(self, *pretokenizers: PreTokenizer) -> None:
        self._pretokenizers = pretokenizers
        self.positional = any(pretokenizer.positional for pretokenizer in pretokenizers)

    def split(self, text: str, first: bool) -> list[str]:
        """The pieces in order."""
        if first and self.positional:
            return [piece.text for piece in self.split_aligned(AlignedText.of(text), first)]
        pieces = [text] if text else []
        for pretokenizer in self._pretokenizers:
            pieces = list(chain.from_iterable(pretokenizer.split(piece, False) for piece in pieces))
        return pieces

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same; of a text at the beginning of the input, only a piece from the very first byte on is there too."""
        pieces = [text] if len(text) else []
        for index, pretokenizer in enumerate(self._pretokenizers):
            pieces = [
                part
                for piece in pieces
                for part in pretokenizer.split_aligned(piece, first and (index == 0 or piece.starts[0] == 0))
            ]
        return pieces
