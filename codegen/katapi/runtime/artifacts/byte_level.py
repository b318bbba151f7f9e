"""Turns a vocabulary that is written in GPT-2's byte alphabet into one over bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.byte_alphabet import to_bytes
from katapi.runtime.tokenization.merges import MergeRules


def merged_bytes(vocabulary: Mapping[str, int], merges: Iterable[tuple[str, str]], rules: MergeRules) -> c.MergedBytes:
    """The model over bytes; every part of a merge is in `vocabulary`.

    A token with a character that is no letter of the alphabet is a stray, and a merge of one can never happen.
    """
    tokens = {text: to_bytes(text) for text in vocabulary}
    spelled = {text: token for text, token in tokens.items() if token is not None}
    strays = {vocabulary[text]: text for text, token in tokens.items() if token is None}
    if strays:
        merges = [pair for pair in merges if pair[0] in spelled and pair[1] in spelled]
    return c.MergedBytes(
        vocabulary=dict(zip(spelled.values(), map(vocabulary.__getitem__, spelled), strict=True)),
        strays=strays,
        merges=[(spelled[left], spelled[right]) for left, right in merges],
        rules=rules,
    )
