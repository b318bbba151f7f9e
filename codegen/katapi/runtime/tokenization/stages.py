"""What each stage of tokenization (the chapter, section 1.5) must offer, and where an engine can be exchanged.

    text ──normalizer──▶ text ──engine: pre-tokenizer ▶ segmenter──▶ ids ──post-processor──▶ ids ──decoding──▶ bytes

An `Engine` does the two middle stages at once, because a compiled engine scans and segments in one pass. `PieceEngine`
puts one together from a `PreTokenizer` and a `Segmenter`. Stages that change text have two forms: one on plain strings,
by which text is encoded, and one that keeps track of the source, by which spans are found. Both give the same text.

The argument `first` says that a text stands at the very beginning of the whole input, not behind a control token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.interface import Decoder

if TYPE_CHECKING:
    from katapi.runtime.compiled import EngineForm
    from katapi.runtime.patterns.stretches import Stretches
    from katapi.runtime.tokenization.seams import Seams


class Normalizer(Protocol):
    """Rewrites text before it is cut. The text holds no lone surrogate."""

    def normalize(self, text: str) -> str:
        """The normalized text."""
        ...

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        ...


class PreTokenizer(Protocol):
    """Cuts normalized text into pieces that no token crosses; it may put in or leave out characters."""

    @property
    def positional(self) -> bool:
        """Whether the pieces depend on `first`."""
        ...

    @property
    def only_cuts(self) -> bool:
        """Whether the pieces are parts of the text in its order: nothing is put in or changed, some may be left out."""
        ...

    def split(self, text: str, first: bool) -> list[str]:
        """The pieces in order, none of them empty."""
        ...

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same, with the source of each character."""
        ...


@runtime_checkable
class Stretching(Protocol):
    """What cuts text, and knows places where it does so whatever stands around."""

    @property
    def stretches(self) -> Stretches | None:
        """What cuts a text into longer parts, the pieces of which, one part after another, are those of the text."""
        ...


class Segmenter(Protocol):
    """Cuts one piece into tokens of the vocabulary."""

    def segment(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece. That of a unigram vocabulary raises `TokenizerError` V107."""
        ...

    def segment_ranges(self, piece: str) -> list[tuple[int, int, int]]:
        """Each id with the half-open range of characters (code points) of the piece that it covers, never empty.

        Tokens that share one character, each with some of its bytes, all cover it.
        """
        ...


@runtime_checkable
class Merging(Protocol):
    """A segmenter that merges characters."""

    @property
    def seams(self) -> Seams | None:
        """Where no merge crosses, whatever the piece; None where that is not known."""
        ...


class Engine(Protocol):
    """Turns a whole normalized text into ids."""

    @property
    def form(self) -> EngineForm:
        """Which form of the engine this is, and why."""
        ...

    @property
    def positional(self) -> bool:
        """Whether the ids depend on `first`."""
        ...

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of `text`."""
        ...

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        ...

    def encode_bytes(self, text: str, first: bool) -> bytes:
        """The same in the bytes of an int64 array."""
        ...

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        ...

    def encode_aligned(self, text: AlignedText, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The same, and the source of each token: int64 of shape [n, 2], half-open ranges of bytes."""
        ...


class PostProcessor(Protocol):
    """Puts control tokens around the ids of a whole input."""

    def process(self, ids: Sequence[int]) -> list[int]:
        """The ids of a single sequence with what belongs around them."""
        ...


class Decoding(Protocol):
    """Turns ids into bytes and text."""

    def decode(self, ids: Sequence[int]) -> bytes:
        """All at once. Raises `TokenizerError` V102 on an unknown id."""
        ...

    def decode_text(self, ids: Sequence[int]) -> str:
        """All at once, as text. Raises `TokenizerError` V102 on an unknown id."""
        ...

    def decoder(self) -> Decoder:
        """One at a time."""
        ...
