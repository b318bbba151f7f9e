"""The normalizers: text is left as it is, or brought into Unicode normalization form C."""

from __future__ import annotations

import re
from functools import lru_cache

from katapi.runtime.tokenization.alignment import Alignment
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.unicode.codepoints import Planes
from katapi.runtime.unicode.normalization import NormalizationTable


class Unchanged:
    """Leaves text as it is."""

    def normalize(self, text: str) -> str:
        """`text` itself."""
        return text

    def align(self, text: str) -> Alignment:
        """No part changes."""
        return Alignment.of([])


class Nfc:
    """Unicode normalization form C (Unicode Standard Annex #15), over the data of one pinned Unicode version.

    Text without an unstable character is returned after one scan. In other text only the unstable characters and the
    one character before them are worked on, a cluster at a time.
    """

    def __init__(self, table: NormalizationTable) -> None:
        self._table = table
        self._clusters = Memo(table.nfc)
        self._unstable = lru_cache(lambda planes: re.compile(f"[{table.unstable.within(planes)}]"))
        self._cluster = lru_cache(lambda planes: re.compile(f"(?s:.)?[{table.unstable.within(planes)}]+"))

    def normalize(self, text: str) -> str:
        """`text` in form C; `text` itself where it is already."""
        if text.isascii():
            return text
        planes = Planes.of(text)
        if self._unstable(planes).search(text) is None:
            return text
        return self._cluster(planes).sub(lambda cluster: self._clusters[cluster[0]], text)

    def align(self, text: str) -> Alignment:
        """The clusters that change, each without the characters that stay the same at its beginning and end."""
        parts: list[tuple[tuple[int, int], tuple[int, int]]] = []
        source_end = normalized_end = 0  # bytes up to the end of the last changed part
        position = 0  # characters of `text` up to there
        for match in self._cluster(Planes.of(text)).finditer(text):
            cluster = match[0]
            normalized = self._clusters[cluster]
            if normalized == cluster:
                continue
            front, back = _common_ends(cluster, normalized)
            unchanged = _byte_length(text[position : match.start() + front])
            old = _byte_length(cluster[front : len(cluster) - back])
            new = _byte_length(normalized[front : len(normalized) - back])
            source, target = source_end + unchanged, normalized_end + unchanged
            source_end, normalized_end = source + old, target + new
            position = match.end() - back
            parts.append(((source, source_end), (target, normalized_end)))
        return Alignment.of(parts)


def _common_ends(before: str, after: str) -> tuple[int, int]:
    """How many characters two different strings have in common at the front, and at the back of what is left."""
    limit = min(len(before), len(after))
    front = 0
    while front < limit and before[front] == after[front]:
        front += 1
    back = 0
    while back < limit - front and before[-1 - back] == after[-1 - back]:
        back += 1
    return front, back


def _byte_length(text: str) -> int:
    return len(text.encode())
