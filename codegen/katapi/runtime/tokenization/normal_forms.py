"""The normalizers that bring text into a Unicode normalization form, over the data of one pinned Unicode version.

The forms are those of Unicode Standard Annex #15.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from katapi.runtime.native.local import local_rewriting
from katapi.runtime.tokenization.aligned import AlignedText, Edit
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.unicode.codepoints import CodePoints, Planes
from katapi.runtime.unicode.normalization import CompatibilityTable, NormalizationTable


class _NormalForm:
    """Normalizes a cluster at a time by `cluster_form`.

    A cluster is a character that may change and those behind it that may join it; where `composing`, also one that does
    not change by itself with those that may join it. Text without an unstable character is returned after one scan.
    """

    def __init__(
        self,
        cluster_form: Callable[[str], str],
        unstable: Callable[[], CodePoints],
        joining: Callable[[], CodePoints],
        *,
        composing: bool,
    ) -> None:
        def cluster(planes: Planes) -> re.Pattern[str]:
            before = "(?s:.)?" if composing else ""
            joined = f"[{joining().within(planes)}]"
            return re.compile(f"{before}{joined}+|[{unstable().within(planes)}]{joined}*")

        self._clusters = Memo(cluster_form)
        self._rewriting = lru_cache(
            lambda: local_rewriting(
                self._by_clusters,
                lambda: ((None, joining()),),
                lambda first, last: not unstable().between(first, last),
            )
        )
        self._unstable = lru_cache(lambda planes: re.compile(f"[{unstable().within(planes)}]"))
        self._cluster = lru_cache(cluster)

    def normalize(self, text: str) -> str:
        """`text` in the form; `text` itself where it is already."""
        if text.isascii():
            return text
        rewriting = self._rewriting()
        return self._by_clusters(text) if rewriting is None else rewriting(text)

    def _by_clusters(self, text: str) -> str:
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


class Nfc(_NormalForm):
    """Canonical composition."""

    def __init__(self, table: NormalizationTable) -> None:
        super().__init__(table.nfc, lambda: table.unstable, lambda: table.joining, composing=True)


class Nfd(_NormalForm):
    """Canonical decomposition."""

    def __init__(self, table: NormalizationTable) -> None:
        super().__init__(table.nfd, lambda: table.movable, lambda: table.moving, composing=False)


class Nfkc(_NormalForm):
    """Compatibility composition."""

    def __init__(self, table: CompatibilityTable) -> None:
        super().__init__(table.nfkc, lambda: table.unstable, lambda: table.joining, composing=True)


class Nfkd(_NormalForm):
    """Compatibility decomposition."""

    def __init__(self, table: CompatibilityTable) -> None:
        super().__init__(table.nfkd, lambda: table.movable, lambda: table.moving, composing=False)


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
