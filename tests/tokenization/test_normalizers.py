"""The normalizer NFC, and where in the source its output comes from."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.normal_forms import Nfc
from katapi.runtime.tokenization.normalizers import Unchanged
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import Planes

TABLE = tables.normalization("9.0")
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
def test_the_aligned_form_gives_the_same_text(text: str) -> None:
    """Joined, the sources of its characters are all of the source."""
    aligned = NFC.align(AlignedText.of(text))
    assert aligned.text == NFC.normalize(text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    if text:
        assert (aligned.starts[0], aligned.ends[-1]) == (0, len(text.encode()))
        assert (aligned.starts < aligned.ends).all()
        assert (aligned.starts[1:] <= aligned.ends[:-1]).all()
        assert (np.diff(aligned.starts) >= 0).all()
        assert (np.diff(aligned.ends) >= 0).all()


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("abc", [[0, 1], [1, 2], [2, 3]]),
        ("xe\u0301y", [[0, 1], [1, 4], [4, 5]]),  # e and acute accent: 3 bytes
        ("क\u0958", [[0, 3], [3, 6], [3, 6]]),  # the letter in front stays as it is; two characters are made from one
        ("a\u0301\u0327", [[0, 3], [3, 5]]),  # the cedilla behind stays as it is
        ("中\u1112\u1161\u11ab", [[0, 3], [3, 12]]),
        ("e\u0301e\u0301", [[0, 3], [3, 6]]),
    ],
)
def test_sources_of_known_texts(text: str, sources: list[list[int]]) -> None:
    aligned = NFC.align(AlignedText.of(text))
    assert np.stack([aligned.starts, aligned.ends], axis=1).tolist() == sources


def test_unchanged() -> None:
    text = "e\u0301"
    assert Unchanged().normalize(text) is text
    aligned = AlignedText.of(text)
    assert Unchanged().align(aligned) is aligned


@pytest.mark.parametrize("planes", [Planes.BMP, Planes.ALL])
def test_every_unstable_character_is_seen(planes: Planes) -> None:
    seen = re.compile(f"[{TABLE.unstable.within(planes)}]")
    assert all(seen.match(character) for character in UNSTABLE if ord(character) < planes.value)
