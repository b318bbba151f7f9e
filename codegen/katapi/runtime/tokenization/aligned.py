"""Text that knows where in its source each of its characters came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass

Edit = tuple[int, int, str]
"""The characters from the first index up to the second give way to the string."""


@dataclass(frozen=True, eq=False)
class AlignedText:
    """A text and, for each of its characters (code points), the UTF-8 bytes of the source that it was made from.

    `starts` and `ends` are int64 of shape [len(text)] and hold half-open byte ranges; neither ever decreases. A
    character that was made from several has the range of all of them. One that was put in has an empty range at its
    place; between two characters that were made together it has theirs.
    """

    text: str
    """The text itself."""
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, text: str) -> AlignedText:
        """The source itself."""
        if text.isascii():
            bounds = np.arange(len(text) + 1, dtype=np.int64)
        else:
            code_points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
            widths = 1 + (code_points > 0x7F) + (code_points > 0x7FF) + (code_points > 0xFFFF)
            bounds = np.concatenate([[0], np.cumsum(widths, dtype=np.int64)])
        return cls(text, bounds[:-1], bounds[1:])

    @classmethod
    def joined(cls, parts: Sequence[AlignedText]) -> AlignedText:
        """Parts of one text, in order, as a text."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(
            "".join(part.text for part in parts),
            np.concatenate([nothing, *(part.starts for part in parts)]),
            np.concatenate([nothing, *(part.ends for part in parts)]),
        )

    def __len__(self) -> int:
        """How many characters the text has."""
        return len(self.text)

    def part(self, start: int, end: int) -> AlignedText:
        """The characters from index `start` up to `end`."""
        return AlignedText(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def replaced(self, edits: Sequence[Edit]) -> AlignedText:
        """The text after all edits, which are ascending and do not overlap.

        Every character of a replacement is made from all the characters that gave way; where none did, it was put in.
        """
        if not edits:
            return self
        kept: list[str] = []
        position = 0
        for start, end, new in edits:
            kept += (self.text[position:start], new)
            position = end
        kept.append(self.text[position:])
        begin = np.array([edit[0] for edit in edits], dtype=np.int64)
        end_ = np.array([edit[1] for edit in edits], dtype=np.int64)
        lengths = np.array([len(edit[2]) for edit in edits], dtype=np.int64)
        # The new characters, as many as `lengths` says, stand behind the characters kept before their edit.
        gone = np.zeros(len(self) + 1, dtype=np.int64)
        np.add.at(gone, begin, 1)
        np.add.at(gone, end_, -1)
        keep = np.cumsum(gone)[: len(self)] == 0
        place = np.concatenate([[0], np.cumsum(keep)])[begin]
        first, last = self._bounds(begin, end_)
        return AlignedText(
            "".join(kept),
            np.insert(self.starts[keep], np.repeat(place, lengths), np.repeat(first, lengths)),
            np.insert(self.ends[keep], np.repeat(place, lengths), np.repeat(last, lengths)),
        )

    def prefixed(self, prefix: str) -> AlignedText:
        """The text with something put in front; a text without characters is the prefix alone."""
        place = np.full(len(prefix), self.starts[0] if len(self) else 0, dtype=np.int64)
        return AlignedText(prefix + self.text, np.concatenate([place, self.starts]), np.concatenate([place, self.ends]))

    def mapped(self, characters: Sequence[str]) -> AlignedText:
        """The text in which each character has become the string at its index, which may be empty."""
        lengths = np.fromiter(map(len, characters), dtype=np.int64, count=len(characters))
        return AlignedText("".join(characters), np.repeat(self.starts, lengths), np.repeat(self.ends, lengths))

    def source_of(self, ranges: NDArray[np.int64]) -> NDArray[np.int64]:
        """The source bytes of ranges of characters, none of them empty; both are half-open, int64 of shape [n, 2]."""
        return np.stack([self.starts[ranges[:, 0]], self.ends[ranges[:, 1] - 1]], axis=1)

    def _bounds(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The source bytes of ranges of characters; an empty range lies before the character that it stands at."""
        starts = np.append(self.starts, self.ends[-1:] if len(self) else 0)[begin]
        ends = np.concatenate([self.starts[:1], self.ends, [0]])[end]  # [0] for a text without characters
        return starts, np.maximum(ends, np.where(begin < end, ends, starts))
