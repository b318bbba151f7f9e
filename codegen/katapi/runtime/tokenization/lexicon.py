"""The tokens that stand at a place of a text: by their text, and how long those can be that a text goes on with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.token_index import TokenIndex
from katapi.runtime.tokenization.tokens import Texts


class Lexicon(TokenIndex):
    """A `TokenIndex` that also knows which lengths to ask for."""

    def __init__(self, texts: Texts, chosen: NDArray[np.int32], *, prefix: str = "") -> None:
        super().__init__(texts, chosen, prefix=prefix)
        self._lengths: dict[str, tuple[int, ...]] = {}

    def lengths(self, start: str) -> tuple[int, ...]:
        """The lengths in characters of the tokens that a text can go on with, ascending.

        `start` are the next two characters of the text, or its last one. All those tokens are in `met` afterwards.
        """
        return self._lengths.get(start) or self._missing(start)

    def longest(self, text: str, position: int) -> tuple[int, int] | None:
        """The id and the length in characters of the longest token that `text` goes on with, if there is any."""
        for length in reversed(self.lengths(text[position : position + 2])):
            token = self.met.get(text[position : position + length])
            if token is not None and position + length <= len(text):
                return token, length
        return None

    def _missing(self, start: str) -> tuple[int, ...]:
        """The lengths for a start that no token has, or that was not met; kept only where there are tokens."""
        self.meet(start)
        return self._lengths.get(start) or self._lengths.get(start[:1], ())

    def _keep(self, start: str, tokens: dict[str, int]) -> None:
        """The tokens and their lengths, and that of the first character where it is a token too."""
        super()._keep(start, tokens)
        self._lengths[start] = tuple(sorted({*self._lengths.get(start[0], ()), *map(len, tokens)}))
