"""What the ids of a completion stand for: control tokens, and runs of text between them, however they were cut.

A model may sample ids that no encoder gives for their text, and may stop within a character.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.segments import ControlSegment, ControlToken, Segment
from katapi.runtime.tokenization.interface import Tokenizer


@dataclass(frozen=True, slots=True)
class SampledRun:
    """Ids of text in a row, and the text that they stand for where they are."""

    ids: tuple[int, ...]
    """At least one."""
    text: str
    """Bytes that are no whole character are U+FFFD in it."""
    put_in: str
    """What the tokenizer puts in front of a run behind a control token, where that was left out of `text`."""
    whole: bool
    """Whether the bytes of the ids are the text."""

    def spans(self, tokenizer: Tokenizer, before: Sequence[int]) -> NDArray[np.int64]:
        """The half-open range of bytes of the text that each id adds to it, int64 of shape [n, 2].

        The text is `whole`. `before` are ids to decode in front of the run.
        """
        decoder = tokenizer.decoder()
        known = len(tokenizer.decode(before)) + len(self.put_in.encode())
        for token in before:
            known -= len(decoder.push(token))
        sizes = [len(decoder.push(token)) for token in self.ids]
        ends = np.cumsum(sizes, dtype=np.int64) - known
        ends[-1] += len(decoder.finish())
        bounds = np.clip(np.concatenate(([0], ends)), 0, len(self.text.encode()))
        return np.stack([bounds[:-1], bounds[1:]], axis=1)


Item: TypeAlias = ControlToken | SampledRun
"""A part of a completion."""


def controls_of(segments: Sequence[Segment]) -> Mapping[int, ControlToken]:
    """The control tokens of a vocabulary by id, out of what was printed with it; none where none was printed."""
    printed = next((s.token for s in segments if isinstance(s, ControlSegment)), None)
    return {} if printed is None else _by_id(type(printed))


@cache
def _by_id(controls: type[ControlToken]) -> dict[int, ControlToken]:
    return {token.id: token for token in controls}


def items_of(
    ids: Sequence[int], controls: Mapping[int, ControlToken], tokenizer: Tokenizer, *, behind_control: bool
) -> list[Item]:
    """The parts of a completion, in order; `behind_control` says that it stands behind a control token.

    Raises `TokenizerError` V102 on an unknown id.
    """
    items: list[Item] = []
    run: list[int] = []
    before = [*controls][:1]

    def close() -> None:
        if run:
            after_control = isinstance(items[-1], ControlToken) if items else behind_control
            items.append(_read(tuple(run), before, tokenizer, behind_control=after_control))
            run.clear()

    for token in ids:
        control = controls.get(token)
        if control is None:
            run.append(token)
            continue
        close()
        items.append(control)
    close()
    return items


def _read(ids: tuple[int, ...], before: list[int], tokenizer: Tokenizer, *, behind_control: bool) -> SampledRun:
    text = _decoded(ids, before, tokenizer)
    whole = text.encode() == tokenizer.decode([*before, *ids])[len(tokenizer.decode(before)) :]
    put_in = put_in_front(tokenizer, before) if behind_control else ""
    if put_in and text.startswith(put_in):
        return SampledRun(ids, text.removeprefix(put_in), put_in, whole)
    return SampledRun(ids, text, "", whole)


def put_in_front(tokenizer: Tokenizer, before: Sequence[int]) -> str:
    """What a tokenizer puts in front of a run that stands behind a control token; `before` is one, if there is any."""
    text = _decoded(tokenizer.encode("a", first=False), before, tokenizer)
    return text.removesuffix("a") if text.endswith("a") else ""


def _decoded(ids: Sequence[int], before: Sequence[int], tokenizer: Tokenizer) -> str:
    """The text of ids that do not begin an input: decoders treat the first token of all as no other."""
    return tokenizer.decode_text([*before, *ids])[len(tokenizer.decode_text(before)) :]
