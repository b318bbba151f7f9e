"""Encoding: what a text goes through until it is ids, put together. `decoding.py` has the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.stages import Engine, Normalizer
from katapi.runtime.tokenization.surrogates import lone_surrogate, refuse_surrogates

if TYPE_CHECKING:
    from katapi.runtime.native.kernel import Kernel


class Encoding:
    """The stages before the post-processor."""

    def __init__(
        self,
        engine: Engine,
        normalizer: Normalizer,
        inner_normalizer: Normalizer,
        *,
        kernel: Kernel | None = None,
        refuses_surrogates: bool = False,
    ) -> None:
        """`inner_normalizer` is for what stands behind a place at which a text is cut.

        `kernel` is that of the engine where ASCII needs no normalizer. `refuses_surrogates` says that the normalizers
        and the engine do, and tell where in the text as it comes one stands.
        """
        self.engine = engine
        """What normalized texts go to."""
        self.kernel = kernel
        """Where a text of ASCII may go as it is; None where there is no such place."""
        self._refuses_surrogates = refuses_surrogates
        self._normalize = normalizer.normalize
        self._normalize_part = inner_normalizer.normalize
        self._align = normalizer.align

    def normalized(self, text: str, first: bool) -> str | None:
        """The text that the engine takes; None where only the aligned form tells what stands at the beginning.

        Raises `TokenizerError` V101 where `text` holds a lone surrogate, if the engine does not.
        """
        normalized = self._of(text, self._normalize)
        return None if first and normalized is not text and self.engine.positional else normalized

    def normalized_part(self, text: str) -> str:
        """The same of what stands behind a cut."""
        return self._of(text, self._normalize_part)

    def _of(self, text: str, normalize: Callable[[str], str]) -> str:
        if not self._refuses_surrogates:
            refuse_surrogates(text)
            return normalize(text)
        try:
            return normalize(text)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None

    def aligned(self, text: str, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The ids, and the source of each: int64 of shape [n, 2], half-open ranges of bytes.

        Raises `TokenizerError` V101 where `text` holds a lone surrogate.
        """
        if not text:
            return [], np.zeros((0, 2), dtype=np.int64)
        refuse_surrogates(text)
        return self.engine.encode_aligned(self._align(AlignedText.of(text)), first)
