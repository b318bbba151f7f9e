"""The four normalization forms over the data of one Unicode version, after Unicode Standard Annex #15.

Works in time n log n in the length of the longest run of combining marks, and linear in all else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby

from katapi.runtime.dataclass import dataclass
from katapi.runtime.unicode.codepoints import CodePoints, ranges_of

# Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
_SYLLABLE, _LEADING, _VOWEL, _TRAILING = 0xAC00, 0x1100, 0x1161, 0x11A7
_LEADING_COUNT, _VOWEL_COUNT, _TRAILING_COUNT = 19, 21, 28
_SYLLABLE_COUNT = _LEADING_COUNT * _VOWEL_COUNT * _TRAILING_COUNT
_SYLLABLES = range(_SYLLABLE, _SYLLABLE + _SYLLABLE_COUNT)
_SYLLABLE_IN = re.compile(f"[{chr(_SYLLABLES[0])}-{chr(_SYLLABLES[-1])}]")
_SECOND_JAMO = (*range(_VOWEL, _VOWEL + _VOWEL_COUNT), *range(_TRAILING + 1, _TRAILING + _TRAILING_COUNT))


@dataclass(frozen=True, slots=True)
class Canonical:
    """What one version added to the data of a `NormalizationTable`.

    `combining`, `composed` and `decomposed` have the form that they have there, `unstable` that of `CodePoints`.
    """

    combining: str
    composed: str
    decomposed: str
    unstable: str


@dataclass(frozen=True, eq=False)
class NormalizationTable:
    """The data of one `version`, in the compact form that `tools/unicode_tables.py` writes.

    `combining` lists ranges by canonical combining class (`300-314=230`), `composed` the characters that NFC composes
    and `decomposed` those that it takes apart (`C0=41+300`). A character outside `unstable` has combining class 0 and
    neither changes nor composes with what stands before it, so normalization never reaches back across it.

    The sets of characters that the forms are worked out by: `unstable` and `joining` for `nfc`, `movable` and `moving`
    for `nfd`. The first of each pair are those that may change or move; the second those that may move past what stands
    before them or compose with it. So a text can be normalized in parts that begin where no such character stands.
    """

    version: str
    combining: str
    composed: str
    decomposed: str
    unstable: CodePoints

    def nfc(self, text: str) -> str:
        """The canonical composition of `text`."""
        return self.compose(self.decompose(text, self.decompositions))

    def nfd(self, text: str) -> str:
        """The canonical decomposition of `text`."""
        return "".join(self.decompose(text, self.decompositions))

    @cached_property
    def joining(self) -> CodePoints:
        """The characters that `nfc` may join to what stands before them."""
        return _beginning_with(self.backwards, self.decompositions)

    @cached_property
    def movable(self) -> CodePoints:
        """The characters that `nfd` takes apart or may move."""
        return CodePoints(ranges_of({*map(ord, self.decompositions), *map(ord, self.classes), *_SYLLABLES}))

    @cached_property
    def moving(self) -> CodePoints:
        """The characters that `nfd` may move past what stands before them."""
        return _beginning_with(self.classes, self.decompositions)

    @cached_property
    def backwards(self) -> frozenset[str]:
        """Combining marks and all other characters that compose with one before them."""
        seconds = {parts[-1] for parts in self._composites}
        return frozenset({*self.classes, *seconds, *map(chr, _SECOND_JAMO)})

    def decompose(self, text: str, decompositions: Mapping[str, str]) -> list[str]:
        """The full decomposition of each character, in canonical order."""
        classes = self.classes
        characters = [*text]
        if _SYLLABLE_IN.search(text) is not None or not decompositions.keys().isdisjoint(text):
            characters.clear()
            for character in text:
                characters += decompositions.get(character) or _decomposed_syllable(character)
        ordered: list[str] = []
        for are_marks, run in groupby(characters, classes.__contains__):
            if are_marks:
                ordered += sorted(run, key=classes.__getitem__)
            else:
                ordered += run
        return ordered

    def compose(self, characters: Iterable[str]) -> str:
        """Composes each starter with the marks that follow it and are not blocked from it; marks are in their order."""
        composed: list[str] = []
        ends_with_starter = False
        for are_marks, run in groupby(characters, self.classes.__contains__):
            if are_marks:
                marks = [*run]
                if ends_with_starter:
                    composed[-1], marks = self._composed_with(composed[-1], marks)
                composed += marks
                ends_with_starter = ends_with_starter and not marks
                continue
            for character in run:
                composite = self._composite(composed[-1], character) if ends_with_starter else None
                if composite is None:
                    composed.append(character)
                else:
                    composed[-1] = composite
                ends_with_starter = True
        return "".join(composed)

    def _composed_with(self, starter: str, marks: list[str]) -> tuple[str, list[str]]:
        """What a starter becomes with the marks behind it, and the marks that are left.

        A mark that is left blocks the others of its class.
        """
        classes = [*map(self.classes.__getitem__, marks)]
        left: list[str] = []
        index = 0
        while index < len(marks):
            composite = self._composite(starter, marks[index])
            if composite is not None:
                starter = composite
                index += 1
                continue
            behind = bisect_right(classes, classes[index], index)
            left += marks[index:behind]
            index = behind
        return starter, left

    def _composite(self, first: str, second: str) -> str | None:
        leading, vowel = ord(first) - _LEADING, ord(second) - _VOWEL
        if 0 <= leading < _LEADING_COUNT and 0 <= vowel < _VOWEL_COUNT:
            return chr(_SYLLABLE + (leading * _VOWEL_COUNT + vowel) * _TRAILING_COUNT)
        syllable, trailing = ord(first) - _SYLLABLE, ord(second) - _TRAILING
        if 0 <= syllable < _SYLLABLE_COUNT and syllable % _TRAILING_COUNT == 0 and 0 < trailing < _TRAILING_COUNT:
            return chr(ord(first) + trailing)
        return self._composites.get(first + second)

    @cached_property
    def classes(self) -> dict[str, int]:
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
    def decompositions(self) -> dict[str, str]:
        """Character → its full canonical decomposition, Hangul syllables left out."""
        return _full(self.single)

    @cached_property
    def single(self) -> dict[str, str]:
        """Character → its canonical decomposition by one step, Hangul syllables left out."""
        return dict(_mappings(self.composed + self.decomposed))


@dataclass(frozen=True, eq=False)
class CompatibilityTable:
    """The compatibility decompositions of a version, `compatible` (`A0=20 A8=20+308`), beside its `canonical` data."""

    canonical: NormalizationTable
    compatible: str

    def nfkc(self, text: str) -> str:
        """The composition of the compatibility decomposition of `text`."""
        return self.canonical.compose(self.canonical.decompose(text, self._decompositions))

    def nfkd(self, text: str) -> str:
        """The compatibility decomposition of `text`."""
        return "".join(self.canonical.decompose(text, self._decompositions))

    @cached_property
    def unstable(self) -> CodePoints:
        """The characters that `nfkc` may change, as `NormalizationTable.unstable`."""
        canonical = self.canonical.decompositions
        changed = {ord(c) for c, parts in self._decompositions.items() if canonical.get(c) != parts}
        return CodePoints(ranges_of({*_members(self.canonical.unstable), *changed}))

    @cached_property
    def joining(self) -> CodePoints:
        """The characters that `nfkc` may join to what stands before them."""
        return _beginning_with(self.canonical.backwards, self._decompositions)

    @cached_property
    def movable(self) -> CodePoints:
        """The characters that `nfkd` takes apart or may move."""
        return CodePoints(ranges_of({*_members(self.canonical.movable), *map(ord, self._decompositions)}))

    @cached_property
    def moving(self) -> CodePoints:
        """The characters that `nfkd` may move past what stands before them."""
        return _beginning_with(self.canonical.classes, self._decompositions)

    @cached_property
    def _decompositions(self) -> dict[str, str]:
        """Character → its full compatibility decomposition, Hangul syllables left out."""
        return _full(self.canonical.single | dict(_mappings(self.compatible)))


def _beginning_with(first: Collection[str], decompositions: Mapping[str, str]) -> CodePoints:
    """The characters of a set, and those that decompose to a text that begins with one of them."""
    members = {*first, *(character for character, parts in decompositions.items() if parts[0] in first)}
    return CodePoints(ranges_of(map(ord, members)))


def _decomposed_syllable(character: str) -> str:
    """A Hangul syllable taken apart; any other character itself."""
    index = ord(character) - _SYLLABLE
    if not 0 <= index < _SYLLABLE_COUNT:
        return character
    leading, rest = divmod(index, _VOWEL_COUNT * _TRAILING_COUNT)
    vowel, trailing = divmod(rest, _TRAILING_COUNT)
    syllable = chr(_LEADING + leading) + chr(_VOWEL + vowel)
    return syllable + chr(_TRAILING + trailing) if trailing else syllable


def _full(single: Mapping[str, str]) -> dict[str, str]:
    """The mapping of each character followed to its end."""

    def full(character: str) -> str:
        return "".join(map(full, single[character])) if character in single else character

    return {character: full(character) for character in single}


def _members(code_points: CodePoints) -> Iterator[int]:
    for first, last in code_points.ranges:
        yield from range(first, last + 1)


def _mappings(source: str) -> list[tuple[str, str]]:
    pairs = [item.partition("=") for item in source.split()]
    return [
        (chr(int(whole, 16)), "".join(chr(int(part, 16)) for part in parts.split("+"))) for whole, _, parts in pairs
    ]
