"""Extended grapheme clusters over the data of one Unicode version, after Unicode Standard Annex #29."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from katapi.runtime.unicode.codepoints import CodePoints, Planes

_SYLLABLES_WITHOUT_TRAILING = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
_SYLLABLES = "\uac00-\ud7a3"
_JOINER = "\u200d"
_FLAG = "\U0001f1e6-\U0001f1ff"  # the regional indicators; two of them are one cluster


@dataclass(frozen=True, eq=False)
class GraphemeTable:
    """The values of Grapheme_Cluster_Break, Extended_Pictographic, and Indic_Conjunct_Break as sets of code points.

    `control` holds carriage return and line feed too; `linker`, `consonant` and `between` are the values Linker,
    Consonant and Extend of Indic_Conjunct_Break. Hangul syllables, regional indicators and the zero width joiner are
    the same in every version.
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
        return self._cluster.findall(text)

    def are_characters(self, text: str) -> bool:
        """Whether every character of `text` is a cluster by itself, as a quick look can tell; false says nothing."""
        return self._joining.search(text) is None

    @cached_property
    def _joining(self) -> re.Pattern[str]:
        """A character without which no two others are one cluster."""
        sets = (self.extend, self.spacing, self.prepend, self.leading, self.vowel, self.trailing)
        return re.compile("[" + "".join(map(_members, sets)) + _JOINER + _FLAG + "]|\r\n")

    @cached_property
    def _cluster(self) -> re.Pattern[str]:
        """One cluster, as table 1c of the annex composes it."""
        extend = f"[{_members(self.extend)}]"
        leading, vowel, trailing = (f"[{_members(part)}]" for part in (self.leading, self.vowel, self.trailing))
        picture = f"[{_members(self.pictographic)}]"
        between, linker = f"[{_members(self.between)}]", f"[{_members(self.linker)}]"
        consonant = f"[{_members(self.consonant)}]"
        hangul = (
            f"{leading}*(?:{vowel}+|[{_SYLLABLES_WITHOUT_TRAILING}]{vowel}*|[{_SYLLABLES}]){trailing}*"
            f"|{leading}+|{trailing}+"
        )
        core = (
            f"{hangul}|[{_FLAG}][{_FLAG}]"
            f"|{picture}(?:{extend}*{_JOINER}{picture})*"
            f"|{consonant}(?:{between}*{linker}(?:{between}|{linker})*{consonant})+"
            f"|[^{_members(self.control)}]"
        )
        behind = f"[{_members(self.extend)}{_members(self.spacing)}{_JOINER}]*"
        return re.compile(f"(?s:\r\n|[{_members(self.prepend)}]*(?:{core}){behind}|.)")


def _members(code_points: CodePoints) -> str:
    return code_points.within(Planes.ALL)
