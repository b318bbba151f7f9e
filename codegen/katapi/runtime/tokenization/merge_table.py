"""The table of merges by ids: which two tokens merge, in which order, and into what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from operator import itemgetter
from typing import TypeVar

from katapi.runtime.errors import ArtifactError

Token = TypeVar("Token", str, bytes)


@dataclass(frozen=True, eq=False)
class MergeTable:
    """`ranks` gives the place of a merge in the list by `left << shift | right`, `merged` the result by that place."""

    shift: int
    ranks: dict[int, int]
    merged: list[int]

    @classmethod
    def of(
        cls,
        ids: Mapping[Token, int],
        merges: Sequence[tuple[Token, Token]],
        joint: Callable[[Token, Token], Token],
    ) -> MergeTable:
        """The table of a list; `joint` gives the token that two parts make. Of two alike the later counts.

        Raises `ArtifactError` where a merge has a part or a result that is no token.
        """
        shift = max(ids.values(), default=0).bit_length()
        # A list has half a million merges: each step over all of them runs inside the interpreter.
        id_of: Callable[[Token], int] = ids.__getitem__
        try:
            lefts = map(id_of, map(itemgetter(0), merges))
            rights = map(id_of, map(itemgetter(1), merges))
            ranks = {left << shift | right: rank for rank, (left, right) in enumerate(zip(lefts, rights, strict=True))}
            return cls(shift, ranks, [*map(id_of, starmap(joint, merges))])
        except KeyError:
            raise _unknown_part(ids, merges, joint) from None


def _unknown_part(
    ids: Mapping[Token, int], merges: Sequence[tuple[Token, Token]], joint: Callable[[Token, Token], Token]
) -> ArtifactError:
    """The first merge with a part or a result that is no token."""
    rank, left, right = next(
        (rank, left, right)
        for rank, (left, right) in enumerate(merges)
        if left not in ids or right not in ids or joint(left, right) not in ids
    )
    result = joint(left, right)
    missing = next(token for token in (left, right, result) if token not in ids)
    return ArtifactError(
        f"merge {rank + 1} makes {result!r} of {left!r} and {right!r}, but {missing!r} is no token",
        code="A106",
        help="take the vocabulary and the merges from one file",
    )
