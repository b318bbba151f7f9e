"""Encoding: what a text goes through until it is ids, put together. `decoding.py` has the way back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.stages import Engine, Normalizer


class Encoding:
    """The stages before the post-processor. Texts hold no lone surrogates."""

    def __init__(self, engine: Engine, normalizer: Normalizer, inner_normalizer: Normalizer) -> None:
        """`inner_normalizer` is for what stands behind a place at which a text is cut."""
        self.engine = engine
        """What normalized texts go to."""
        self.normalize_part = inner_normalizer.normalize
        """Gives the text that the engine takes of what stands behind a cut."""
        self._normalize = normalizer.normalize
        self._align = normalizer.align

    def normalized(self, text: str, first: bool) -> str | None:
        """The text that the engine takes; None where only the aligned form tells what stands at the beginning."""
        normalized = self._normalize(text)
        return None if first and normalized is not text and self.engine.positional else normalized

    def aligned(self, text: str, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The ids, and the source of each: int64 of shape [n, 2], half-open ranges of bytes."""
        if not text:
            return [], np.zeros((0, 2), dtype=np.int64)
        return self.engine.encode_aligned(self._align(AlignedText.of(text)), first)
