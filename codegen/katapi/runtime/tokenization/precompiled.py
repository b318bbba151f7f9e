"""The two normalizers that apply a precompiled character map: as `tokenizers` does, and as SentencePiece does."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from katapi.runtime.compiled import why_pure
from katapi.runtime.tokenization.aligned import AlignedText, Edit
from katapi.runtime.tokenization.charsmap import CharacterMap
from katapi.runtime.tokenization.memo import Memo
from katapi.runtime.unicode.codepoints import Tie
from katapi.runtime.unicode.graphemes import GraphemeTable

if TYPE_CHECKING:
    from katapi.runtime.native.longest_prefixes import LongestPrefixRewriter

_MODULES: Final = (
    "katapi.runtime.native.merging",
    "katapi.runtime.native.rewriting",
    "katapi.runtime.native.longest_prefixes",
)
_SHORT = 6  # bytes from which on `tokenizers` looks up no grapheme cluster as a whole
_LAST_OF_TWO_BYTES = "\u07ff"


class Precompiled:
    """Applies a map to one grapheme cluster after the other ("Precompiled" in tokenizer.json; Unicode 17.0).

    A cluster below six bytes becomes what the shortest key that it begins with becomes, and the rest of it is lost, as
    in `tokenizers`. Of any other cluster each character is looked up by itself.
    """

    def __init__(self, character_map: CharacterMap, graphemes: GraphemeTable) -> None:
        self._map = character_map
        self._graphemes = graphemes
        self._normalized = Memo(self._of_cluster)
        self._of_character = Memo(self._looked_up)

    def normalize(self, text: str) -> str:
        """The text that the map gives."""
        return "".join(map(self._normalized.__getitem__, self._clusters(text)))

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        edits: list[Edit] = []
        position = 0
        for cluster in self._clusters(text.text):
            if self._normalized[cluster] != cluster:
                edits += ((position + start, position + end, new) for start, end, new in self._parts(cluster))
            position += len(cluster)
        return text.replaced(edits)

    def ties(self) -> tuple[Tie, ...]:
        """Which characters beside each other do not become what each of them becomes by itself."""
        return self._graphemes.ties

    def is_plain(self, first: int, last: int) -> bool:
        """Whether 64 characters, from one code point to another, stay and are tied to none that is plain too."""
        if first < 0x80 or self._map.begins(chr(first).encode()[:-1]):
            return False
        sets = (members for tie in self._graphemes.ties for members in tie)
        return not any(members.between(first, last) for members in sets if members is not None)

    def _clusters(self, text: str) -> Iterable[str]:
        if self._graphemes.are_characters(text) or min(text) > _LAST_OF_TWO_BYTES:
            return text  # a cluster of two characters that long is taken character by character
        return self._graphemes.clusters(text)

    def _of_cluster(self, cluster: str) -> str:
        if self._is_short(cluster):
            for _, new in self._map.prefixes(cluster):
                return new
        return "".join(map(self._of_character.__getitem__, cluster))

    def _parts(self, cluster: str) -> list[Edit]:
        """The parts that a cluster is mapped by."""
        if self._is_short(cluster):
            for _, new in self._map.prefixes(cluster):
                return [(0, len(cluster), new)]
        return [(index, index + 1, self._of_character[character]) for index, character in enumerate(cluster)]

    def _is_short(self, cluster: str) -> bool:
        return len(cluster) < _SHORT and len(cluster.encode()) < _SHORT

    def _looked_up(self, character: str) -> str:
        for _, new in self._map.prefixes(character):
            return new
        return character


class LongestPrefixes:
    """Applies a map from left to right, the longest key first, as SentencePiece does with the map of a `.model` file.

    A character that no key begins with stays.
    """

    def __init__(self, character_map: CharacterMap) -> None:
        self._map = character_map

    @cached_property
    def _compiled(self) -> LongestPrefixRewriter | None:
        if why_pure(*_MODULES) is not None:
            return None
        from katapi.runtime.native.longest_prefixes import LongestPrefixRewriter

        return LongestPrefixRewriter(self._map.units, self._map.results)

    def normalize(self, text: str) -> str:
        """The text that the map gives."""
        if self._compiled is not None:
            return self._compiled.rewrite(text)
        parts: list[str] = []
        position = 0
        for start, end, new in self._edits(text):
            parts += (text[position:start], new)
            position = end
        return "".join((*parts, text[position:]))

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        return text.replaced(self._edits(text.text))

    def _edits(self, text: str) -> list[Edit]:
        edits: list[Edit] = []
        position = 0
        while position < len(text):
            found: Edit | None = None
            for length, new in self._map.prefixes(text, position):
                found = (position, position + length, new)
            if found is not None:
                edits.append(found)
            position = found[1] if found is not None else position + 1
        return edits
