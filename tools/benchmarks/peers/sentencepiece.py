"""Google's SentencePiece."""

from __future__ import annotations

from typing import Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


class Processor(Protocol):
    """The part of it that is used."""

    def EncodeAsIds(self, input: str) -> list[int]: ...  # noqa: N802  # its name

    def DecodeIds(self, input: list[int]) -> str: ...  # noqa: N802


def open_sentencepiece(vocabulary: Vocabulary) -> Encoder:
    """From a model of SentencePiece."""
    path = vocabulary.file("sentencepiece")
    import numpy as np
    from sentencepiece import SentencePieceProcessor

    processor: Processor = SentencePieceProcessor(model_file=path)

    def as_array(text: str) -> object:
        return np.array(processor.EncodeAsIds(text), np.int32)

    def count(text: str) -> int:
        return len(processor.EncodeAsIds(text))

    def decode(ids: list[int]) -> Decoded:
        return processor.DecodeIds(ids)

    return Encoder(processor.EncodeAsIds, as_array, count, decode)
