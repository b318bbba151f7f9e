"""What ids stand for, joined: compiled where that can be, or in pure Python."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cached_property
from typing import Final, cast

from katapi.runtime.compiled import why_pure
from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.ids import as_ids

Join = Callable[[list[int]], bytes]
"""The bytes of ids, joined. Raises what it likes where something is no id or no token has it."""

_COMPILED: Final = "katapi.runtime.native.joined_tokens"
_MOST_KEPT: Final = (
    1 << 19
)  # ids; there are vocabularies of a few tokens with a control token that has a far higher one


class Joining:
    """Joins what the ids of a vocabulary stand for. Safe to share between threads."""

    def __init__(self, size: int, bytes_of: Callable[[int], bytes], *, pure: bool = False) -> None:
        """`bytes_of` gives the bytes of an id and raises `TokenizerError` V102 where no token has it.

        All ids are below `size`. Where the compiled form can run, it does, unless the `pure` one is asked for.
        """
        self._size = min(size, _MOST_KEPT)
        self._bytes_of = bytes_of
        self._asked_pure = pure

    def join(self, ids: list[int]) -> bytes:
        """The bytes of all ids.

        Raises `TokenizerError` V102 where no token has an id, and `TypeError` for what is no integer.
        """
        try:
            return self._join(ids)
        except (TypeError, ValueError, OverflowError, IndexError, TokenizerError):
            pass  # one by one they tell what is wrong with an id, if anything is
        return b"".join(map(self._bytes_of, as_ids(ids)))

    @cached_property
    def _join(self) -> Join:
        if self._asked_pure or why_pure(_COMPILED) is not None:
            return PureJoin(self._size, self._bytes_of)
        from katapi.runtime.native.joined_tokens import JoinedTokens

        return JoinedTokens(self._size, self._bytes_of).join


class PureJoin:
    """Joins the bytes of tokens, each of which is kept once it was met."""

    def __init__(self, size: int, bytes_of: Callable[[int], bytes]) -> None:
        self._bytes_of = bytes_of
        self._met = cast("list[bytes]", [None] * size)  # None, which cannot be joined, until the id is met

    def __call__(self, ids: list[int]) -> bytes:
        """The bytes of all ids.

        The loop runs inside the interpreter, without a Python call for an id that was met before. Raises `TypeError`
        for what is no integer, `OverflowError` and `IndexError` for integers beyond those that are kept, and V102.
        """
        array("I", ids)  # so there is no negative integer, by which a list counts from its end
        met = self._met
        try:
            return b"".join(map(met.__getitem__, ids))
        except TypeError:
            for token in {*ids}:
                if not met[token]:
                    met[token] = self._bytes_of(token)
            return b"".join(map(met.__getitem__, ids))
