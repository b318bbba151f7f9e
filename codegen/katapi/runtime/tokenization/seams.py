"""Places of a text that no merge can cross: what stands on either side merges by itself, and can be remembered."""

from __future__ import annotations

import re
from collections.abc import Collection
from operator import add

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.tokens import Texts

_WORD_START = "▁"  # how SentencePiece writes a space
_LONG = 32  # characters; longer words are also cut inside


class Seams:
    """Cuts text where two characters meet that meet in no merge.

    `meeting` holds, for every merge, the last character of its left part and the first character of its right part.
    While every symbol spells the characters that it covers, a merge across a place joins a symbol that ends in the
    character before it with one that begins with the character behind it. So where these two are not in `meeting`,
    nothing crosses, and since merges on one side do not depend on the other, each side can be merged alone.
    """

    def __init__(self, meeting: Collection[str]) -> None:
        self._meeting = meeting
        # A word reaches to the next space that no merge joins to what stands before it.
        joined = "".join(re.escape(pair[0]) for pair in sorted(meeting) if pair[1:] == _WORD_START)
        inner = f"(?:(?<=[{joined}]){_WORD_START}[^{_WORD_START}]*)*" if joined else ""
        self._words = re.compile(f"(?s:{_WORD_START}?[^{_WORD_START}]*{inner})")

    def cut(self, text: str) -> list[str]:
        """The parts of `text` in order; none is empty."""
        parts: list[str] = []
        for word in self._words.findall(text):
            if len(word) <= _LONG:
                parts.append(word)
                continue
            start = 0
            for end, pair in enumerate(map(add, word, word[1:]), 1):
                if pair not in self._meeting:
                    parts.append(word[start:end])
                    start = end
            parts.append(word[start:])
        parts.pop()  # the pattern also matches the empty text at the end
        return parts


def meeting(texts: Texts, merges: NDArray[np.int32]) -> set[str]:
    """The pairs of characters that meet in merges (shape [n, 3]): of a left part the last, of a right part the first.

    No part is empty.
    """
    codes, bounds = texts.codes(), texts.bounds
    return distinct_pairs(codes[bounds[merges[:, 0] + 1] - 1], codes[bounds[merges[:, 1]]])


def distinct_pairs(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> set[str]:
    """The pairs of code points that stand at the same place, each once, as texts of two characters."""
    pairs = np.unique(left.astype(np.uint64) << np.uint64(32) | right)
    joined = (
        np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], axis=1)
        .astype("<u4")
        .tobytes()
        .decode("utf-32-le")
    )
    return set(map(add, joined[::2], joined[1::2]))
