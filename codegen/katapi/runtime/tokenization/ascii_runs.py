"""Normalizing what is ASCII at the speed of `str.translate`, and only what is near other characters in full."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from katapi.runtime.native.local import local_rewriting
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.unicode.codepoints import Tie


class AsciiRuns:
    """The normalizer `whole`, under which two characters of ASCII that are neighbours do not depend on each other.

    So a text can be cut between any two of them, and in a part that is all ASCII each character becomes what it becomes
    by itself. A carriage return counts as a character beyond ASCII: with a line feed it may be one.
    """

    def __init__(
        self,
        whole: Normalizer,
        ties: Callable[[], tuple[Tie, ...]] = tuple,
        is_plain: Callable[[int, int], bool] = lambda first, last: False,
    ) -> None:
        """`ties` and `is_plain` as `LocalRewriting` takes them."""
        self._whole = whole
        self._of_region = Memo(whole.normalize)
        self._rewriting = lru_cache(lambda: local_rewriting(whole.normalize, ties, is_plain))

    def normalize(self, text: str) -> str:
        """The text that `whole` gives."""
        table = self._table
        if text.isascii() and "\r" not in text:
            return text.translate(table) if table else text
        rewriting = self._rewriting()
        return self._by_regions(text) if rewriting is None else rewriting(text)

    def _by_regions(self, text: str) -> str:
        table = self._table
        parts: list[str] = []
        done = 0
        for start, end in _regions(text):
            parts += (text[done:start].translate(table), self._of_region[text[start:end]])
            done = end
        return "".join((*parts, text[done:].translate(table)))

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        return self._whole.align(text)

    @cached_property
    def _table(self) -> dict[int, str | None]:
        """What each character of ASCII becomes, as `str.translate` is fastest with it; empty where all of them stay."""
        table = {code: self._whole.normalize(chr(code)) or None for code in range(0x80)}
        return {} if all(new == chr(code) for code, new in table.items()) else table


_BEYOND = re.compile(r"[^\x00-\x0c\x0e-\x7f]+")
_LONG = 1024  # characters from which on numpy finds them faster


def _regions(text: str) -> list[tuple[int, int]]:
    """Where characters beyond ASCII stand, each region with the character before and the one behind it.

    Of two that one character lies between, it belongs to both, so they are one.
    """
    if len(text) < _LONG:
        regions: list[tuple[int, int]] = []
        for match in _BEYOND.finditer(text):
            start, end = match.span()
            first = regions.pop()[0] if regions and start <= regions[-1][1] else max(0, start - 1)
            regions.append((first, min(len(text), end + 1)))
        return regions
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    places = np.flatnonzero((codes > 0x7F) | (codes == 0x0D))
    if not len(places):
        return []
    gaps = np.flatnonzero(np.diff(places) > 2)
    starts = np.maximum(np.append(places[0], places[gaps + 1]) - 1, 0)
    ends = np.minimum(np.append(places[gaps], places[-1]) + 2, len(text))
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
