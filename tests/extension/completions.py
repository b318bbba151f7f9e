"""Completions as no encoder gives them: text that is cut anywhere, characters that break off, ids at random."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from katapi.runtime.completion import controls_of
from katapi.runtime.errors import TokenizerError
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlSegment
from katapi.runtime.tokenization.interface import Tokenizer

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10) | st.sampled_from(
    ["Hello, world", " ", "\n\n", "天空为什么是蓝色", "👩‍👩‍👧", "é e\u0301", '{"a": 1}', "  x", "<think>", "", "don't"]
)

CUTS: SearchStrategy[Collection[int]] = st.lists(st.integers(0, 30), max_size=8)


@cache
def bytes_of_their_own(model: Model[RequestModel]) -> dict[int, int]:
    """The tokens that stand for one byte beyond ASCII, by that byte."""
    tokenizer = model.tokenizer
    found: dict[int, int] = {}
    before = tokenizer.encode("a", first=False)[:1]
    known = len(tokenizer.decode(before))
    for text in map(
        chr,
        (
            *range(0x80, 0x800, 7),
            *range(0x800, 0xD800, 211),
            *range(0x10000, 0x20000, 977),
            *range(0xE0000, 0xE0400, 31),
        ),
    ):
        for token in tokenizer.encode(text, first=False):
            data = tokenizer.decode([*before, token])[known:]
            if len(data) == 1 and data[0] >= 0x80:
                found.setdefault(data[0], token)
    return found


def cut(model: Model[RequestModel], text: str, cuts: Collection[int], *, in_bytes: bool) -> list[int]:
    """The ids of a text whose parts are encoded one by one; `in_bytes` a character beyond ASCII becomes its bytes."""
    own = bytes_of_their_own(model) if in_bytes else {}
    bounds = sorted({0, len(text), *(at % (len(text) + 1) for at in cuts)})
    ids: list[int] = []
    for first, end in pairwise(bounds):
        data = text[first:end].encode()
        if own and all(byte in own for byte in data):
            ids += [own[byte] for byte in data]
        else:
            ids += model.tokenizer.encode(text[first:end], first=False)
    return ids


@st.composite
def completions(
    draw: DrawFn, model: Model[RequestModel], closings: Collection[int], spoken: Sequence[int]
) -> list[int]:
    """The ids of a completion, without `closings`, or with one of them at its end; some of them are `spoken`."""
    tokenizer = model.tokenizer
    ids: list[int] = []
    for _ in range(draw(st.integers(0, 4))):
        match draw(st.integers(0, 3)):
            case 0:
                ids.append(draw(st.sampled_from(spoken)))
            case 1:
                ids.append(_known(tokenizer, draw(st.integers(0, tokenizer.vocabulary_size - 1)), spoken[0]))
            case _:
                cuts = draw(CUTS)
                ids += cut(model, draw(TEXT), cuts, in_bytes=draw(st.booleans()))
    ids = ids[: len(ids) - draw(st.integers(0, 1))]
    kept = [token for token in ids if token not in closings]
    if draw(st.integers(0, 3)) and closings:
        kept.append(draw(st.sampled_from(sorted(closings))))
    return kept


def _known(tokenizer: Tokenizer, token: int, other: int) -> int:
    try:
        tokenizer.decode([token])
    except TokenizerError:
        return other
    return token


def control_ids(found: ModelInput) -> list[int]:
    """The ids of all control tokens of a vocabulary."""
    return sorted(controls_of(found.rendered.payload))


def closings(found: ModelInput) -> set[int]:
    """The control tokens at the ends of what a model generates."""
    last = [found.rendered.payload[end - 1] for _, end in found.rendered.sampled]
    return {segment.token.id for segment in last if isinstance(segment, ControlSegment)}
