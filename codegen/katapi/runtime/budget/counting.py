"""How many tokens something printed has, where much of it was counted before.

A run of text is put together of the texts that were printed. One of the same texts was counted before. In another, a
text that was met before is cut where a text can always be cut (`Tokenizer.cuts`): what lies between its first and its
last such place is counted once, and only the seams, from the last place of one text to the first of the next, are new
when other texts meet.
"""

from __future__ import annotations

from collections.abc import Iterable

from katapi.runtime.known_runs import BYTES_OF_ID, KnownRuns
from katapi.runtime.printed import Printed, Stretch, without_space
from katapi.runtime.tokenization.interface import Tokenizer

_SHORT = 48  # characters; shorter texts are not worth cutting


class TokenCounter:
    """Counts for one tokenizer, and remembers the texts that it has seen as long as it lives.

    The ids of whole runs go into `known`, where there is one: what is counted is assembled soon.
    """

    def __init__(self, tokenizer: Tokenizer, known: KnownRuns | None = None) -> None:
        self._tokenizer = tokenizer
        self._known = known
        self._runs: dict[tuple[tuple[str, ...], bool, bool, bool], int] = {}
        self._met: set[str] = set()
        self._parted: dict[str, tuple[str, int, str] | None] = {}
        self._beginnings: dict[tuple[str, bool], int] = {}
        self._parts: dict[str, int] = {}
        self._stretches: dict[Stretch, int] = {}

    def count(self, printed: Iterable[Printed]) -> int:
        """As many ids as `assemble_ids` gives. Raises `TokenizerError` V101 and V107 as the tokenizer does."""
        total = 0
        texts: list[str] = []
        first, stripping = True, False
        for part in printed:
            stretch = part[1]
            if not isinstance(stretch, Stretch) or not stretch.holds_control:
                texts.append(part[0])
                continue
            texts.append(stretch.opening)
            total += self._run(texts, first, stripping, stretch.strips_before)
            inner = self._stretches.get(stretch)
            if inner is None:
                inner = self._stretches[stretch] = stretch.encoded(self._tokenizer).length
            total += inner
            texts = [stretch.closing]
            first, stripping = False, stretch.strips_behind
        return total + self._run(texts, first, stripping, False)

    def has_cut(self, text: str) -> bool:
        """Whether a text can be cut, whatever stands before and behind it."""
        return len(text) > _SHORT and self._parted_of(text) is not None

    def _run(self, texts: list[str], first: bool, stripped_before: bool, stripped_behind: bool) -> int:
        if not any(texts):
            return 0
        key = tuple(texts), first, stripped_before, stripped_behind
        known = self._runs.get(key)
        if known is None:
            known = self._runs[key] = self._new_run(texts, first, stripped_before, stripped_behind)
        return known

    def _new_run(self, texts: list[str], first: bool, stripped_before: bool, stripped_behind: bool) -> int:
        long = [text for text in texts if len(text) > _SHORT]
        if self._met.isdisjoint(long):
            self._met.update(long)
            if stripped_before or stripped_behind:
                texts = [without_space("".join(texts), before=stripped_before, behind=stripped_behind)]
            return self._whole(tuple([text for text in texts if text]), first)
        return self._put_together(texts, first, stripped_before, stripped_behind)

    def _whole(self, texts: tuple[str, ...], first: bool) -> int:
        if not texts:
            return 0
        if self._known is None:
            return self._tokenizer.count("".join(texts), first)
        return len(self._known.encode_bytes(texts, first)) // BYTES_OF_ID

    def _put_together(self, texts: list[str], first: bool, stripped_before: bool, stripped_behind: bool) -> int:
        total = 0
        begun = False  # whether what stands in `seam` begins behind a cut
        seam = ""
        for text in texts:
            parted = self._parted_of(text) if len(text) > _SHORT else None
            if parted is None:
                seam += text
                continue
            head, inner, tail = parted
            seam += head
            if begun:
                total += self._part(seam)
            else:
                total += self._beginning(without_space(seam, before=stripped_before, behind=False), first)
                begun = True
            total += inner
            seam = tail
        if begun:
            return total + self._part(without_space(seam, before=False, behind=stripped_behind))
        return self._beginning(without_space(seam, before=stripped_before, behind=stripped_behind), first)

    def _parted_of(self, text: str) -> tuple[str, int, str] | None:
        """A text in front of its first cut, the number of tokens up to its last, and what stands behind that."""
        if text not in self._parted:
            places = self._tokenizer.cuts(text)
            if places is None:
                self._parted[text] = None
            else:
                start, end = places
                inner = len(self._tokenizer.encode_part(text[start:end])) if start < end else 0
                self._parted[text] = text[:start], inner, text[end:]
        return self._parted[text]

    def _beginning(self, text: str, first: bool) -> int:
        if not text:
            return 0
        known = self._beginnings.get((text, first))
        if known is None:
            known = self._beginnings[text, first] = self._tokenizer.count(text, first)
        return known

    def _part(self, text: str) -> int:
        known = self._parts.get(text)
        if known is None:
            known = self._parts[text] = len(self._tokenizer.encode_part(text))
        return known
