"""Katapi itself, compiled where it is compiled, and as it runs where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Unavailable, Vocabulary

if TYPE_CHECKING:
    from katapi.runtime.tokenization.facade import TextAndIds


def open_katapi(vocabulary: Vocabulary) -> Encoder:
    """The tokenizer of the vocabulary."""
    import katapi

    return _encoder(katapi.load_tokenizer(vocabulary.katapi))


def open_pure_katapi(vocabulary: Vocabulary) -> Encoder:
    """The same without extensions. Raises Unavailable where Katapi runs so anyway."""
    import dataclasses
    import inspect
    import os

    import katapi
    from katapi.runtime.compiled import VARIABLE

    if katapi.engine().form == "pure":
        raise Unavailable("Katapi runs so itself")
    declared = katapi.load_tokenizer(vocabulary.katapi)
    os.environ[VARIABLE] = "pure"
    try:
        built = inspect.unwrap(declared._tokenizer)()  # not the one that this process remembers
        built.encode("Hello there")  # what is built on first use
    finally:
        del os.environ[VARIABLE]
    return _encoder(dataclasses.replace(declared, _tokenizer=lambda: built))


def _encoder(tokenizer: TextAndIds) -> Encoder:
    def stream(ids: list[int]) -> list[Decoded]:
        decoder = tokenizer.decoder()
        parts: list[Decoded] = [decoder.push(id) for id in ids]
        parts.append(decoder.finish())
        return parts

    return Encoder(tokenizer.encode, tokenizer.encode_array, tokenizer.count, tokenizer.decode_text, stream)
