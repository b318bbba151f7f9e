"""Writes the compact table of a vocabulary, in the form that `katapi.runtime.tokenization.table` documents."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import (
    CHECKSUM,
    COUNTS,
    ID_TYPE,
    LENGTH_TYPES,
    MARK,
    SCORE_TYPES,
    START,
    checksum,
)
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


def table_bytes(data: VocabularyData, *, artifact: str) -> bytes:
    """The table of `data`; `artifact` is the hexadecimal SHA-256 of the file that it was read from.

    The same data give the same bytes. Raises `ArtifactError` A104 where two ids that text can yield have the same
    token.
    """
    _check_distinct(data)
    lengths = np.diff(data.tokens.bounds)
    longest = int(lengths.max(initial=0))
    length_size = next(size for size in LENGTH_TYPES if longest < 1 << 8 * size)
    score_size = 0 if not len(data.scores) else 4 if _are_binary32(data.scores) else 8
    gaps, hidden = sorted(data.tokens.gaps), sorted(token for token in data.unreachable if token < len(data.tokens))
    added = b"" if data.added is None else json.dumps([astuple(token) for token in data.added]).encode()
    counts = COUNTS.pack(
        len(data.tokens),
        length_size,
        score_size,
        len(gaps),
        len(hidden),
        len(data.merges),
        len(data.charsmap),
        len(added),
        data.lowest,
    )
    parts = [
        lengths.astype(LENGTH_TYPES[length_size]),
        np.array([*gaps, *hidden], dtype=ID_TYPE),
        data.merges.T.astype(ID_TYPE, order="C"),
        data.scores.astype(SCORE_TYPES.get(score_size, "<f8")),
    ]
    body = b"".join([counts, *(part.tobytes() for part in parts), data.tokens.joined, data.charsmap, added])
    start = START.pack(MARK, bytes.fromhex(artifact))
    return start + checksum(start + bytes(CHECKSUM.size) + body) + body


def _are_binary32(scores: NDArray[np.float64]) -> bool:
    """Whether binary32 holds every score exactly."""
    with np.errstate(over="ignore"):
        return bool((scores.astype(np.float32) == scores).all())


def _check_distinct(data: VocabularyData) -> None:
    """Refuses two ids of one token: only one of them could be told from its text."""
    if len(data.ranks) == int(data.is_reachable().sum()):
        return
    for token in np.flatnonzero(data.is_reachable()).tolist():
        other = data.ranks[data.tokens[token]]
        if other != token:
            raise ArtifactError(
                f"the same token as id {other}: {data.tokens[token]!r}", code="A104", where=f"id {token}"
            )
