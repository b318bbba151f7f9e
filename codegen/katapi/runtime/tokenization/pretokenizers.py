"""The pre-tokenizers: text stays whole, is cut by a pattern, or by several pre-tokenizers one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, pairwise

from katapi.runtime.tokenization.stages import PreTokenizer
from katapi.runtime.unicode.codepoints import Planes


class Whole:
    """Leaves text in one piece."""

    def split(self, text: str) -> list[str]:
        """`text`, or nothing where it is empty."""
        return [text] if text else []


class IsolatedSplit:
    """Cuts text by a pattern; the matches and what lies between them are pieces ("isolated" in tokenizer.json).

    `pattern` gives the source of the pattern for the standard `re` module, its classes limited to the given planes; it
    has no capturing group. `total` says that the pattern matches at every character, so that nothing can lie between
    matches. Each of the three forms is compiled when a text first needs it.
    """

    def __init__(self, pattern: Callable[[Planes], str], *, total: bool) -> None:
        self._pattern = lru_cache(lambda planes: re.compile(pattern(planes)))
        self._total = total

    def split(self, text: str) -> list[str]:
        """The pieces in order."""
        pattern = self._pattern(Planes.of(text))
        if self._total:
            return pattern.findall(text)
        cuts = [0]
        for match in pattern.finditer(text):
            cuts += match.span()
        cuts.append(len(text))
        return [text[start:end] for start, end in pairwise(cuts) if start < end]


class Chained:
    """Cuts text by the first pre-tokenizer, each piece by the second, and so on."""

    def __init__(self, *pretokenizers: PreTokenizer) -> None:
        self._pretokenizers = pretokenizers

    def split(self, text: str) -> list[str]:
        """The pieces in order."""
        pieces = [text] if text else []
        for pretokenizer in self._pretokenizers:
            pieces = list(chain.from_iterable(map(pretokenizer.split, pieces)))
        return pieces
