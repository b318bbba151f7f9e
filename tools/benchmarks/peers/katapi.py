"""Katapi itself."""

from __future__ import annotations

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


def open_katapi(vocabulary: Vocabulary) -> Encoder:
    """The tokenizer of the vocabulary."""
    import katapi

    tokenizer = katapi.load_tokenizer(vocabulary.katapi)

    def stream(ids: list[int]) -> list[Decoded]:
        decoder = tokenizer.decoder()
        parts: list[Decoded] = [decoder.push(id) for id in ids]
        parts.append(decoder.finish())
        return parts

    return Encoder(tokenizer.encode, tokenizer.encode_array, tokenizer.count, tokenizer.decode_text, stream)
