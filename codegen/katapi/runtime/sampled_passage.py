"""A completion as a passage of an input: its parts, and the segments that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.completion import Item, SampledRun
from katapi.runtime.dataclass import dataclass
from katapi.runtime.origins import covered
from katapi.runtime.segments import Segment
from katapi.runtime.tokenization.interface import Tokenizer


@dataclass(frozen=True, slots=True)
class SampledItem:
    """A part of a completion, the `item`, and the `segments` that it stands for, at least one."""

    item: Item
    segments: tuple[Segment, ...]
    encoded: bool = False
    """Whether the ids are those that the tokenizer gives for the text of the segments."""

    @property
    def count(self) -> int:
        """How many ids it has."""
        return len(self.item.ids) if isinstance(self.item, SampledRun) else 1


@dataclass(frozen=True, slots=True)
class SampledPassage:
    """A completion: its `items`; `stop` as `Passage` has it."""

    items: tuple[SampledItem, ...]
    before: Sequence[int]
    """Ids to decode in front of a run."""
    stop: int | None = None

    def ranges(self, segments: Sequence[Segment], start: int, tokenizer: Tokenizer) -> NDArray[np.int64]:
        """The ranges of segments, int64 of shape [n, 2], as `Passage` has them."""
        found = [np.zeros((0, 2), dtype=np.int64)]
        for part in self.items:
            end = start + len(part.segments)
            found.append(self._ranges(part, start, tokenizer))
            start = end
        return np.concatenate(found)

    def portions(self, segments: Sequence[Segment], start: int) -> Iterator[tuple[int, int, int]]:
        """Its control tokens and runs, as `Passage` has them."""
        for part in self.items:
            end = start + len(part.segments)
            yield start, end, part.count
            start = end

    def _ranges(self, part: SampledItem, start: int, tokenizer: Tokenizer) -> NDArray[np.int64]:
        item = part.item
        if not isinstance(item, SampledRun) or len(part.segments) == 1:
            return np.array([(start, start + 1)] * part.count, dtype=np.int64)
        texts = [segment.text for segment in part.segments]
        filled = [index for index, text in enumerate(texts) if text]
        spans = (
            tokenizer.spans("".join(texts), item.ids, first=False)
            if part.encoded
            else item.spans(tokenizer, self.before)
        )
        return covered([start + index for index in filled], [len(texts[index].encode()) for index in filled], spans)
