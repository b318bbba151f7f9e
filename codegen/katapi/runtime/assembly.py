"""Segments → ids: runs of text are encoded as one string each, control tokens stand for themselves."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.segments import ControlSegment, Segment
from katapi.runtime.tokenization.interface import Tokenizer


def assemble_ids(segments: Sequence[Segment], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The ids of a rendering, and how many ids there are at the end of each run of text.

    A run is the text between two control tokens. No text, whatever it spells, gives a control id.
    """
    ids: list[int] = []
    run_ends: list[int] = []
    texts: list[str] = []
    first = True
    for segment in segments:
        if not isinstance(segment, ControlSegment):
            texts.append(segment.text)
            continue
        if texts:
            ids += tokenizer.encode("".join(texts), first=first)
            run_ends.append(len(ids))
            texts.clear()
        ids.append(segment.token.id)
        first = False
    if texts:
        ids += tokenizer.encode("".join(texts), first=first)
        run_ends.append(len(ids))
    return ids, run_ends
