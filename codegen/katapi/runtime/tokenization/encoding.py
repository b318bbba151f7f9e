"""Encoding: what a text goes through until it is ids, put together. `decoding.py` has the way back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.stages import Engine, Normalizer


@dataclass(frozen=True, eq=False, slots=True)
class Encoding:
    """The stages before the post-processor. Texts hold no lone surrogates."""

    engine: Engine
    normalizer: Normalizer
    inner_normalizer: Normalizer
    """For what stands behind a place at which a text is cut."""

    def normalized(self, text: str, first: bool) -> str | None:
        """The text that the engine takes; None where only the aligned form tells what stands at the beginning."""
        normalized = self.normalizer.normalize(text)
        return None if first and self.engine.positional and normalized is not text else normalized

    def aligned(self, text: str, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The ids, and the source of each: int64 of shape [n, 2], half-open ranges of bytes."""
        if not text:
            return [], np.zeros((0, 2), dtype=np.int64)
        return self.engine.encode_aligned(self.normalizer.align(AlignedText.of(text)), first)
