"""gigatoken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Gigatoken(Protocol):
    """The part of it that is used."""

    def encode(self, input: str) -> NDArray[np.uint32]: ...

    def decode(self, tokens: list[int]) -> bytes: ...


def open_gigatoken(vocabulary: Vocabulary) -> Encoder:
    """From tokenizer.json, or from ranks where it knows the pattern by name."""
    import codecs

    import gigatoken

    if "gigatoken" in vocabulary.names:
        path, pattern = vocabulary.file("ranks"), vocabulary.names["gigatoken"]
        tokenizer: Gigatoken = gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=pattern)
    else:
        tokenizer = gigatoken.Tokenizer(vocabulary.file("json"))

    def as_list(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text).tolist()
        return ids

    def count(text: str) -> int:
        return len(tokenizer.encode(text))

    def stream(ids: list[int]) -> list[Decoded]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parts: list[Decoded] = [decoder.decode(tokenizer.decode([id])) for id in ids]
        return [*parts, decoder.decode(b"", final=True)]

    return Encoder(as_list, tokenizer.encode, count, tokenizer.decode, stream)
