"""Precompiled character maps: what is found in them, what the two normalizers make of it, and damaged ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.charsmap import CharacterMap
from katapi.runtime.tokenization.precompiled import LongestPrefixes, Precompiled
from katapi.runtime.unicode.tables import graphemes
from tests.charsmaps import character_map

TABLE = graphemes("17.0")

CHARACTERS = "abcé中😀"


@given(
    st.dictionaries(st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=4), st.text(max_size=3), min_size=1),
    st.text(st.sampled_from(CHARACTERS), max_size=6),
)
def test_the_keys_that_a_text_begins_with(entries: dict[str, str], text: str) -> None:
    entries = {key: result.replace("\0", "") for key, result in entries.items()}
    found = CharacterMap(character_map(entries)).prefixes("xyz" + text, 3)
    expected = [(size, entries[text[:size]]) for size in range(1, len(text) + 1) if text[:size] in entries]
    assert list(found) == expected


MAP = CharacterMap(
    character_map({"A": "a", "e": "E", "e\u0301": "é", "\r": " ", "\r\n": "\n", "ﬁ": "fi", "ab": "X", "\u0301": ""})
)


@pytest.mark.parametrize(
    ("text", "as_tokenizers", "as_sentencepiece"),
    [
        ("", "", ""),
        ("bad", "bad", "bad"),
        ("AﬁA", "afia", "afia"),
        ("e\u0301", "E", "é"),  # the shortest key, and what else the cluster holds is lost
        ("e\u0301\u0327\u0327", "E\u0327\u0327", "é\u0327\u0327"),  # a long cluster is taken character by character
        ("\r\n", " ", "\n"),
        ("cab", "cab", "cX"),  # a key that goes beyond a cluster is never found by clusters
        ("b\u0301", "b", "b"),  # the cluster begins with no key, and is taken character by character
        ("中\u0301\u0301", "中", "中"),
    ],
)
def test_known_texts(text: str, as_tokenizers: str, as_sentencepiece: str) -> None:
    assert Precompiled(MAP, TABLE).normalize(text) == as_tokenizers
    assert LongestPrefixes(MAP).normalize(text) == as_sentencepiece


@given(st.text(st.sampled_from("Aaeb\r\nﬁ中\u0301\u0327"), max_size=20))
def test_the_aligned_form_gives_the_same_text(text: str) -> None:
    for normalizer in (Precompiled(MAP, TABLE), LongestPrefixes(MAP)):
        assert normalizer.align(AlignedText.of(text)).text == normalizer.normalize(text)


def test_sources() -> None:
    aligned = Precompiled(MAP, TABLE).align(AlignedText.of("ﬁe\u0301b"))
    assert aligned.text == "fiEb"
    assert aligned.starts.tolist() == [0, 0, 3, 6]
    assert aligned.ends.tolist() == [3, 3, 6, 7]


@pytest.mark.parametrize("size", [0, 3, 4, 5, 1023, 1027, 1030])
def test_a_map_that_is_cut_off(size: int) -> None:
    with pytest.raises(ArtifactError, match="A107"):
        CharacterMap(character_map({"a": "é"})[:size])


def test_results_that_are_no_text() -> None:
    with pytest.raises(ArtifactError, match="A107"):
        CharacterMap(character_map({"a": "b"}) + b"\xff\0")


def test_a_trie_of_random_units_leads_nowhere_bad() -> None:
    draw = random.Random(3)
    for _ in range(50):
        trie = draw.randbytes(64)
        character_map_ = CharacterMap(len(trie).to_bytes(4, "little") + trie + b"abc\0")
        for character in map(chr, range(1, 200)):
            for length, result in character_map_.prefixes(character * 3):
                assert 1 <= length <= 3
                assert "abc".endswith(result) or not result
