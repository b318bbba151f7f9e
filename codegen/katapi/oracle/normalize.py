"""The normalization forms of Unicode Standard Annex #15 over pinned tables, and which parts of a text changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from katapi.oracle.characters import mapping
from katapi.runtime.unicode.codepoints import CodePoints
from katapi.runtime.unicode.tables import compatibility, normalization

_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7
_L_COUNT, _V_COUNT, _T_COUNT = 19, 21, 28


class Part(NamedTuple):
    """A stretch of a text and what it becomes."""

    source: str
    normalized: str


@dataclass(frozen=True)
class Forms:
    """What one version of Unicode says about equivalence, canonical or of compatibility; Hangul is left to arithmetic.

    `classes` holds the combining classes that are not 0, `splits` what a character decomposes to in one step, `pairs`
    what two characters compose to.
    """

    classes: dict[str, int]
    splits: dict[str, str]
    pairs: dict[str, str]

    def composed(self, text: str) -> str:
        """The composition of a text: NFC or NFKC."""
        characters = list(self.taken_apart(text))
        at = 1
        while at < len(characters):
            starter = self._last_starter(characters, at)
            composite = None if starter is None else self._composite(characters[starter], characters[at])
            if starter is None or composite is None or self._blocked(characters, starter, at):
                at += 1
                continue
            characters[starter] = composite
            del characters[at]
        return "".join(characters)

    def taken_apart(self, text: str) -> str:
        """The decomposition of a text: NFD or NFKD."""
        characters = list("".join(self.decomposed(c) for c in text))
        self._reorder(characters)
        return "".join(characters)

    def decomposed(self, character: str) -> str:
        """The full decomposition of one character."""
        index = ord(character) - _S
        if 0 <= index < _L_COUNT * _V_COUNT * _T_COUNT:
            leading, vowel, trailing = index // (_V_COUNT * _T_COUNT), index // _T_COUNT % _V_COUNT, index % _T_COUNT
            return chr(_L + leading) + chr(_V + vowel) + (chr(_T + trailing) if trailing else "")
        if character not in self.splits:
            return character
        return "".join(self.decomposed(c) for c in self.splits[character])

    def moves(self, character: str) -> bool:
        """Whether the character, taken apart, can move past what stands before it."""
        return self._class(self.decomposed(character)[0]) > 0

    def joins(self, character: str) -> bool:
        """Whether the character, taken apart, can move past what stands before it or compose with it."""
        first = self.decomposed(character)[0]
        return (
            self._class(first) > 0
            or first in self._seconds
            or _V <= ord(first) < _V + _V_COUNT
            or _T < ord(first) < _T + _T_COUNT
        )

    @cached_property
    def _seconds(self) -> frozenset[str]:
        return frozenset(pair[1] for pair in self.pairs)

    def _class(self, character: str) -> int:
        return self.classes.get(character, 0)

    def _reorder(self, characters: list[str]) -> None:
        """Exchanges neighbours until no mark stands after one of a higher class."""
        moved = True
        while moved:
            moved = False
            for i in range(len(characters) - 1):
                if self._class(characters[i]) > self._class(characters[i + 1]) > 0:
                    characters[i], characters[i + 1] = characters[i + 1], characters[i]
                    moved = True

    def _last_starter(self, characters: list[str], before: int) -> int | None:
        return next((i for i in reversed(range(before)) if self._class(characters[i]) == 0), None)

    def _blocked(self, characters: list[str], starter: int, at: int) -> bool:
        own = self._class(characters[at])
        between = [self._class(c) for c in characters[starter + 1 : at]]
        return any(c == 0 or c >= own for c in between)

    def _composite(self, first: str, second: str) -> str | None:
        leading, vowel = ord(first) - _L, ord(second) - _V
        if 0 <= leading < _L_COUNT and 0 <= vowel < _V_COUNT:
            return chr(_S + (leading * _V_COUNT + vowel) * _T_COUNT)
        index, trailing = ord(first) - _S, ord(second) - _T
        if 0 <= index < _L_COUNT * _V_COUNT * _T_COUNT and index % _T_COUNT == 0 and 0 < trailing < _T_COUNT:
            return chr(ord(first) + trailing)
        return self.pairs.get(first + second)


@cache
def forms(version: str, *, compatible: bool = False) -> Forms:
    """The pinned data of a Unicode version; `compatible` takes compatibility decompositions too (NFKC, NFKD)."""
    table = normalization(version)
    classes: dict[str, int] = {}
    for row in table.combining.split():
        points, _, number = row.partition("=")
        for first, last in CodePoints(points).ranges:
            classes |= {chr(code): int(number) for code in range(first, last + 1)}
    composed = dict(map(mapping, table.composed.split()))
    splits = composed | dict(map(mapping, table.decomposed.split()))
    if compatible:
        splits |= dict(map(mapping, compatibility(version).compatible.split()))
    return Forms(classes, splits, {parts: whole for whole, parts in composed.items()})


def parts(text: str, version: str, form: str = "NFC") -> list[Part]:
    """A text cut into stretches that become one another; together the right sides are its normalization form.

    A cluster is a character and all that follow and can join it. A cluster that stays the same falls into characters.
    Of one that changes, the characters that both forms have in common at the front and then at the back stand alone,
    and what is left in the middle changed together.
    """
    data = forms(version, compatible="K" in form)
    clusters: list[str] = []
    for character in text:
        if clusters and _reaches_back(version, form, character):
            clusters[-1] += character
        else:
            clusters.append(character)
    out: list[Part] = []
    for cluster in clusters:
        new = data.composed(cluster) if form.endswith("C") else data.taken_apart(cluster)
        front = 0
        while front < min(len(cluster), len(new)) and cluster[front] == new[front]:
            front += 1
        back = 0
        while back < min(len(cluster), len(new)) - front and cluster[-1 - back] == new[-1 - back]:
            back += 1
        out += [Part(c, c) for c in cluster[:front]]
        if front < max(len(cluster), len(new)) - back:
            out.append(Part(cluster[front : len(cluster) - back], new[front : len(new) - back]))
        out += [Part(c, c) for c in cluster[len(cluster) - back :]]
    return out


@cache
def _reaches_back(version: str, form: str, character: str) -> bool:
    data = forms(version, compatible="K" in form)
    return data.joins(character) if form.endswith("C") else data.moves(character)
