"""What an artifact says of a vocabulary, without the rules by which text is segmented (`configuration.py`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.tokenization.tokens import Tokens

if TYPE_CHECKING:
    from katapi.runtime.tokenization.configuration import AddedToken


def merge_array(merges: Iterable[tuple[int, int, int]] = ()) -> NDArray[np.int32]:
    """Merges as `VocabularyData` keeps them: int32 of shape [n, 3]."""
    return np.array([*merges], dtype=np.int32).reshape(-1, 3)


def score_array(scores: Iterable[float] = ()) -> NDArray[np.float64]:
    """Scores as `VocabularyData` keeps them: float64 of shape [n]."""
    return np.array([*scores], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class VocabularyData:
    """The tokens of a vocabulary, and what its segmentation needs to know of them.

    `tokens` are bytes where text is segmented by bytes, and otherwise UTF-8.
    """

    tokens: Tokens
    merges: NDArray[np.int32] = field(default_factory=merge_array)
    """The ids of a left and a right part and of the token that they become, the first to merge in front.

    An array of int32 of shape [n, 3]. A pair that stands there twice counts where it stands last.
    """
    scores: NDArray[np.float64] = field(default_factory=score_array)
    """The score of each id: float64 of shape [ids], or [0] where the algorithm knows none."""
    lowest: float = 0.0
    """The lowest score that counts for how unknown characters score."""
    unreachable: frozenset[int] = frozenset()
    """Ids whose text is never made. Those of single bytes may still stand for what is no token."""
    charsmap: bytes = b""
    """SentencePiece's precompiled character map, if the artifact has one."""
    added: tuple[AddedToken, ...] | None = None
    """The tokens that the artifact lists beside `tokens`, some of them there as well; None where it lists none.

    Reading a table leaves them out, since no tokenizer needs them: `table.added_of`.
    """
    controls: frozenset[int] = frozenset()
    """Ids that no text yields in any way."""

    @classmethod
    def of_texts(cls, texts: Mapping[int, str]) -> VocabularyData:
        """From tokens that are written out, by id."""
        return cls(Tokens.by_id({token: text.encode() for token, text in texts.items()}))

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        """The id of each token that text can yield, by its bytes; of two alike the later counts."""
        reachable = np.flatnonzero(self.is_reachable()).tolist()
        tokens = self.tokens if len(reachable) == len(self.tokens) else [self.tokens[token] for token in reachable]
        return dict(zip(tokens, reachable, strict=True))

    @cached_property
    def byte_tokens(self) -> list[int | None]:
        """The id of the token "<0x00>" to "<0xFF>" for each byte, whether its own text can be made or not.

        None where there is no such token, or only a control token; of two the later.
        """
        tokens, starts = self.tokens, self.tokens.bounds[:-1]
        candidates = np.flatnonzero(np.diff(tokens.bounds) == len("<0x00>"))
        letters = np.frombuffer(tokens.joined, dtype=np.uint8)
        candidates = candidates[letters[starts[candidates]] == ord("<")]
        ids = {tokens[token]: token for token in candidates.tolist() if token not in self.controls}
        return [ids.get(b"<0x%02X>" % byte) for byte in range(256)]

    def missing_bytes(self) -> list[int]:
        """The bytes that are no tokens which text can yield, by themselves."""
        starts = self.tokens.bounds[:-1][(np.diff(self.tokens.bounds) == 1) & self.is_reachable()]
        found = {*np.frombuffer(self.tokens.joined, dtype=np.uint8)[starts].tolist()}
        return [byte for byte in range(256) if byte not in found]

    def hiding(self, ids: Collection[int]) -> VocabularyData:
        """The same with more ids that no text yields, such as control tokens."""
        return replace(self, unreachable=self.unreachable.union(ids), controls=self.controls.union(ids))

    def is_reachable(self) -> NDArray[np.bool_]:
        """Of each id whether text can yield it: bool of shape [ids]."""
        reachable = np.ones(len(self.tokens), dtype=np.bool_)
        reachable[[token for token in (*self.tokens.gaps, *self.unreachable) if 0 <= token < len(self.tokens)]] = False
        return reachable
