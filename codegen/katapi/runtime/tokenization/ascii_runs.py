"""Normalizing what is ASCII at the speed of `str.translate`, and only what is near other characters in full."""

from __future__ import annotations

import re
from functools import cached_property

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.tokenization.stages import Normalizer


class AsciiRuns:
    """The normalizer `whole`, under which two characters of ASCII that are neighbours do not depend on each other.

    So a text can be cut between any two of them, and in a part that is all ASCII each character becomes what it becomes
    by itself. A carriage return counts as a character beyond ASCII: with a line feed it may be one.
    """

    def __init__(self, whole: Normalizer) -> None:
        self._whole = whole
        self._of_region = Memo(whole.normalize)

    def normalize(self, text: str) -> str:
        """The text that `whole` gives."""
        table = self._table
        if text.isascii() and "\r" not in text:
            return text.translate(table)
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
        """What each character of ASCII becomes, as `str.translate` is fastest with it."""
        return {code: self._whole.normalize(chr(code)) or None for code in range(0x80)}


_BEYOND = re.compile(r"[^\x00-\x0c\x0e-\x7f]+")


def _regions(text: str) -> list[tuple[int, int]]:
    """Where characters beyond ASCII stand, each region with the character before and the one behind it."""
    regions: list[tuple[int, int]] = []
    for match in _BEYOND.finditer(text):
        start, end = match.span()
        if regions and start <= regions[-1][1]:  # one character between them, which belongs to both
            start, _ = regions.pop()
        else:
            start = max(0, start - 1)
        regions.append((start, min(len(text), end + 1)))
    return regions
