"""Crusoe's fastokens."""

from __future__ import annotations

from typing import Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


class FastEncoding(Protocol):
    """Its result."""

    @property
    def ids(self) -> list[int]: ...

    def __len__(self) -> int: ...


class Fastokens(Protocol):
    """The part of it that is used."""

    def encode_ordinary(self, input: str) -> FastEncoding: ...

    def encode_batch_flat(self, inputs: list[str], *, split_special_tokens: bool) -> tuple[bytes, bytes]: ...

    def decode(self, ids: list[int]) -> str: ...


def open_fastokens(vocabulary: Vocabulary) -> Encoder:
    """From tokenizer.json, or from ranks where it knows the pattern by name."""
    import numpy as np
    from fastokens import Tokenizer

    if "fastokens" in vocabulary.names:
        path, encoding = vocabulary.file("ranks"), vocabulary.names["fastokens"]
        tokenizer: Fastokens = Tokenizer.from_tiktoken(path, encoding=encoding)
    else:
        tokenizer = Tokenizer.from_file(vocabulary.file("normalized" if "normalized" in vocabulary.files else "json"))

    def as_list(text: str) -> list[int]:
        return tokenizer.encode_ordinary(text).ids

    def as_array(text: str) -> object:
        return np.frombuffer(tokenizer.encode_batch_flat([text], split_special_tokens=True)[0], np.uint32)

    def count(text: str) -> int:
        return len(tokenizer.encode_ordinary(text))

    def decode(ids: list[int]) -> Decoded:
        return tokenizer.decode(ids)

    return Encoder(as_list, as_array, count, decode)
