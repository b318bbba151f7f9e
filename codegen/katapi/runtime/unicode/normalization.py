"""Canonical composition (NFC) over the data of one Unicode version, after Unicode Standard Annex #15.

Works in time n log n in the length of the longest run of combining marks, and linear in all else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from katapi.runtime.unicode.codepoints import CodePoints

# Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
_SYLLABLE, _LEADING, _VOWEL, _TRAILING = 0xAC00, 0x1100, 0x1161, 0x11A7
_LEADING_COUNT, _VOWEL_COUNT, _TRAILING_COUNT = 19, 21, 28
_SYLLABLE_COUNT = _LEADING_COUNT * _VOWEL_COUNT * _TRAILING_COUNT


@dataclass(frozen=True, eq=False)
class NormalizationTable:
    """The data of one version, in the compact form that `tools/unicode_tables.py` writes.

    `combining` lists ranges by canonical combining class (`300-314=230`), `composed` the characters that NFC composes
    and `decomposed` those that it takes apart (`C0=41+300`). A character outside `unstable` has combining class 0 and
    neither changes nor composes with what stands before it, so normalization never reaches back across it.
    """

    version: str
    combining: str
    composed: str
    decomposed: str
    unstable: CodePoints

    def nfc(self, text: str) -> str:
        """The canonical composition of `text`."""
        return "".join(self._compose(self._decompose(text)))

    def _decompose(self, text: str) -> list[str]:
        """Full canonical decomposition, in canonical order."""
        classes = self._classes
        characters: list[str] = []
        for character in text:
            characters += self._decomposition(character)
        ordered: list[str] = []
        marks: list[str] = []
        for character in characters:
            if character in classes:
                marks.append(character)
                continue
            if marks:
                ordered += sorted(marks, key=classes.__getitem__)
                marks.clear()
            ordered.append(character)
        return ordered + sorted(marks, key=classes.__getitem__)

    def _decomposition(self, character: str) -> str:
        index = ord(character) - _SYLLABLE
        if 0 <= index < _SYLLABLE_COUNT:
            leading, rest = divmod(index, _VOWEL_COUNT * _TRAILING_COUNT)
            vowel, trailing = divmod(rest, _TRAILING_COUNT)
            syllable = chr(_LEADING + leading) + chr(_VOWEL + vowel)
            return syllable + chr(_TRAILING + trailing) if trailing else syllable
        return self._decompositions.get(character, character)

    def _compose(self, characters: list[str]) -> list[str]:
        """Composes each starter with the marks that follow it and are not blocked from it."""
        composed: list[str] = []
        starter = -1  # where in `composed` the last starter stands
        last_class = 0  # the class of the last mark kept after it; -1 when there is none
        for character in characters:
            combining = self._classes.get(character, 0)
            if starter >= 0 and last_class < combining:
                composite = self._composite(composed[starter], character)
                if composite is not None:
                    composed[starter] = composite
                    continue
            if combining == 0:
                starter = len(composed)
            last_class = combining or -1
            composed.append(character)
        return composed

    def _composite(self, first: str, second: str) -> str | None:
        leading, vowel = ord(first) - _LEADING, ord(second) - _VOWEL
        if 0 <= leading < _LEADING_COUNT and 0 <= vowel < _VOWEL_COUNT:
            return chr(_SYLLABLE + (leading * _VOWEL_COUNT + vowel) * _TRAILING_COUNT)
        syllable, trailing = ord(first) - _SYLLABLE, ord(second) - _TRAILING
        if 0 <= syllable < _SYLLABLE_COUNT and syllable % _TRAILING_COUNT == 0 and 0 < trailing < _TRAILING_COUNT:
            return chr(ord(first) + trailing)
        return self._composites.get(first + second)

    @cached_property
    def _classes(self) -> dict[str, int]:
        """Canonical combining class of every character where it is not 0."""
        classes: dict[str, int] = {}
        for item in self.combining.split():
            members, _, value = item.partition("=")
            for first, last in CodePoints(members).ranges:
                classes |= dict.fromkeys(map(chr, range(first, last + 1)), int(value))
        return classes

    @cached_property
    def _composites(self) -> dict[str, str]:
        """Two characters → the character that they compose to."""
        return {parts: character for character, parts in _mappings(self.composed)}

    @cached_property
    def _decompositions(self) -> dict[str, str]:
        """Character → its full canonical decomposition, Hangul syllables left out."""
        single = dict(_mappings(self.composed + self.decomposed))

        def full(character: str) -> str:
            return "".join(map(full, single[character])) if character in single else character

        return {character: full(character) for character in single}


def _mappings(source: str) -> list[tuple[str, str]]:
    pairs = [item.partition("=") for item in source.split()]
    return [
        (chr(int(whole, 16)), "".join(chr(int(part, 16)) for part in parts.split("+"))) for whole, _, parts in pairs
    ]
