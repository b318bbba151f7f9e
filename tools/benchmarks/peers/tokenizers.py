"""Hugging Face's tokenizers."""

from __future__ import annotations

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


def open_tokenizers(vocabulary: Vocabulary) -> Encoder:
    """From tokenizer.json."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(vocabulary.file("json"))

    def as_list(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def as_array(text: str) -> object:
        import numpy as np

        return np.array(as_list(text), np.int32)

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    def decode(ids: list[int]) -> Decoded:
        text: str = tokenizer.decode(ids, skip_special_tokens=False)
        return text

    def stream(ids: list[int]) -> list[Decoded]:
        from tokenizers.decoders import DecodeStream

        decoder = DecodeStream(skip_special_tokens=False)
        return [decoder.step(tokenizer, id) or "" for id in ids]

    return Encoder(as_list, as_array, count, decode, stream)
