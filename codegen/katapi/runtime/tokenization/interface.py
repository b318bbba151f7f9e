"""What the rest of Katapi needs from a tokenizer. Generated tokenizers and engines stand behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Decoder(Protocol):
    """Turns ids into bytes as they arrive, one completion a decoder.

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

    def encode(self, text: str, first: bool = True) -> list[int]:
        """The ids of one run of text, without control tokens. A control token that `text` spells stays text.

        `first` says that the run begins the whole input; some tokenizers put a space in front of such a run only.
        Raises `TokenizerError` where `text` holds a lone surrogate.
        """
        ...

    def spans(self, text: str, ids: Sequence[int], first: bool = True) -> NDArray[np.int64]:
        """Where each token of `encode(text, first)`, given as `ids`, comes from: shape [n, 2], half-open byte ranges.

        Bytes count in `text` as it was given, before normalization. Starts and ends never decrease. Each range holds
        whole characters: tokens that share a character all cover it, and a token that touches characters which
        normalization changed covers all the source characters that were changed together. The range is empty where
        the token stands for nothing but what the tokenizer put in. Raises `TokenizerError` where `ids` are others.
        """
        ...

    def post_process(self, ids: Sequence[int]) -> list[int]:
        """The ids of a whole input with the control tokens that the post-processor puts around a single sequence."""
        ...

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that `ids` stand for; a control token gives its spelling.

        Raises `TokenizerError` on an unknown id.
        """
        ...

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text, as the official decoder prints it; bytes that are no whole character become U+FFFD."""
        ...

    def decoder(self) -> Decoder:
        """A new incremental decoder."""
        ...
