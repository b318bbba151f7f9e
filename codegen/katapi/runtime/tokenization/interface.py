"""What the rest of Katapi needs from a tokenizer. Generated tokenizers and engines stand behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from katapi.runtime.compiled import EngineForm


class Decoder(Protocol):
    """Turns ids into bytes as they arrive, one completion a decoder: the interface of the chapter, section 1.5.

    The bytes of all pushes and of `finish` together are the bytes that `Tokenizer.decode` gives for the same ids. What
    one push returns need not be whole characters.
    """

    def push(self, token: int) -> bytes:
        """The bytes that are certain once the id `token` has come.

        Raises `TokenizerError` V102 on an unknown id, and V104 after `finish`.
        """
        ...

    def finish(self) -> bytes:
        """The bytes that were still held back, be they whole characters or not. Nothing may be pushed afterwards."""
        ...


class Tokenizer(Protocol):
    """The content path of one model: text to ids in which no control id can occur, and ids back to bytes."""

    @property
    def vocabulary_size(self) -> int:
        """The number of ids from 0 to the highest, control tokens included."""
        ...

    @property
    def pad_id(self) -> int | None:
        """The control token that fills the short rows of a batch; None where the vocabulary names none."""
        ...

    @property
    def engine(self) -> EngineForm:
        """Which form of the engine encodes, and why; before the first text, which one is to."""
        ...

    def encode(self, text: str, first: bool = True) -> list[int]:
        """The ids of one run of text, without control tokens. A control token that `text` spells stays text.

        `first` says that the run begins the whole input; some tokenizers put a space in front of such a run only.
        Raises `TokenizerError` V101 where `text` holds a lone surrogate, and V107 where a character is no token of a
        unigram vocabulary that has no unknown token.
        """
        ...

    def encode_array(self, text: str, first: bool = True) -> NDArray[np.int32]:
        """What `encode` gives, as int32 of shape [n]. Raises what it raises."""
        ...

    def encode_bytes(self, text: str, first: bool = True) -> bytes:
        """The same in the bytes of an int64 array: parts of an input are soonest joined so. Raises what it raises."""
        ...

    def count(self, text: str, first: bool = True) -> int:
        """How many ids `encode` gives. Raises what it raises."""
        ...

    def cuts(self, text: str) -> tuple[int, int] | None:
        """The first and the last place at which a text can be cut, in characters; None where none is known near an end.

        Whatever stands before and behind the text, its ids are those of what stands before such a place and, by
        `encode_part`, of what stands behind it. On both sides there is more than white space.
        """
        ...

    def encode_part(self, text: str) -> list[int]:
        """The ids of what stands behind a place at which a run can be cut.

        Raises `TokenizerError` V101 and V107 as `encode` does.
        """
        ...

    def spans(self, text: str, ids: Sequence[int], first: bool = True) -> NDArray[np.int64]:
        """Where each token of `encode(text, first)`, given as `ids`, comes from: half-open byte ranges, int64 [n, 2].

        Bytes count in the UTF-8 of `text` as it was given, before normalization. Starts and ends never decrease. Each
        range holds whole characters: tokens that share a character all cover it, and a token that touches characters
        which normalization changed covers all the source characters that were changed together. The range is empty
        where the token stands for nothing but what the tokenizer put in. Raises `TokenizerError` V103 where `ids` are
        others, and what `encode` raises.
        """
        ...

    def post_process(self, ids: Sequence[int]) -> list[int]:
        """The ids of a whole input with the control tokens that the post-processor puts around a single sequence."""
        ...

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that `ids` stand for; a control token gives its spelling.

        Raises `TokenizerError` V102 on an unknown id.
        """
        ...

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text, as the official decoder prints it; bytes that are no whole character become U+FFFD.

        Raises `TokenizerError` V102 on an unknown id.
        """
        ...

    def decoder(self) -> Decoder:
        """A new incremental decoder."""
        ...
