"""Vocabularies written out in tests, as the data that segmenters are built from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from katapi.runtime.tokenization.configuration import BytePairMerges
from katapi.runtime.tokenization.merges import Merges
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.unigram import Unigram
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array, score_array


def words(ids: Mapping[str, int]) -> VocabularyData:
    """Tokens that are texts."""
    return VocabularyData(Tokens.by_id({token: text.encode() for text, token in ids.items()}))


def scored(tokens: Sequence[tuple[str, float]], unreachable: Collection[int] = ()) -> VocabularyData:
    """Texts and scores by id."""
    scores = [score for _, score in tokens]
    return VocabularyData(
        Tokens.of(text.encode() for text, _ in tokens),
        scores=score_array(scores),
        lowest=min(scores, default=0.0),
        unreachable=frozenset(unreachable),
    )


def unigram(
    tokens: Sequence[tuple[str, float]],
    *,
    unknown: int | None,
    byte_fallback: bool = False,
    unreachable: Collection[int] = (),
) -> Unigram:
    """A segmenter whose sums are kept in binary64."""
    data = scored(tokens, unreachable)
    return Unigram(data, unknown=unknown, byte_fallback=byte_fallback, binary32=False)


def merged(ids: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], prefix: bytes = b"") -> VocabularyData:
    """Tokens by their bytes, and merges of which the right part loses `prefix`."""
    rows = [(ids[left], ids[right], ids[left + right.removeprefix(prefix)]) for left, right in merges]
    return VocabularyData(Tokens.by_id({token: data for data, token in ids.items()}), merge_array(rows))


def merges_of_characters(
    ids: Mapping[str, int], merges: Sequence[tuple[str, str]], rules: BytePairMerges, unknown: int | None = None
) -> Merges:
    """A segmenter over characters."""
    encoded = [(left.encode(), right.encode()) for left, right in merges]
    data = merged({text.encode(): token for text, token in ids.items()}, encoded, rules.continuing_prefix.encode())
    return Merges(data, rules, unknown=unknown)


def merges_of_bytes(
    ids: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], *, ignore_merges: bool = False
) -> Merges:
    """A segmenter over bytes."""
    return Merges(merged(ids, merges), BytePairMerges(over_bytes=True, ignore_merges=ignore_merges))
