"""The normalizer NFC, and where in the source its output comes from."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.alignment import Alignment
from katapi.runtime.tokenization.normalizers import Nfc, Unchanged
from katapi.runtime.unicode import normalization_9_0
from katapi.runtime.unicode.codepoints import Planes

TABLE = normalization_9_0.TABLE
NFC = Nfc(TABLE)
UNSTABLE = [chr(c) for first, last in TABLE.unstable.ranges for c in range(first, last + 1)]
TEXTS = st.text(
    st.sampled_from("ae qÅ가한中\U0001d15e") | st.sampled_from(UNSTABLE) | st.characters(codec="utf-8"), max_size=20
)


@given(TEXTS)
def test_cluster_by_cluster_is_the_same_as_all_at_once(text: str) -> None:
    assert NFC.normalize(text) == TABLE.nfc(text)


@pytest.mark.parametrize("text", ["", "plain", "Ångström 中文 한글 😀", "é" * 1000])
def test_normalized_text_is_returned_itself(text: str) -> None:
    assert NFC.normalize(text) is text


@given(TEXTS)
def test_alignment_joins_both_texts(text: str) -> None:
    """Outside the parts both texts are the same; new parts in place of the old ones give the normalized text."""
    normalized = NFC.normalize(text).encode()
    source = text.encode()
    alignment = NFC.align(text)
    rebuilt, position = b"", 0
    for (start, end), (new_start, new_end) in zip(
        alignment.source.tolist(), alignment.normalized.tolist(), strict=True
    ):
        rebuilt += source[position:start]
        assert len(rebuilt) == new_start
        assert source[start:end] != normalized[new_start:new_end]
        rebuilt += normalized[new_start:new_end]
        position = end
    assert rebuilt + source[position:] == normalized


@pytest.mark.parametrize(
    ("text", "source", "normalized"),
    [
        ("abc", [], []),
        ("xe\u0301y", [[1, 4]], [[1, 3]]),  # e and acute accent: 3 bytes become the 2 of é
        ("क\u0958", [[3, 6]], [[3, 9]]),  # the letter in front stays as it is
        ("a\u0301\u0327", [[0, 3]], [[0, 2]]),  # the cedilla behind stays as it is
        ("中\u1112\u1161\u11ab", [[3, 12]], [[3, 6]]),
        ("e\u0301e\u0301", [[0, 3], [3, 6]], [[0, 2], [2, 4]]),
    ],
)
def test_alignment_of_known_texts(text: str, source: list[list[int]], normalized: list[list[int]]) -> None:
    alignment = NFC.align(text)
    assert alignment.source.tolist() == source
    assert alignment.normalized.tolist() == normalized


@given(TEXTS, st.data())
def test_ranges_map_back_to_what_they_were_made_from(text: str, data: st.DataObject) -> None:
    """By a slow definition: a byte of the normalized text comes from its own byte, or from all bytes of its part."""
    alignment = NFC.align(text)
    size = len(NFC.normalize(text).encode())
    cuts = sorted(data.draw(st.sets(st.integers(0, size)))) if size else []
    ranges = np.array(list(pairwise(cuts)), dtype=np.int64).reshape(-1, 2)
    expected = [
        [min(a for a, _ in covered), max(b for _, b in covered)]
        for start, end in ranges.tolist()
        if (covered := [_source_of_byte(alignment, byte) for byte in range(start, end)])
    ]
    assert alignment.to_source(ranges).tolist() == expected


def _source_of_byte(alignment: Alignment, byte: int) -> tuple[int, int]:
    shift = 0
    for (start, end), (new_start, new_end) in zip(
        alignment.source.tolist(), alignment.normalized.tolist(), strict=True
    ):
        if byte < new_start:
            break
        if byte < new_end:
            return start, end
        shift = end - new_end
    return byte + shift, byte + shift + 1


def test_parts_that_vanish_or_appear() -> None:
    """`ab` → `b`, then `cd` → `cXd`: other normalizers than NFC take characters away or put them in."""
    alignment = Alignment.of([((0, 1), (0, 0)), ((3, 3), (2, 3))])
    ranges = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [2, 4], [3, 4]], dtype=np.int64)
    assert alignment.to_source(ranges).tolist() == [[1, 2], [1, 3], [2, 3], [3, 3], [3, 4], [3, 4]]


def test_unchanged() -> None:
    text = "e\u0301"
    assert Unchanged().normalize(text) is text
    assert Unchanged().align(text).to_source(np.array([[0, 3]], dtype=np.int64)).tolist() == [[0, 3]]


@pytest.mark.parametrize("planes", [Planes.BMP, Planes.ALL])
def test_every_unstable_character_is_seen(planes: Planes) -> None:
    seen = re.compile(f"[{TABLE.unstable.within(planes)}]")
    assert all(seen.match(character) for character in UNSTABLE if ord(character) < planes.value)
