"""SentencePiece's precompiled character map: a trie of byte strings, each with what it becomes.

The format is that of `precompiled_charsmap` in a SentencePiece model: four bytes with the size of the trie in bytes
(the least significant first), the trie as a double array of 32-bit units (darts-clone), and the results, each ended by
a zero byte. The value of a key is where its result begins. In a unit, bits 0 to 7 and 31 are the label, bit 8 says
that a key ends here, and bits 10 and up, times 256 where bit 9 is set, are the offset to the children: the child by a
label stands at the exclusive or of index, offset and label, and the value at the child by label 0, in bits 0 to 30.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import ArtifactError
from katapi.runtime.unicode.codepoints import CodePoints, ranges_of

_LABEL = 0x800000FF
_ENDS_KEY = 1 << 8
_FAR = 1 << 9
_VALUE = 0x7FFFFFFF
_LONGEST_KEY = 256  # bytes


class CharacterMap:
    """The map of one artifact, of which nothing is unpacked. Raises `ArtifactError` A107 where the bytes are none."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little")
        if len(data) < 4 or size % 4 or not 0 < size <= len(data) - 4:
            raise _damaged("the size of its trie is wrong")
        self.units = data[4 : 4 + size]
        """The units of the trie."""
        self._units: list[int] = np.frombuffer(data, dtype="<u4", count=size // 4, offset=4).tolist()
        self.results = data[4 + size :]
        """The results, each ended by a zero byte."""
        if not self.results.endswith(b"\0"):
            raise _damaged("its results are cut off")
        try:
            self.results.decode()
        except UnicodeDecodeError:
            raise _damaged("its results are not UTF-8") from None

    def begins(self, prefix: bytes) -> bool:
        """Whether a key begins with some bytes, of which none is zero."""
        index = self._children(0)
        for byte in prefix:
            index ^= byte
            if self._unit(index) & _LABEL != byte:
                return False
            index = self._children(index)
        return True

    def prefixes(self, text: str, start: int = 0) -> Iterator[tuple[int, str]]:
        """The keys that `text` goes on with at index `start`, the shortest first.

        Of each the length in characters, and what it becomes. Keys that end within a character do not count.
        """
        index = self._children(0)
        for position in range(start, len(text)):
            ends_key = False
            for byte in text[position].encode():
                index ^= byte
                unit = self._unit(index)
                if byte == 0 or unit & _LABEL != byte:
                    return
                index = self._children(index)
                ends_key = bool(unit & _ENDS_KEY)
            if ends_key:
                begin = self._unit(index) & _VALUE
                end = self.results.find(b"\0", begin)
                yield position + 1 - start, self.results[begin:end].decode(errors="replace")

    def joined(self) -> tuple[CodePoints, CodePoints] | None:
        """The characters that keys have before another character, and those that they have behind one.

        Found a byte of all keys at a time. None where the units are no tree.
        """
        units = np.array(self._units, dtype=np.int64)
        places = np.arange(len(units))
        begins = places ^ ((units >> 10) << np.where(units & _FAR, 8, 0))  # of the children of each
        labels = units & _LABEL
        children = places[(labels > 0) & (labels < 256)]
        parents = children ^ labels[children]
        order = np.argsort(parents, kind="stable")
        children, parents = children[order], parents[order]
        nodes = np.zeros(1, dtype=np.int64)
        codes, missing, behind = nodes, nodes, nodes  # the last character, its bytes to come, whether one stands before
        before: list[NDArray[np.int64]] = []
        after: list[NDArray[np.int64]] = []
        while len(nodes):
            low, high = (np.searchsorted(parents, begins[nodes], side) for side in ("left", "right"))
            counts = high - low
            before.append(codes[(counts > 0) & (missing == 0)])
            source = np.repeat(np.arange(len(nodes)), counts)
            offsets = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
            nodes = children[np.repeat(low, counts) + offsets]
            byte = labels[nodes]
            goes_on = missing[source] > 0
            following = np.select([byte < 0xC0, byte < 0xE0, byte < 0xF0], [0, 1, 2], 3)
            first = np.where(byte < 0x80, byte, byte & (0x3F >> following))
            behind = np.where(goes_on, behind[source], codes[source] > 0).astype(np.int64)
            codes = np.where(goes_on, codes[source] << 6 | byte & 0x3F, first)
            missing = np.where(goes_on, missing[source] - 1, following)
            after.append(codes[(missing == 0) & (behind > 0)])
            states = np.unique(np.stack([nodes, codes, missing, behind]), axis=1)
            nodes, codes, missing, behind = states
            if len(nodes) > len(units) or len(before) > _LONGEST_KEY:
                return None
        return _code_points(before), _code_points(after)

    def _children(self, index: int) -> int:
        """Where the children of the unit at `index` stand, by label 0."""
        unit = self._unit(index)
        return index ^ ((unit >> 10) << (8 if unit & _FAR else 0))

    def _unit(self, index: int) -> int:
        """The unit at `index`; beyond the end of the trie one that is no child of another."""
        return self._units[index] if index < len(self._units) else _LABEL


def _code_points(parts: list[NDArray[np.int64]]) -> CodePoints:
    """The set of code points above 0."""
    return CodePoints(ranges_of(code for code in np.unique(np.concatenate(parts)).tolist() if code > 0))


def _damaged(what: str) -> ArtifactError:
    return ArtifactError(
        f"the precompiled character map is damaged: {what}",
        code="A107",
        help="get the tokenizer file again from where it came",
    )
