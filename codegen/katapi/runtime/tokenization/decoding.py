"""Decoding where tokens stand for bytes: ids to bytes, all at once or one by one. By stages: `text_decoding.py`."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.vocabulary import Vocabulary


class ByteDecoding:
    """Joins the bytes of the tokens ("ByteLevel"): every token stands for its own, whatever stands beside it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of all tokens. Raises `TokenizerError` V102 on an unknown id."""
        return b"".join(map(self._vocabulary.bytes_of, ids))

    def decode_text(self, ids: Sequence[int]) -> str:
        """The bytes as text; each maximal part of a character that is not whole becomes U+FFFD.

        Raises `TokenizerError` V102 on an unknown id.
        """
        return self.decode(ids).decode(errors="replace")

    def decoder(self) -> ByteDecoder:
        """A new incremental decoder."""
        return ByteDecoder(self._vocabulary)


class ByteDecoder:
    """The same, one token at a time: a token's bytes are certain at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._finished = False

    def push(self, token: int) -> bytes:
        """The bytes of one token. Raises `TokenizerError` V102 on an unknown id, and V104 after `finish`."""
        refuse_finished(self._finished)
        return self._vocabulary.bytes_of(as_id(token))

    def finish(self) -> bytes:
        """Nothing is ever held back."""
        self._finished = True
        return b""


def as_id(token: int) -> int:
    """The same id; a caller without a type checker may pass what is none."""
    try:
        return index(token)
    except TypeError:
        raise TypeError(f"an id is an integer, not a {type(token).__name__}") from None


def refuse_finished(finished: bool) -> None:
    """Raises `TokenizerError` V104 where a decoder has finished."""
    if finished:
        raise TokenizerError("the decoder has finished", code="V104", help="make a new decoder for each completion")
