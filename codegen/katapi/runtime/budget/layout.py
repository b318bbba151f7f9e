"""The tokens of an input beside its segments, run by run; a run is looked at when somebody asks for a place in it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.model_input import ModelInput
from katapi.runtime.origins import covered, portion_spans
from katapi.runtime.segments import ControlSegment


class Layout:
    """Which token stands where, of an input that was assembled."""

    def __init__(self, whole: ModelInput) -> None:
        self._ids = whole._ids
        self._tokenizer = whole._tokenizer
        self._segments = whole.rendered.payload
        starts = whole._starts()
        portions = [
            portion
            for passage, start in zip(whole._kept_passages, starts, strict=True)
            for portion in passage.portions(self._segments, start)
        ]
        self._portions = [(begin, stop) for begin, stop, _ in portions]
        self._begins = [begin for begin, _ in self._portions]
        self._tokens = [0, *accumulate(count for _, _, count in portions)]
        self._spans: dict[int, NDArray[np.int64]] = {}
        self._ranges: dict[int, NDArray[np.int64]] = {}

    def first_token(self, segment: int) -> int:
        """The first token that covers a segment or one behind it; the number of tokens where there is none."""
        at = self._portion_of_segment(segment)
        if at == len(self._portions):
            return self._tokens[-1]
        if segment <= self._begins[at]:
            return self._tokens[at]
        return self._tokens[at] + int(np.searchsorted(self._ranges_of(at)[:, 1], segment, side="right"))

    def last_token(self, segment: int) -> int:
        """The last token that covers a segment, which has a token."""
        at = self._portion_of_segment(segment)
        return self._tokens[at] + int(np.searchsorted(self._ranges_of(at)[:, 0], segment, side="right")) - 1

    def first_segment(self, token: int) -> int:
        """The first segment that a token covers."""
        at = self._portion_of_token(token)
        return int(self._ranges_of(at)[token - self._tokens[at], 0])

    def ranges_from(self, token: int) -> NDArray[np.int64]:
        """The half-open ranges of segments that the tokens from one on cover, int64 of shape [n, 2]."""
        at = self._portion_of_token(token)
        found = [self._ranges_of(one) for one in range(at, len(self._portions))]
        return np.concatenate(found)[token - self._tokens[at] :]

    def offset(self, token: int) -> tuple[int, bool]:
        """How many bytes of the first segment of a token stand before it, and whether it begins within a character.

        Where it does, the bytes of that character count among those before.
        """
        at = self._portion_of_token(token)
        begin, _ = self._portions[at]
        if isinstance(self._segments[begin], ControlSegment):
            return 0, False
        number = token - self._tokens[at]
        spans = self._spans_of(at)
        before = sum(len(segment.text.encode()) for segment in self._segments[begin : self.first_segment(token)])
        place, behind = int(spans[number, 0]), int(spans[number - 1, 1]) if number else 0
        within = number > 0 and place < behind
        return max(0, (behind if within else place) - before), within

    def _portion_of_segment(self, segment: int) -> int:
        at = bisect_right(self._begins, segment) - 1
        return at if at < 0 or segment < self._portions[at][1] else at + 1

    def _portion_of_token(self, token: int) -> int:
        return bisect_right(self._tokens, token) - 1

    def _spans_of(self, at: int) -> NDArray[np.int64]:
        """Which bytes of the text of a portion each of its tokens covers."""
        found = self._spans.get(at)
        if found is None:
            ids = self._ids[self._tokens[at] : self._tokens[at + 1]]
            within = (0, len(self._segments))
            found = self._spans[at] = portion_spans(self._segments, self._portions[at], ids, self._tokenizer, within)
        return found

    def _ranges_of(self, at: int) -> NDArray[np.int64]:
        """Which segments each token of a portion covers."""
        found = self._ranges.get(at)
        if found is None:
            found = self._ranges[at] = self._made(at)
        return found

    def _made(self, at: int) -> NDArray[np.int64]:
        begin, stop = self._portions[at]
        count = self._tokens[at + 1] - self._tokens[at]
        if not count:  # all segments of the run are empty
            return np.zeros((0, 2), dtype=np.int64)
        filled = [index for index in range(begin, stop) if self._segments[index].text]
        if len(filled) > 1:
            return covered(filled, [len(self._segments[index].text.encode()) for index in filled], self._spans_of(at))
        return np.array([(filled[0], filled[0] + 1)] * count, dtype=np.int64)
