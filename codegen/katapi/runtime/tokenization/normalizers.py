"""The normalizers: text is left as it is, or brought into Unicode normalization form C."""

from __future__ import annotations

import re
from functools import lru_cache

from katapi.runtime.tokenization.aligned import AlignedText, Edit
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.unicode.codepoints import Planes
from katapi.runtime.unicode.normalization import NormalizationTable


class Unchanged:
    """Leaves text as it is."""

    def normalize(self, text: str) -> str:
        """`text` itself."""
        return text

    def align(self, text: AlignedText) -> AlignedText:
        """`text` itself."""
        return text


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

    def align(self, text: AlignedText) -> AlignedText:
        """The same; characters of a cluster that stay the same at its beginning and end keep their own source."""
        edits: list[Edit] = []
        for match in self._cluster(Planes.of(text.text)).finditer(text.text):
            cluster = match[0]
            normalized = self._clusters[cluster]
            if normalized != cluster:
                front, back = _common_ends(cluster, normalized)
                edits.append((match.start() + front, match.end() - back, normalized[front : len(normalized) - back]))
        return text.replaced(edits)


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
