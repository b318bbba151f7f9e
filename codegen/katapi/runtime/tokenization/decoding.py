"""Decoding where tokens stand for bytes: ids to bytes, all at once or one by one. By stages: `text_decoding.py`."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.ids import as_id, as_ids
from katapi.runtime.tokenization.joining import Joining
from katapi.runtime.tokenization.vocabulary import Vocabulary


class ByteDecoding:
    """Joins the bytes of the tokens ("ByteLevel"): every token stands for its own, whatever stands beside it."""

    def __init__(self, vocabulary: Vocabulary, *, pure: bool = False) -> None:
        """The compiled form runs where it can, unless the `pure` one is asked for."""
        self._vocabulary = vocabulary
        self._joining = Joining(vocabulary.size, vocabulary.read, pure=pure)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of all tokens. Raises `TokenizerError` V102 on an unknown id, `TypeError` for what is no id."""
        return self._joining.join(ids if type(ids) is list else as_ids(ids))

    def decode_text(self, ids: Sequence[int]) -> str:
        """The bytes as text; each maximal part of a character that is not whole becomes U+FFFD.

        Raises what `decode` raises.
        """
        return self.decode(ids).decode("utf-8", "replace")

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


def refuse_finished(finished: bool) -> None:
    """Raises `TokenizerError` V104 where a decoder has finished."""
    if finished:
        raise TokenizerError("the decoder has finished", code="V104", help="make a new decoder for each completion")
