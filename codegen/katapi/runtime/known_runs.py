"""A bounded memory of the ids of runs of text.

System prompts, the texts of tools and what was said before come again with each request of a conversation, and what a
template prints between two control tokens with each message. Ids are a function of the text alone, so one that was
encoded before is looked up: to hash and compare it takes a small part of the time that it takes to encode it.

A run is looked up by the texts that it is put together from. They need not be joined for that, and those that come
again as the same objects, literals of the template and what was printed of a tool, are neither hashed nor compared.
"""

from __future__ import annotations

from typing import Final

from katapi.runtime.tokenization.interface import Tokenizer

BYTES_OF_ID: Final = 8
"""How many bytes an id takes in an int64 array."""

_LONGEST = 1 << 18
"""Longer runs are documents, which seldom come again."""
_OVERHEAD = 64
"""What a short run, and each text of it, takes beside its characters, in characters."""


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
        self._new: dict[tuple[str, ...], bytes] = {}
        self._old: dict[tuple[str, ...], bytes] = {}

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def encode_bytes(self, texts: tuple[str, ...], first: bool) -> bytes:
        """What the tokenizer gives for the run that `texts` are together, in the bytes of an int64 array.

        What stands at the beginning of an input is not remembered. Raises what the tokenizer raises.
        """
        if first:
            return self.tokenizer.encode_bytes("".join(texts), True)
        ids = self._new.get(texts)
        return self._met(texts) if ids is None else ids

    def _met(self, texts: tuple[str, ...]) -> bytes:
        """The ids of a run, which is in the new half from now on, unless it is too long."""
        run = "".join(texts)
        ids = self._old.get(texts)
        if ids is None:
            ids = self.tokenizer.encode_bytes(run, False)
        if len(run) > _LONGEST:
            return ids
        for text in texts:
            if type(text) is not str:  # a text of parts, of which the characters are enough
                texts = (run,)
                break
        taken = len(run) + _OVERHEAD * (1 + len(texts))
        size = self._size + taken
        if size > self._most:
            self._old, self._new, size = self._new, {}, taken
        self._new[texts] = ids
        self._size = size
        return ids
