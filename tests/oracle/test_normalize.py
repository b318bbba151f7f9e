"""The oracle's form C, and which parts of a text it says have changed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.oracle.normalize import Part, forms, parts

VERSIONS = ("9.0", "16.0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301", "é"),
        ("a\u0301\u0323", "ạ\u0301"),
        ("\u1100\u1161\u11a8", "각"),
        ("가\u11a8", "각"),
        ("\u212b", "Å"),
        ("\u0958", "\u0915\u093c"),
        ("\u0344", "\u0308\u0301"),
        ("e\u0327\u0301", "ȩ\u0301"),
        ("a\u0300\u0300", "à\u0300"),
        ("a\u0305\u0301", "a\u0305\u0301"),
        ("\U0001d15e", "\U0001d157\U0001d165"),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_form_c(version: str, text: str, expected: str) -> None:
    assert forms(version).composed(text) == expected
    assert unicodedata.normalize("NFC", text) == expected


def test_versions_differ_in_what_they_compose() -> None:
    text = "\U000113c2\U000113c5"  # since 16.0, the second is the first, twice
    assert forms("9.0").composed(text) == text
    assert forms("16.0").composed(text) == "\U000113c5\U000113c2"


def test_only_the_middle_of_a_cluster_changes() -> None:
    assert parts("aq\u0301\u0323e\u0301b", "9.0") == [
        Part("a", "a"),
        Part("q", "q"),
        Part("\u0301\u0323", "\u0323\u0301"),
        Part("e\u0301", "é"),
        Part("b", "b"),
    ]


def test_a_cluster_that_stays_falls_into_characters() -> None:
    assert parts("\n\u0301", "9.0") == [Part("\n", "\n"), Part("\u0301", "\u0301")]


_CHARACTERS = st.sampled_from(
    "aeq \n\u0301\u0323\u0327\u031b\u0344\u0958é각가\u1100\u1161\u11a8\u212b\u1e69\u0f73\u3099か"
)


@given(st.text(_CHARACTERS | st.characters(exclude_categories=["Cs"]), max_size=12))
def test_the_parts_make_up_both_texts(text: str) -> None:
    for version in VERSIONS:
        found = parts(text, version)
        assert "".join(part.source for part in found) == text
        assert "".join(part.normalized for part in found) == forms(version).composed(text)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@given(text=st.text(_CHARACTERS | st.characters(exclude_categories=["Cs"]), max_size=12))
def test_a_text_falls_apart_before_what_reaches_no_further_back(form: str, text: str) -> None:
    data = forms("9.0", compatible="K" in form)
    whole = data.composed if form.endswith("C") else data.taken_apart
    for place, character in enumerate(text):
        if not (data.joins(character) if form.endswith("C") else data.moves(character)):
            assert whole(text[:place]) + whole(text[place:]) == whole(text)
