"""Text that knows its source: edits and per-character mappings, against a slow definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText, Edit

CHARACTERS = st.sampled_from("aé中😀")
TEXTS = st.text(CHARACTERS, max_size=12)


def bounds(text: AlignedText) -> list[tuple[int, int]]:
    return list(zip(text.starts.tolist(), text.ends.tolist(), strict=True))


@st.composite
def edits(draw: st.DrawFn, size: int) -> list[Edit]:
    places = sorted(draw(st.lists(st.integers(0, size), max_size=8)))
    pairs = zip(places[::2], places[1::2], strict=False)
    return [(start, end, draw(st.text(CHARACTERS, max_size=3))) for start, end in pairs]


def slowly_replaced(text: AlignedText, changes: list[Edit]) -> tuple[str, list[tuple[int, int]]]:
    """A character at a time."""
    old = bounds(text)
    new_text, new = "", list[tuple[int, int]]()
    position = 0
    for start, end, replacement in [*changes, (len(text), len(text), "")]:
        new_text += text.text[position:start] + replacement
        new += old[position:start]
        behind = [b for _, b in old[:start]]
        ahead = [a for a, _ in old[start:]]
        first = ahead[0] if ahead else behind[-1] if behind else 0
        last = max([b for _, b in old[:end]], default=first)
        new += [(first, max(first, last))] * len(replacement)
        position = end
    return new_text, new


@given(TEXTS, st.data())
def test_replaced(source: str, data: st.DataObject) -> None:
    text = AlignedText.of(source)
    for _ in range(3):  # also of texts that were changed before
        changes = data.draw(edits(len(text)))
        result = text.replaced(changes)
        assert (result.text, bounds(result)) == slowly_replaced(text, changes)
        assert (np.diff(result.starts) >= 0).all()
        assert (np.diff(result.ends) >= 0).all()
        text = result


@given(TEXTS, st.data())
def test_mapped(source: str, data: st.DataObject) -> None:
    text = AlignedText.of(source)
    characters = [data.draw(st.text(CHARACTERS, max_size=2)) for _ in source]
    result = text.mapped(characters)
    assert result.text == "".join(characters)
    assert bounds(result) == [b for b, new in zip(bounds(text), characters, strict=True) for _ in new]


@given(TEXTS)
def test_of(source: str) -> None:
    text = AlignedText.of(source)
    data = source.encode()
    assert [data[start:end].decode() for start, end in bounds(text)] == list(source)
    assert text.starts.dtype == text.ends.dtype == np.int64


def test_what_is_put_in_has_no_source() -> None:
    text = AlignedText.of("中b").replaced([(0, 0, "x"), (1, 1, "yy"), (2, 2, "z")])
    assert (text.text, bounds(text)) == ("x中yybz", [(0, 0), (0, 3), (3, 3), (3, 3), (3, 4), (4, 4)])


@given(TEXTS, st.text(CHARACTERS, max_size=3))
def test_prefixed_is_replaced_at_the_beginning(source: str, prefix: str) -> None:
    text = AlignedText.of("b" + source).part(1, len(source) + 1)
    result, expected = text.prefixed(prefix), text.replaced([(0, 0, prefix)])
    assert (result.text, bounds(result)) == (expected.text, bounds(expected))


def test_nothing_at_all() -> None:
    text = AlignedText.of("").replaced([(0, 0, "x")])
    assert (text.text, bounds(text)) == ("x", [(0, 0)])


def test_part_and_sources_of_ranges() -> None:
    text = AlignedText.of("a中b").part(1, 3)
    assert (text.text, bounds(text)) == ("中b", [(1, 4), (4, 5)])
    assert text.source_of(np.array([[0, 1], [0, 2], [1, 2]])).tolist() == [[1, 4], [1, 5], [4, 5]]
