"""The engine in pure Python: a pre-tokenizer and a segmenter, with a memory of the pieces that were met before."""

from __future__ import annotations

from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.compiled import EngineForm
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.stages import PreTokenizer, Segmenter

NOT_COMPILED: Final = "there is no compiled engine for such a tokenizer"
"""Why it is the pure engine, where nothing more is said."""


class PieceEngine:
    """Cuts text into pieces and segments each piece; the result of a piece depends on nothing outside it."""

    def __init__(self, pretokenizer: PreTokenizer, segmenter: Segmenter, *, why: str = NOT_COMPILED) -> None:
        """`why` says why no compiled engine stands here."""
        self.form = EngineForm("pure", (), why)
        """That it is the pure one, and why."""
        self._pretokenizer = pretokenizer
        self._split = pretokenizer.split
        self._ids_of_piece = Memo(segmenter.segment).__getitem__
        self._ranges_of_piece = Memo(segmenter.segment_ranges).__getitem__

    @property
    def positional(self) -> bool:
        """Whether the pieces depend on the place of the text in the input."""
        return self._pretokenizer.positional

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text.

        The loop over pieces runs inside the interpreter, without a Python call for a known piece.
        """
        return list(chain.from_iterable(map(self._ids_of_piece, self._split(text, first))))

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        return np.fromiter(chain.from_iterable(map(self._ids_of_piece, self._split(text, first))), dtype=np.int32)

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        return sum(map(len, map(self._ids_of_piece, self._split(text, first))))

    def encode_aligned(self, text: AlignedText, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The ids of a normalized text, and the half-open range of source bytes of each, int64 of shape [n, 2]."""
        first = first and len(text) > 0 and bool(text.starts[0] == 0)  # else what stood there is gone
        ids: list[int] = []
        sources = [np.zeros((0, 2), dtype=np.int64)]
        for piece in self._pretokenizer.split_aligned(text, first):
            tokens = np.array(self._ranges_of_piece(piece.text), dtype=np.int64).reshape(-1, 3)
            ids += tokens[:, 0].tolist()
            sources.append(piece.source_of(tokens[:, 1:]))
        spans = np.concatenate(sources)
        # A mark put in front of a piece that begins within a character's source would end before that begins.
        spans[:, 1] = np.maximum.accumulate(spans[:, 1])
        return ids, spans
