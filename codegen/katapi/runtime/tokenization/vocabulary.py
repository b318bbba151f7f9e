"""The bytes of every id of a model, control tokens included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from katapi.runtime.errors import TokenizerError


class Vocabulary:
    """What each id stands for when ids are turned back into bytes.

    `table` holds the tokens with ids from 0 on, `texts` further text tokens by id, `control` the spelling of each
    control token. Raises `ValueError` where two of them claim the same id.
    """

    def __init__(
        self, *, control: Mapping[int, str], table: Sequence[bytes] = (), texts: Mapping[int, str] | None = None
    ) -> None:
        texts = texts or {}
        twice = sorted({*texts} & {*control} | {token for token in (*texts, *control) if 0 <= token < len(table)})
        if twice:
            raise ValueError(f"two tokens have the id {twice[0]}")
        self._table = table
        self._spellings = {token: text.encode() for token, text in (*texts.items(), *control.items())}
        self.size = max([len(table), *(token + 1 for token in self._spellings)])
        """The number of ids from 0 to the highest."""

    @classmethod
    def of(cls, spellings: Mapping[int, bytes]) -> Vocabulary:
        """From the bytes of each id; ids may be missing."""
        vocabulary = cls(control={})
        vocabulary._spellings = dict(spellings)
        vocabulary.size = max(spellings, default=-1) + 1
        return vocabulary

    def bytes_of(self, token: int) -> bytes:
        """The bytes of one token. Raises `TokenizerError` where no token has this id."""
        if 0 <= token < len(self._table):
            return self._table[token]
        try:
            return self._spellings[token]
        except KeyError:
            raise TokenizerError(
                f"no token has the id {token}",
                code="V102",
                help=f"the ids of this vocabulary lie between 0 and {self.size - 1}",
            ) from None
