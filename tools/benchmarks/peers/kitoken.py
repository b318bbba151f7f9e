"""kitoken."""

from __future__ import annotations

from typing import Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


class Kitoken(Protocol):
    """The part of it that is used."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, data: list[int]) -> bytes: ...


def open_kitoken(vocabulary: Vocabulary) -> Encoder:
    """From SentencePiece's model or tokenizer.json."""
    import numpy as np
    from kitoken import Kitoken as Loader

    if "sentencepiece" in vocabulary.files:
        tokenizer: Kitoken = Loader.from_sentencepiece_file(vocabulary.file("sentencepiece"))
    else:
        tokenizer = Loader.from_tokenizers_file(vocabulary.file("json"))

    def as_array(text: str) -> object:
        return np.array(tokenizer.encode(text), np.int32)

    def count(text: str) -> int:
        return len(tokenizer.encode(text))

    def decode(ids: list[int]) -> Decoded:
        return tokenizer.decode(ids)

    return Encoder(tokenizer.encode, as_array, count, decode)
