"""OpenAI's tiktoken."""

from __future__ import annotations

import codecs

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Vocabulary


def open_tiktoken(vocabulary: Vocabulary) -> Encoder:
    """An encoding of the vocabulary's ranks and pattern."""
    pattern = vocabulary.pattern_for_tiktoken()
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(vocabulary.file("ranks"))
    encoding = tiktoken.Encoding(vocabulary.title, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    def as_array(text: str) -> object:
        return encoding.encode_to_numpy(text, disallowed_special=())

    def stream(ids: list[int]) -> list[Decoded]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parts: list[Decoded] = [decoder.decode(encoding.decode_single_token_bytes(id)) for id in ids]
        return [*parts, decoder.decode(b"", final=True)]

    return Encoder(encoding.encode_ordinary, as_array, count, encoding.decode, stream)
