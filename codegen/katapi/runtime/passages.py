"""An input, passage by passage: what was assembled of a request, and what a model generated between.

Each passage knows which segments each of its tokens covers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.origins import portions, token_segments
from katapi.runtime.segments import Segment
from katapi.runtime.tokenization.interface import Tokenizer


class Passage(Protocol):
    """Tokens of an input in a row."""

    @property
    def stop(self) -> int | None:
        """The index of the segment behind the passage; None where it is the last."""
        ...

    def ranges(self, segments: Sequence[Segment], start: int, tokenizer: Tokenizer) -> NDArray[np.int64]:
        """For each token the half-open range of segments that it covers, int64 of shape [n, 2].

        `segments` are those of the whole input; the passage begins with that of the index `start`.
        """
        ...

    def portions(self, segments: Sequence[Segment], start: int) -> Iterator[tuple[int, int, int]]:
        """Its control tokens and runs of text: the half-open range of segments of each, and how many ids it has."""
        ...


class AssembledPassage(NamedTuple):
    """What `assemble_array` gave for some segments: `ids` and `run_ends`; `stop` as `Passage` has it."""

    ids: NDArray[np.int64]
    """The ids, int64 of shape [n]."""
    run_ends: Sequence[int]
    stop: int | None = None

    def ranges(self, segments: Sequence[Segment], start: int, tokenizer: Tokenizer) -> NDArray[np.int64]:
        """The ranges of segments, int64 of shape [n, 2], as `Passage` has them."""
        return token_segments(segments, self.run_ends, self.ids.tolist(), tokenizer, self._within(segments, start))

    def portions(self, segments: Sequence[Segment], start: int) -> Iterator[tuple[int, int, int]]:
        """Its control tokens and runs, as `Passage` has them."""
        return portions(segments, self.run_ends, self._within(segments, start))

    def _within(self, segments: Sequence[Segment], start: int) -> tuple[int, int]:
        return start, len(segments) if self.stop is None else self.stop
