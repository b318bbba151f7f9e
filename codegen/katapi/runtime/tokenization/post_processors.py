"""The post-processors: which control tokens are put around the ids of a single sequence."""

from __future__ import annotations

from collections.abc import Sequence


class Bare:
    """Puts nothing around a sequence."""

    def process(self, ids: Sequence[int]) -> list[int]:
        """The ids themselves."""
        return [*ids]


class Framed:
    """Puts control tokens before and behind a sequence, as the template of a single sequence in tokenizer.json says.

    `before` and `behind` are ids.
    """

    def __init__(self, before: Sequence[int], behind: Sequence[int]) -> None:
        self._before = [*before]
        self._behind = [*behind]

    def process(self, ids: Sequence[int]) -> list[int]:
        """The ids with those before and behind them."""
        return [*self._before, *ids, *self._behind]
