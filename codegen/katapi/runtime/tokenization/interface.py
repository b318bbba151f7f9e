"""What the rest of Katapi needs from a tokenizer. Generated tokenizers and engines stand behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Decoder(Protocol):
    """Turns ids into bytes as they arrive, one completion a decoder (chapter 1, section 1.5).

    The bytes of all pushes and of `finish` together are the bytes that `Tokenizer.decode` gives for the same ids. What
    one push returns need not be whole characters.
    """

    def push(self, token: int) -> bytes:
        """The bytes that are certain once `token` has come. Raises `TokenizerError` on an unknown id."""
        ...

    def finish(self) -> bytes:
        """The bytes that were still held back. Nothing may be pushed afterwards."""
        ...


class Tokenizer(Protocol):
    """The content path of one model: text to ids in which no control id can occur, and ids back to bytes."""

    @property
    def vocabulary_size(self) -> int:
        """The number of ids from 0 to the highest, control tokens included."""
        ...

    def encode(self, text: str) -> list[int]:
        """The ids of one run of text, nothing added in front or behind. A control token that `text` spells stays text.

        Raises `TokenizerError` where `text` holds a lone surrogate.
        """
        ...

    def spans(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """Where each token of `encode(text)`, given as `ids`, comes from: shape [n, 2], half-open ranges of bytes.

        Bytes count in `text` as it was given, before normalization. Starts and ends never decrease. A token that
        touches characters which normalization changed covers all the source characters that were changed together.
        """
        ...

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that `ids` stand for; a control token gives its spelling.

        Raises `TokenizerError` on an unknown id.
        """
        ...

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text; each maximal part of a character that is not whole becomes U+FFFD."""
        ...

    def decoder(self) -> Decoder:
        """A new incremental decoder."""
        ...
