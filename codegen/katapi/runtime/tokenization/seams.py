"""Places of a text that no merge can cross: what stands on either side merges by itself, and can be remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from operator import add

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.tokenization.tokens import AT_ONCE, Texts

_WORD_START = "▁"  # how SentencePiece writes a space
_LONG = 32  # characters; longer words are also cut inside
_BITS = 21  # of a code point


class Seams:
    """Cuts text where two characters meet that meet in no merge.

    `pairs`, int64 of shape [n], holds for every merge the last character of its left part and the first character of
    its right part, as `character_pairs` gives them. While every symbol spells the characters that it covers, a merge
    across a place joins a symbol that ends in the character before it with one that begins with the character behind
    it. So where these two are not among the pairs, nothing crosses, and since merges on one side do not depend on the
    other, each side can be merged alone.
    """

    def __init__(self, pairs: NDArray[np.int64]) -> None:
        self._pairs = pairs
        # A word reaches to the next space that no merge joins to what stands before it.
        before = pairs[pairs & (1 << _BITS) - 1 == ord(_WORD_START)] >> _BITS
        joined = "".join(re.escape(chr(code)) for code in before.tolist())
        inner = f"(?:(?<=[{joined}]){_WORD_START}[^{_WORD_START}]*)*" if joined else ""
        self._words = re.compile(f"(?s:{_WORD_START}?[^{_WORD_START}]*{inner})")

    def cut(self, text: str) -> list[str]:
        """The parts of `text` in order; none is empty."""
        parts: list[str] = []
        for word in self._words.findall(text):
            if len(word) <= _LONG:
                parts.append(word)
                continue
            start, meeting = 0, self._meeting
            for end, pair in enumerate(map(add, word, word[1:]), 1):
                if pair not in meeting:
                    parts.append(word[start:end])
                    start = end
            parts.append(word[start:])
        parts.pop()  # the pattern also matches the empty text at the end
        return parts

    def meet(self, before: str, behind: str) -> bool:
        """Whether two characters meet in a merge."""
        pair = ord(before) << _BITS | ord(behind)
        at = int(np.searchsorted(self._pairs, pair))
        return at < len(self._pairs) and int(self._pairs[at]) == pair

    @cached_property
    def _meeting(self) -> set[str]:
        """The pairs as texts; only long words need them."""
        left, right = self._pairs >> _BITS, self._pairs & (1 << _BITS) - 1
        return set(map(add, _characters(left), _characters(right)))


def character_pairs(left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.int64]:
    """The pairs of code points that stand at the same place, each once, in ascending order.

    `left` and `right` are int32 of shape [n]; the pairs are int64 of shape [m], the left code point times 2^21 and the
    right one added.
    """
    pairs = left.astype(np.int64)
    pairs <<= _BITS
    pairs |= right
    return _distinct(pairs)


def meeting_in_merges(texts: Texts, merges: NDArray[np.int32]) -> NDArray[np.int64]:
    """The pairs of characters that meet in merges of tokens none of which is empty, as `character_pairs` gives them.

    `merges` are int32 of shape [n, 3]; the pairs are int64 of shape [m].
    """
    firsts, lasts = texts.codes_at(texts.bounds[:-1])[0], texts.codes_before(texts.bounds[1:])
    return character_pairs(lasts[merges[:, 0]], firsts[merges[:, 1]])


def meeting_in_tokens(texts: Texts, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The pairs of characters that stand side by side in the chosen tokens, as `character_pairs` gives them.

    `chosen` is bool of shape [ids]; the pairs are int64 of shape [m].
    """
    ids, found = np.flatnonzero(chosen), [np.zeros(0, dtype=np.int64)]
    for some in (ids[first : first + AT_ONCE] for first in range(0, len(ids), AT_ONCE)):
        left, places = texts.codes_at(texts.bounds[some])
        ends = texts.bounds[some + 1]
        while (longer := places < ends).any():  # one more character of the tokens that have one
            left, places, ends = left[longer], places[longer], ends[longer]
            right, places = texts.codes_at(places)
            found.append(character_pairs(left, right))
            left = right
    return _distinct(np.concatenate(found))


def followers(pairs: NDArray[np.int64], character: str) -> str:
    """The characters on the right of one character in some pairs.

    `pairs` are int64 of shape [m], as `character_pairs` gives them.
    """
    return "".join(map(chr, (pairs[pairs >> _BITS == ord(character)] & (1 << _BITS) - 1).tolist()))


def _distinct(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each of the pairs once, in ascending order; sorts `pairs` itself."""
    pairs.sort()
    first = np.ones(len(pairs), dtype=np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
    return pairs[first]


def _characters(codes: NDArray[np.int64]) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le")


def ranges_in_parts(
    parts: Iterable[str], ranges_of: Callable[[str], list[tuple[int, int, int]]]
) -> list[tuple[int, int, int]]:
    """The tokens of the parts of a piece, each with the range of characters of the piece that it takes."""
    found: list[tuple[int, int, int]] = []
    start = 0
    for part in parts:
        found += [(token, start + first, start + end) for token, first, end in ranges_of(part)]
        start += len(part)
    return found
