"""Segments → ids: runs of text are encoded as one string each, control tokens stand for themselves."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.origins import Run
from katapi.runtime.segments import ControlSegment, Segment
from katapi.runtime.tokenization.interface import Tokenizer


def assemble_ids(segments: Sequence[Segment], tokenizer: Tokenizer) -> tuple[list[int], list[Run]]:
    """The ids of a rendering, and which run each of them belongs to.

    A control token is a run of its own. No text, whatever it spells, gives a control id.
    """
    ids: list[int] = []
    runs: list[Run] = []
    texts: list[str] = []
    begin = 0
    for index, segment in enumerate(segments):
        if not isinstance(segment, ControlSegment):
            texts.append(segment.text)
            continue
        if texts:
            _encode(ids, runs, texts, begin, index, tokenizer)
        runs.append(Run((index, index + 1), (len(ids), len(ids) + 1)))
        ids.append(segment.token.id)
        begin = index + 1
    if texts:
        _encode(ids, runs, texts, begin, len(segments), tokenizer)
    return ids, runs


def _encode(ids: list[int], runs: list[Run], texts: list[str], begin: int, end: int, tokenizer: Tokenizer) -> None:
    start = len(ids)
    ids += tokenizer.encode("".join(texts), first=begin == 0)
    if len(ids) > start:
        runs.append(Run((begin, end), (start, len(ids))))
    texts.clear()
