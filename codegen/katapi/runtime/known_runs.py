"""A bounded memory of the ids of runs of text.

System prompts, the texts of tools and what was said before come again with each request of a conversation, and what a
template prints between two control tokens with each message. Ids are a function of the text alone, so one that was
encoded before is looked up: to hash and compare it takes a small part of the time that it takes to encode it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katapi.runtime.tokenization.interface import Tokenizer

BYTES_OF_ID: Final = 8
"""How many bytes an id takes in an int64 array."""

_LONGEST = 1 << 18
"""Longer runs are documents, which seldom come again."""
_OVERHEAD = 64
"""What a short run takes beside its characters, in characters."""


class KnownRuns:
    """The runs that one tokenizer encoded lately.

    There are two halves. What is met goes into the new one; when that is full, it becomes the old one, and what was
    not met since the old one was filled is forgotten. Threads may share a memory: at worst, a run is encoded twice.
    """

    __slots__ = ("_most", "_new", "_old", "_size", "tokenizer")

    def __init__(self, tokenizer: Tokenizer, most_characters: int = 1 << 20) -> None:
        self.tokenizer = tokenizer
        """Whose runs they are."""
        self._most = most_characters // 2
        self._size = 0
        self._new: dict[str, bytes] = {}
        self._old: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def encode_bytes(self, run: str, first: bool) -> bytes:
        """What the tokenizer gives for a run, in the bytes of an int64 array: parts of an input are soonest joined so.

        What stands at the beginning of an input is not remembered. Raises what the tokenizer raises.
        """
        ids = None if first else self._new.get(run)
        if ids is not None:
            return ids
        if first or len(run) > _LONGEST:
            return encode_bytes(self.tokenizer, run, first)
        return self._met(run)

    def _met(self, run: str) -> bytes:
        """The ids of a run, which is in the new half from now on."""
        ids = self._old.get(run)
        if ids is None:
            ids = encode_bytes(self.tokenizer, run, False)
        size = self._size + len(run) + _OVERHEAD
        if size > self._most:
            self._old, self._new, size = self._new, {}, len(run) + _OVERHEAD
        self._new[run] = ids
        self._size = size
        return ids


def encode_bytes(tokenizer: Tokenizer, run: str, first: bool) -> bytes:
    """What a tokenizer gives for a run, in the bytes of an int64 array."""
    return tokenizer.encode_array(run, first).astype(np.int64).tobytes()
