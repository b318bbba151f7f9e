"""Tokens by their text, and how long the tokens can be that a text goes on with."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.runtime.tokenization.vocabulary_data import VocabularyData


class Lexicon:
    """Finds the tokens that stand at a place of a text.

    `ids` gives the id of each token by its text, none of which is empty. Lengths are kept by the first two characters,
    so that a look-up tries few.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = ids
        lengths: dict[str, set[int]] = {}
        for text in ids:
            lengths.setdefault(text[:2], set()).add(len(text))
        for start, found in lengths.items():
            if start[0] in ids:
                found.add(1)
        self._lengths = {start: tuple(sorted(found)) for start, found in lengths.items()}

    @classmethod
    def of(cls, data: VocabularyData) -> Lexicon:
        """The tokens that text can yield; of two alike the later counts."""
        texts = data.tokens.texts()
        return cls(texts.ids(data.is_reachable() & (texts.lengths() > 0)))

    def lengths(self, text: str, position: int) -> tuple[int, ...]:
        """The lengths in characters that tokens at `position` can have, ascending; some may reach past the end."""
        get = self._lengths.get
        return get(text[position : position + 2]) or get(text[position]) or ()

    def longest(self, text: str, position: int) -> tuple[int, int] | None:
        """The id and the length in characters of the longest token that `text` goes on with, if there is any."""
        for length in reversed(self.lengths(text, position)):
            token = self.ids.get(text[position : position + length])
            if token is not None and position + length <= len(text):
                return token, length
        return None
