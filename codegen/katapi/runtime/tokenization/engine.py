"""The engine in pure Python: a pre-tokenizer and a segmenter, with a memory of what was met before.

Where the pre-tokenizer knows places that cut a text whatever stands around, the text is cut there first, and the ids
of such stretches are remembered, as those of pieces are: most are words that come again, and patterns run over the
others only. Ids are kept as bytes, four an id, which are joined faster than numbers are put into a list.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from itertools import accumulate, chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.compiled import EngineForm
from katapi.runtime.patterns.stretches import Stretches
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.stages import PreTokenizer, Segmenter, Stretching

NOT_COMPILED: Final = "there is no compiled engine for such a tokenizer"
"""Why it is the pure engine, where nothing more is said."""

_ID: Final = "i"  # the format of an id in bytes: a number of C of 32 bits


class PieceEngine:
    """Cuts text into pieces and segments each piece; the result of a piece depends on nothing outside it."""

    def __init__(self, pretokenizer: PreTokenizer, segmenter: Segmenter, *, why: str = NOT_COMPILED) -> None:
        """`why` says why no compiled engine stands here."""
        self.form = EngineForm("pure", (), why)
        """That it is the pure one, and why."""
        self._pretokenizer = pretokenizer
        self._split = pretokenizer.split
        self._segment = segmenter.segment
        self._ids_of_piece = Memo(self._segmented).__getitem__
        self._ids_of_beginning = Memo(self._cut_beginning).__getitem__
        self._ids_behind_space = Memo(self._cut_behind_space).__getitem__
        self._ranges_of_piece = Memo(segmenter.segment_ranges).__getitem__

    @property
    def positional(self) -> bool:
        """Whether the pieces depend on the place of the text in the input."""
        return self._pretokenizer.positional

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text."""
        return list(memoryview(self._encoded(text, first)).cast(_ID))

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        return np.frombuffer(bytearray(self._encoded(text, first)), dtype=np.int32)

    def encode_bytes(self, text: str, first: bool) -> bytes:
        """The same in the bytes of an int64 array."""
        return np.frombuffer(self._encoded(text, first), dtype=np.int32).astype(np.int64).tobytes()

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        return len(memoryview(self._encoded(text, first)).cast(_ID))

    def _encoded(self, text: str, first: bool) -> bytes:
        """The ids in bytes.

        The loops over stretches and pieces run inside the interpreter, without a Python call for a known one.
        """
        if self._stretches is None:
            return b"".join(map(self._ids_of_piece, self._split(text, first)))
        beginning, others = self._stretches.cut(text)
        return b"".join([self._ids_of_beginning(beginning), *map(self._ids_behind_space, others)])

    def _cut_beginning(self, stretch: str) -> bytes:
        """The ids of a stretch in bytes."""
        return b"".join(map(self._ids_of_piece, self._split(stretch, False)))

    def _cut_behind_space(self, stretch: str) -> bytes:
        """The ids of a stretch with the space before it."""
        return b"".join(map(self._ids_of_piece, self._split(" " + stretch, False)))

    def _segmented(self, piece: str) -> bytes:
        """The ids of a piece in bytes."""
        return array(_ID, self._segment(piece)).tobytes()

    @cached_property
    def _stretches(self) -> Stretches | None:
        pretokenizer = self._pretokenizer
        return pretokenizer.stretches if isinstance(pretokenizer, Stretching) else None

    def encode_aligned(self, text: AlignedText, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The ids of a normalized text, and the half-open range of source bytes of each, int64 of shape [n, 2]."""
        first = first and len(text) > 0 and bool(text.starts[0] == 0)  # else what stood there is gone
        pieces, text = self._pieces(text, first)
        tokens_of = list(map(self._ranges_of_piece, pieces))
        flat = chain.from_iterable(chain.from_iterable(tokens_of))
        tokens = np.fromiter(flat, dtype=np.int64).reshape(-1, 3)
        starts = accumulate(map(len, pieces), initial=0)  # of the pieces; the last is the end
        places = np.fromiter(starts, dtype=np.int64)[:-1].repeat(list(map(len, tokens_of)))
        spans = text.source_of(tokens[:, 1:] + places[:, np.newaxis])
        # A mark put in front of a piece that begins within a character's source would end before that begins.
        spans[:, 1] = np.maximum.accumulate(spans[:, 1])
        return tokens[:, 0].tolist(), spans

    def _pieces(self, text: AlignedText, first: bool) -> tuple[list[str], AlignedText]:
        """The pieces of a text, and the text that they are together."""
        if self._pretokenizer.only_cuts:
            pieces = self._split(text.text, first)
            if sum(map(len, pieces)) == len(text):  # nothing was left out
                return pieces, text
        parts = self._pretokenizer.split_aligned(text, first)
        return [part.text for part in parts], AlignedText.joined(parts)
