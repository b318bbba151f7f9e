"""What each stage of tokenization must offer (chapter 1, section 1.5), and where an engine can be exchanged.

    text ──normalizer──▶ text ──engine: pre-tokenizer ▶ segmenter──▶ ids ──decoding──▶ bytes

An `Engine` does the two middle stages at once, because a compiled engine scans and segments in one pass. `PieceEngine`
puts one together from a `PreTokenizer` and a `Segmenter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.alignment import Alignment
from katapi.runtime.tokenization.interface import Decoder


class Normalizer(Protocol):
    """Rewrites text before it is cut. The text holds no lone surrogate."""

    def normalize(self, text: str) -> str:
        """The normalized text."""
        ...

    def align(self, text: str) -> Alignment:
        """Which parts of `text` `normalize` changes, and into what."""
        ...


class PreTokenizer(Protocol):
    """Cuts normalized text into pieces that no token crosses."""

    def split(self, text: str) -> list[str]:
        """The pieces in order. None is empty, and joined they are `text`."""
        ...


class Segmenter(Protocol):
    """Cuts one piece into tokens of the vocabulary."""

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece."""
        ...

    def widths(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """How many UTF-8 bytes of `text` each of its tokens takes, shape [n].

        `ids` are those of all pieces of `text`.
        """
        ...


class Engine(Protocol):
    """Turns a whole normalized text into ids."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text`."""
        ...

    def ranges(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """Where each token of `ids`, the ids of `text`, lies in it: shape [n, 2], half-open ranges of UTF-8 bytes."""
        ...


class Decoding(Protocol):
    """Turns ids into bytes."""

    def decode(self, ids: Sequence[int]) -> bytes:
        """All at once."""
        ...

    def decoder(self) -> Decoder:
        """One at a time."""
        ...
