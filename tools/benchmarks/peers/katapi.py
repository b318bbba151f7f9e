"""Katapi itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


@runtime_checkable
class Compact(Protocol):
    """A tokenizer that need not build a list."""

    def encode_array(self, text: str) -> Sequence[int]: ...

    def count(self, text: str) -> int: ...


def open_katapi(vocabulary: Vocabulary) -> Encoder:
    """The tokenizer of the vocabulary."""
    import numpy as np

    import katapi

    tokenizer = katapi.load_tokenizer(vocabulary.katapi)

    def stream(ids: list[int]) -> list[Decoded]:
        decoder = tokenizer.decoder()
        parts: list[Decoded] = [decoder.push(id) for id in ids]
        parts.append(decoder.finish())
        return parts

    found: object = tokenizer
    if isinstance(found, Compact):
        return Encoder(tokenizer.encode, found.encode_array, found.count, tokenizer.decode_text, stream)
    return Encoder(
        tokenizer.encode,
        lambda text: np.array(tokenizer.encode(text), np.int32),
        lambda text: len(tokenizer.encode(text)),
        tokenizer.decode_text,
        stream,
    )
