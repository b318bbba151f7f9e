"""Mistral's own mistral-common."""

from __future__ import annotations

from typing import Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Unavailable, Vocabulary


class MistralTokenizer(Protocol):
    """The part of it that is used."""

    def encode(self, s: str, bos: bool, eos: bool) -> list[int]: ...

    def decode(self, tokens: list[int]) -> str: ...


def open_mistral_common(vocabulary: Vocabulary) -> Encoder:
    """From tekken.json, or a model of SentencePiece."""
    if not {"tekken", "sentencepiece"} & {*vocabulary.files}:
        raise Unavailable("Mistral's vocabularies only")
    import numpy as np
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer: MistralTokenizer
    if "tekken" in vocabulary.files:
        tokenizer = Tekkenizer.from_file(vocabulary.file("tekken"))
    else:
        tokenizer = SentencePieceTokenizer(vocabulary.file("sentencepiece"))

    def as_list(text: str) -> list[int]:
        return tokenizer.encode(text, bos=False, eos=False)

    def as_array(text: str) -> object:
        return np.array(as_list(text), np.int32)

    def count(text: str) -> int:
        return len(as_list(text))

    def decode(ids: list[int]) -> Decoded:
        return tokenizer.decode(ids)

    return Encoder(as_list, as_array, count, decode)
