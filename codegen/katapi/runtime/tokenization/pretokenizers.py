"""The pre-tokenizers: text stays whole, is cut at a pattern, gets a mark in front, or several of these in turn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from katapi.runtime.patterns.stretches import Stretches
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.matching import Matcher
from katapi.runtime.tokenization.options import Behaviour, PrependScheme
from katapi.runtime.tokenization.stages import PreTokenizer, Stretching

Range = tuple[int, int]
"""Half-open, in characters (code points)."""


class Whole:
    """Leaves text in one piece."""

    positional = False
    """The place in the input does not count."""
    only_cuts = True
    """It cuts and leaves out, and does nothing else."""

    def split(self, text: str, first: bool) -> list[str]:
        """`text`, or nothing where it is empty."""
        return [text] if text else []

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same."""
        return [text] if len(text) else []


class Split:
    """Cuts text at the matches of a pattern, as "Split" in tokenizer.json; with `invert` at what lies between them.

    `behaviour` says what becomes of the matches: they go, are pieces themselves, join the piece before or behind them,
    or make one piece with the matches beside them.
    """

    positional = False
    """The place in the input does not count."""
    only_cuts = True
    """It cuts and leaves out, and does nothing else."""

    def __init__(self, matcher: Matcher, behaviour: Behaviour, *, invert: bool = False) -> None:
        self._matcher = matcher
        self._behaviour = behaviour
        self._invert = invert

    @property
    def stretches(self) -> Stretches | None:
        """What cuts a text into longer parts, the pieces of which are those of the text; None where it is not known."""
        isolated = self._behaviour is Behaviour.ISOLATED
        return self._matcher.stretches if isolated and isinstance(self._matcher, Stretching) else None

    def split(self, text: str, first: bool) -> list[str]:
        """The pieces in order."""
        if self._behaviour is Behaviour.ISOLATED:
            return self._matcher.split(text)
        return [text[start:end] for start, end in self._ranges(text)]

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same, with the source of each character."""
        return [text.part(start, end) for start, end in self._ranges(text.text)]

    def _ranges(self, text: str) -> list[Range]:
        return [(start, end) for start, end in self._cut(text) if start < end]

    def _cut(self, text: str) -> list[Range]:
        parts = self._parts(text)
        match self._behaviour:
            case Behaviour.REMOVED:
                return [(start, end) for start, end, matched in parts if not matched]
            case Behaviour.ISOLATED:
                return [(start, end) for start, end, _ in parts]
            case Behaviour.MERGED_WITH_PREVIOUS:
                return _joined_to_previous(parts)
            case Behaviour.MERGED_WITH_NEXT:
                backwards = ((-end, -start, matched) for start, end, matched in reversed(parts))
                return [(-end, -start) for start, end in reversed(_joined_to_previous(backwards))]
            case Behaviour.CONTIGUOUS:
                return _joined_to_their_like(parts)

    def _parts(self, text: str) -> list[tuple[int, int, bool]]:
        """The matches, some of which may be empty, and what lies between them; whether each counts as a match."""
        parts: list[tuple[int, int, bool]] = []
        matched = not self._invert
        position = 0
        for start, end in self._matcher.spans(text):
            if position < start:
                parts.append((position, start, not matched))
            parts.append((start, end, matched))
            position = end
        if position < len(text):
            parts.append((position, len(text), not matched))
        return parts


class PrefixSpace:
    """Puts a space in front of a text that begins with none (`add_prefix_space` of "ByteLevel")."""

    positional = False
    """The place in the input does not count."""
    only_cuts = False
    """It puts something in."""

    def split(self, text: str, first: bool) -> list[str]:
        """The text in one piece."""
        return [text if text[0] == " " else " " + text] if text else []

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same, with the source of each character."""
        if not len(text):
            return []
        return [text if text.text[0] == " " else text.prefixed(" ")]


class Metaspace:
    """Writes spaces as `replacement`, which is one character, as "Metaspace" in tokenizer.json.

    By `scheme` one is put in front of every text that does not begin with one, or only of the text at the beginning of
    the input. With `split` a piece begins at each of them.
    """

    only_cuts = False
    """It writes spaces otherwise."""

    def __init__(self, replacement: str, scheme: PrependScheme, *, split: bool) -> None:
        self.positional = scheme is PrependScheme.FIRST
        """Whether the place in the input counts: with `FIRST` alone."""
        self._replacement = replacement
        self._scheme = scheme
        mark = re.escape(replacement)
        self._piece = re.compile(f"{mark}[^{mark}]*|[^{mark}]+" if split else "(?s:.+)")

    def split(self, text: str, first: bool) -> list[str]:
        """The pieces in order."""
        text = text.replace(" ", self._replacement)
        if self._prepends(text, first):
            text = self._replacement + text
        return self._piece.findall(text)

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same, with the source of each character."""
        text = AlignedText(text.text.replace(" ", self._replacement), text.starts, text.ends)
        if self._prepends(text.text, first):
            text = text.prefixed(self._replacement)
        return [text.part(*match.span()) for match in self._piece.finditer(text.text)]

    def _prepends(self, text: str, first: bool) -> bool:
        if not text or text.startswith(self._replacement):
            return False
        return self._scheme is PrependScheme.ALWAYS or (first and self._scheme is PrependScheme.FIRST)


class Chained:
    """Cuts text by the first pre-tokenizer, each piece by the second, and so on."""

    def __init__(self, *pretokenizers: PreTokenizer) -> None:
        self._pretokenizers = pretokenizers
        self.positional = any(pretokenizer.positional for pretokenizer in pretokenizers)
        """Whether it counts for one of them."""
        self.only_cuts = all(pretokenizer.only_cuts for pretokenizer in pretokenizers)
        """Whether all of them do nothing else."""

    def split(self, text: str, first: bool) -> list[str]:
        """The pieces in order."""
        if first and self.positional:
            return [piece.text for piece in self.split_aligned(AlignedText.of(text), first)]
        pieces = [text] if text else []
        for pretokenizer in self._pretokenizers:
            pieces = list(chain.from_iterable(pretokenizer.split(piece, False) for piece in pieces))
        return pieces

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same; of a text at the beginning of the input, only a piece from the very first byte on is there too."""
        pieces = [text] if len(text) else []
        for index, pretokenizer in enumerate(self._pretokenizers):
            pieces = [
                part
                for piece in pieces
                for part in pretokenizer.split_aligned(piece, first and (index == 0 or piece.starts[0] == 0))
            ]
        return pieces


def _joined_to_previous(parts: Iterable[tuple[int, int, bool]]) -> list[Range]:
    """Each match as one with the part before it, unless that is a match as well."""
    joined: list[Range] = []
    behind_match = False
    for start, end, matched in parts:
        if joined and matched and not behind_match:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        behind_match = matched
    return joined


def _joined_to_their_like(parts: Iterable[tuple[int, int, bool]]) -> list[Range]:
    """Matches that touch as one, and what lies between them as one."""
    joined: list[Range] = []
    before: bool | None = None
    for start, end, matched in parts:
        if matched is before:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        before = matched
    return joined
