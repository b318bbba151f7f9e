"""bpe-openai: the Rust crate of GitHub, in a package for Python."""

from __future__ import annotations

from typing import Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


class BpeOpenai(Protocol):
    """The part of it that is used."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: list[int]) -> str: ...

    def count(self, text: str) -> int: ...


def open_bpe_openai(vocabulary: Vocabulary) -> Encoder:
    """One of the encodings that it carries, through its bindings, which do no more than the crate."""
    name = vocabulary.name_for("bpe-openai")
    import numpy as np
    from bpe_openai._bindings import tokenizer_for_encoding

    tokenizer: BpeOpenai = tokenizer_for_encoding(name)

    def as_array(text: str) -> object:
        return np.array(tokenizer.encode(text), np.int32)

    def decode(ids: list[int]) -> Decoded:
        return tokenizer.decode(ids)

    return Encoder(tokenizer.encode, as_array, tokenizer.count, decode)
