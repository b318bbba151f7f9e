"""A bounded memory of the ids of runs of text.

System prompts, the texts of tools and what was said before come again with each request of a conversation, and what a
template prints between two control tokens with each message. Ids are a function of the text alone, so one that was
encoded before is looked up: to hash and compare it takes a small part of the time that it takes to encode it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.interface import Tokenizer

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
        self._new: dict[str, NDArray[np.int32]] = {}
        self._old: dict[str, NDArray[np.int32]] = {}

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def encode_array(self, run: str, first: bool) -> NDArray[np.int32]:
        """What the tokenizer gives for a run, int32 of shape [n], which nobody may change.

        What stands at the beginning of an input is not remembered. Raises what the tokenizer raises.
        """
        if first or len(run) > _LONGEST:
            return self.tokenizer.encode_array(run, first)
        ids = self._new.get(run)
        return self._met(run) if ids is None else ids

    def _met(self, run: str) -> NDArray[np.int32]:
        """The ids of a run, which is in the new half from now on."""
        ids = self._old.get(run)
        if ids is None:
            ids = self.tokenizer.encode_array(run, False).copy()
        size = self._size + len(run) + _OVERHEAD
        if size > self._most:
            self._old, self._new, size = self._new, {}, len(run) + _OVERHEAD
        self._new[run] = ids
        self._size = size
        return ids
