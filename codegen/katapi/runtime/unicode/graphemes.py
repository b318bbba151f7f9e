"""Extended grapheme clusters over the data of one Unicode version, after Unicode Standard Annex #29."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from katapi.runtime.dataclass import dataclass
from katapi.runtime.unicode.codepoints import CodePoints, Planes, Tie

_SYLLABLES_WITHOUT_TRAILING = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
_SYLLABLES = "\uac00-\ud7a3"
_JOINER = "\u200d"
_FLAG = "\U0001f1e6-\U0001f1ff"  # the regional indicators; two of them are one cluster


@dataclass(frozen=True, eq=False)
class GraphemeTable:
    """The values of Grapheme_Cluster_Break, Extended_Pictographic, and Indic_Conjunct_Break as sets of code points.

    Of Grapheme_Cluster_Break (`version` is that of the data): `control`, with carriage return and line feed, `extend`,
    `spacing` (SpacingMark), `prepend`, and the Hangul letters `leading` (L), `vowel` (V) and `trailing` (T).
    `pictographic` is Extended_Pictographic; `linker`, `consonant` and `between` are the values Linker, Consonant and
    Extend of Indic_Conjunct_Break. Hangul syllables, regional indicators and the zero width joiner are the same in
    every version.
    """

    version: str
    control: CodePoints
    extend: CodePoints
    spacing: CodePoints
    prepend: CodePoints
    leading: CodePoints
    vowel: CodePoints
    trailing: CodePoints
    pictographic: CodePoints
    linker: CodePoints
    consonant: CodePoints
    between: CodePoints

    def clusters(self, text: str) -> list[str]:
        """The clusters of `text`, in order. Time linear in its length."""
        return self._cluster[Planes.of(text)].findall(text)

    def are_characters(self, text: str) -> bool:
        """Whether every character of `text` is a cluster by itself, as a quick look can tell; false says nothing."""
        return "\r\n" not in text and (text.isascii() or self._joining[Planes.of(text)].search(text) is None)

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """Which characters may be in one cluster with the one before them, whatever else stands around them."""
        joiner, flags, syllables = CodePoints("200D"), CodePoints("1F1E6-1F1FF"), CodePoints("AC00-D7A3")
        return (
            (CodePoints("D"), CodePoints("A")),
            (self.leading, CodePoints.union(self.leading, syllables)),
            (None, CodePoints.union(self.extend, self.spacing, self.vowel, self.trailing, joiner)),
            (self.prepend, None),
            (CodePoints.union(self.between, self.linker, joiner), self.consonant),
            (joiner, self.pictographic),
            (flags, flags),
        )

    @cached_property
    def _joining(self) -> dict[Planes, re.Pattern[str]]:
        """A character without which no two others but carriage return and line feed are one cluster, by planes."""
        sets = (self.extend, self.spacing, self.prepend, self.leading, self.vowel, self.trailing)
        return _ForPlanes(lambda planes: f"[{_members(planes, *sets)}{_JOINER}{_FLAG}]")

    @cached_property
    def _cluster(self) -> dict[Planes, re.Pattern[str]]:
        """One cluster, by planes."""
        return _ForPlanes(self._cluster_within)

    def _cluster_within(self, planes: Planes) -> str:
        """One cluster, as table 1c of the annex composes it."""
        extend, between, linker, consonant, picture, leading, vowel, trailing = (
            f"[{_members(planes, members)}]"
            for members in (
                self.extend,
                self.between,
                self.linker,
                self.consonant,
                self.pictographic,
                self.leading,
                self.vowel,
                self.trailing,
            )
        )
        hangul = (
            f"{leading}*(?:{vowel}+|[{_SYLLABLES_WITHOUT_TRAILING}]{vowel}*|[{_SYLLABLES}]){trailing}*"
            f"|{leading}+|{trailing}+"
        )
        core = (
            f"{hangul}|[{_FLAG}][{_FLAG}]"
            f"|{picture}(?:{extend}*{_JOINER}{picture})*"
            f"|{consonant}(?:{between}*{linker}(?:{between}|{linker})*{consonant})+"
            f"|[^{_members(planes, self.control)}]"
        )
        behind = f"[{_members(planes, self.extend, self.spacing)}{_JOINER}]*"
        return f"(?s:\r\n|[{_members(planes, self.prepend)}]*(?:{core}){behind}|.)"


class _ForPlanes(dict[Planes, re.Pattern[str]]):
    """A pattern in the form for each range of planes, compiled when a text first needs it."""

    def __init__(self, source: Callable[[Planes], str]) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, planes: Planes) -> re.Pattern[str]:
        pattern = self[planes] = re.compile(self._source(planes))
        return pattern


def _members(planes: Planes, *sets: CodePoints) -> str:
    return "".join(part.within(planes) for part in sets)
