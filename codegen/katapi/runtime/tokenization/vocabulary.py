"""The bytes of every id of a model, control tokens included."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.tokens import Tokens


class Vocabulary:
    """What each id stands for when ids are turned back into bytes.

    `table` holds the tokens of an artifact, `texts` further text tokens by id, `control` the spelling of each control
    token. Raises `ValueError` where two of them say different things of one id.
    """

    def __init__(
        self, *, control: Mapping[int, str], table: Tokens | None = None, texts: Mapping[int, str] | None = None
    ) -> None:
        self._table = Tokens.of([]) if table is None else table
        self._spellings: dict[int, bytes] = {}  # of ids beside the table, and of those in it that were met before
        for token, text in (*(texts or {}).items(), *control.items()):
            known = self._table[token] if self._table.has(token) else text.encode()
            if self._spellings.setdefault(token, known) != text.encode():
                raise ValueError(f"two tokens have the id {token}")
        self._count()

    @classmethod
    def of(cls, table: Tokens, spellings: Mapping[int, bytes]) -> Vocabulary:
        """The tokens of an artifact, but for the ids in `spellings`, which stand for the bytes given there."""
        vocabulary = cls(control={}, table=table)
        vocabulary._spellings = dict(spellings)
        vocabulary._count()
        return vocabulary

    def bytes_of(self, token: int) -> bytes:
        """The bytes of one token, which are kept. Raises `TokenizerError` V102 where no token has this id."""
        found = self._spellings.get(token)
        if found is None:
            found = self._spellings[token] = self.read(token)
        return found

    def read(self, token: int) -> bytes:
        """The same, for who keeps them: here they are not. Raises `TokenizerError` V102 as `bytes_of` does."""
        found = self._spellings.get(token)
        if found is not None:
            return found
        if not self._table.has(token):
            raise TokenizerError(
                f"no token has the id {token}",
                code="V102",
                help=f"the ids of this vocabulary lie between 0 and {self.size - 1}",
            )
        return self._table[token]

    def _count(self) -> None:
        self.size = max([len(self._table), *(token + 1 for token in self._spellings)])
        """The number of ids from 0 to the highest."""
