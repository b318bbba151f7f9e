"""The engine in pure Python: a pre-tokenizer and a segmenter, with a memory of the pieces that were met before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.stages import PreTokenizer, Segmenter


class PieceEngine:
    """Cuts text into pieces and segments each piece; the result of a piece depends on nothing outside it."""

    def __init__(self, pretokenizer: PreTokenizer, segmenter: Segmenter) -> None:
        self._split = pretokenizer.split
        self._ids_of_piece = Memo(segmenter.segment).__getitem__
        self._widths = segmenter.widths

    def encode(self, text: str) -> list[int]:
        """The ids of a normalized text.

        The loop over pieces runs inside the interpreter, without a Python call for a known piece.
        """
        return list(chain.from_iterable(map(self._ids_of_piece, self._split(text))))

    def ranges(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """Where each token lies: tokens follow one another without gaps, so their widths add up."""
        ends = np.cumsum(self._widths(text, ids))
        return np.stack([np.concatenate([np.zeros(1, np.int64), ends[:-1]])[: len(ends)], ends], axis=1)
