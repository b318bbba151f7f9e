"""Vocabularies with merges, as tokenizer.json and GGUF write them: tokens and merges by ids, letters as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import add

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.byte_alphabet import to_bytes
from katapi.runtime.tokenization.configuration import AddedToken, BytePairMerges
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


def merge_data(
    vocabulary: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    rules: BytePairMerges,
    added: tuple[AddedToken, ...],
) -> VocabularyData:
    """The data of a model with merges; every part of a merge is in `vocabulary`.

    Over bytes, tokens are written in GPT-2's byte alphabet. One with a character that is no letter of it stays as it is
    written, and no text yields it. Raises `ArtifactError` A106 where the result of a merge is no token.
    """
    array = _by_id(vocabulary, merges, rules.continuing_prefix)
    if not rules.over_bytes:
        return VocabularyData(text_tokens(vocabulary), array, added=added)
    spelled = {token: to_bytes(text) for text, token in vocabulary.items()}
    strays = {token: text.encode() for text, token in vocabulary.items() if spelled[token] is None}
    tokens = {token: data for token, data in spelled.items() if data is not None} | strays
    return VocabularyData(Tokens.by_id(tokens), array, unreachable=frozenset(strays), added=added)


def text_tokens(vocabulary: Mapping[str, int]) -> Tokens:
    """The tokens of a vocabulary of texts."""
    return Tokens.by_id({token: text.encode() for text, token in vocabulary.items()})


def _by_id(ids: Mapping[str, int], merges: Sequence[tuple[str, str]], prefix: str) -> NDArray[np.int32]:
    """The merges as ids of left part, right part and result; a right part loses `prefix` when it merges.

    A merge whose right part is shorter than the prefix, or has other bytes in its place, loses as many bytes.
    """
    marked = len(prefix.encode())

    def joint(left: str, right: str) -> str:
        return left + right.encode()[marked:].decode(errors="replace")

    result_of: Callable[[str, str], str] = joint if prefix else add
    # A list has half a million merges: each step over all of them runs inside the interpreter.
    lefts, rights = ([*part] for part in zip(*merges, strict=True)) if merges else ([], [])
    try:
        columns = chain(
            map(ids.__getitem__, lefts),
            map(ids.__getitem__, rights),
            map(ids.__getitem__, map(result_of, lefts, rights)),
        )
        return np.fromiter(columns, dtype=np.int32, count=3 * len(merges)).reshape(3, -1).T
    except KeyError:
        raise _unknown_part(ids, merges, result_of) from None


def _unknown_part(
    ids: Mapping[str, int], merges: Sequence[tuple[str, str]], joint: Callable[[str, str], str]
) -> ArtifactError:
    """The first merge whose result is no token."""
    rank, result, left, right = next(
        (rank, joint(left, right), left, right)
        for rank, (left, right) in enumerate(merges)
        if joint(left, right) not in ids
    )
    return ArtifactError(
        f"merge {rank + 1} makes {result!r} of {left!r} and {right!r}, but {result!r} is no token",
        code="A106",
        help="take the vocabulary and the merges from one file",
    )
