"""The tokens that stand at a place of a text: by their text, and how long those can be that a text goes on with."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.token_index import TokenIndex
from katapi.runtime.tokenization.tokens import Texts


class Lexicon(TokenIndex):
    """A `TokenIndex` that also knows which lengths to ask for; `chosen` are ids, int32 of shape [chosen]."""

    def __init__(self, texts: Texts, chosen: NDArray[np.int32], *, prefix: str = "") -> None:
        super().__init__(texts, chosen, prefix=prefix)
        self.lengths = Lengths(self._waiting, self._meet)
        """By the next two characters of a text, or its last one: the lengths of the tokens that it can go on with."""

    def longest(self, text: str, position: int) -> tuple[int, int] | None:
        """The id and the length in characters of the longest token that `text` goes on with, if there is any."""
        for length in reversed(self.lengths[text[position : position + 2]]):
            token = self.met.get(text[position : position + length])
            if token is not None and position + length <= len(text):
                return token, length
        return None

    def _keep(self, start: str, tokens: dict[str, int]) -> None:
        """The tokens and their lengths, and that of the first character where it is a token too."""
        super()._keep(start, tokens)
        self.lengths[start] = tuple(sorted({*self.lengths.get(start[0], ()), *map(len, tokens)}))


class Lengths(dict[str, tuple[int, ...]]):
    """Lengths of tokens in characters, ascending, by the one or two characters that they begin with.

    `lengths[start]` has `meet` take over tokens that are `waiting` before it answers; kept are only those of a start
    that has tokens. A dictionary, so that what was met before costs no Python call.
    """

    def __init__(self, waiting: Mapping[str, Container[str]], meet: Callable[[str], None]) -> None:
        super().__init__()
        self._waiting = waiting
        self._meet = meet

    def __missing__(self, start: str) -> tuple[int, ...]:
        if not start:
            return ()
        if start[1:] in self._waiting[start[0]]:
            self._meet(start)
        return self.get(start) or self.get(start[0], ())
