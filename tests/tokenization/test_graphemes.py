"""Grapheme clusters: one example of each rule of Unicode Standard Annex #29, and laws."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.unicode.codepoints import CodePoints
from katapi.runtime.unicode.tables import graphemes

TABLE = graphemes("17.0")


RULES: list[list[str]] = [
    [],
    ["a", "b"],
    ["\r\n", "\r", "a", "\n"],  # GB3
    ["\t", "\u0301", "a"],  # GB4: nothing joins a control
    ["ᄀᄀ", "a"],  # GB6
    ["ᄀ가ᅡᆨᆨ"],  # GB6 to GB8
    ["각ᆨ", "ᅡ"],  # GB8: no vowel behind a trailing consonant
    ["가", "ᄀ"],
    ["a\u0301\u200d\u0327", "b"],  # GB9
    ["a\u0903", "b"],  # GB9a
    ["\u0600\u0600a", "\u0600"],  # GB9b
    ["\u0600", "\n"],
    ["\u0915\u094d\u0937", "\u0915"],  # GB9c: consonant, linker, consonant
    ["\u0915\u093c\u094d\u200d\u0937"],
    ["\u0915\u093c", "\u0937"],  # no linker
    ["a\u094d", "\u0937"],  # no consonant in front
    ["\U0001f468\u200d\U0001f469\u0301\u200d\U0001f466", "\U0001f466"],  # GB11
    ["a\u200d", "\U0001f466"],
    ["\U0001f1e6\U0001f1e7", "\U0001f1e6\U0001f1e7", "\U0001f1e6"],  # GB12, GB13
    ["\U0001f1e6\u0301", "\U0001f1e6"],
]


@pytest.mark.parametrize("clusters", RULES)
def test_rules(clusters: list[str]) -> None:
    assert TABLE.clusters("".join(clusters)) == clusters


LIVELY = "a\r\n\tᄀ가각ᅡᆨ\u0301\u200d\u0903\u0600\u0915\u094d\u093c👨🇦🇧中"
TEXTS = st.text(st.sampled_from(LIVELY) | st.characters(codec="utf-8"))


@given(TEXTS)
def test_joined_clusters_are_the_text(text: str) -> None:
    clusters = TABLE.clusters(text)
    assert "".join(clusters) == text
    assert all(clusters)


@given(TEXTS)
def test_the_quick_look_is_right_where_it_says_yes(text: str) -> None:
    if TABLE.are_characters(text):
        assert TABLE.clusters(text) == list(text)


@given(st.text(st.sampled_from(LIVELY), max_size=40))
def test_a_cluster_ends_where_no_tie_holds(text: str) -> None:
    assert_ends_where_no_tie_holds(text)


@pytest.mark.parametrize("clusters", RULES)
def test_a_tie_holds_within_a_cluster(clusters: list[str]) -> None:
    assert_ends_where_no_tie_holds("".join(clusters))


def assert_ends_where_no_tie_holds(text: str) -> None:
    """Fails where a cluster holds two neighbours that no tie holds together."""
    cuts = [place for place in range(1, len(text)) if not are_tied(text[place - 1], text[place])]
    parts = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    assert [cluster for part in parts for cluster in TABLE.clusters(part)] == TABLE.clusters(text)


def are_tied(first: str, second: str) -> bool:
    """Whether a tie holds two neighbours."""

    def holds(members: CodePoints | None, character: str) -> bool:
        return members is None or bool(members.between(ord(character), ord(character)))

    return any(holds(before, first) and holds(behind, second) for before, behind in TABLE.ties)


@pytest.mark.parametrize(
    "unit", ["a", "\u0301", "ᄀ", "\u0600", "🇦", "👨\u200d", "\u0915\u094d", "\u094d", "\r\n", "👨\u0301"]
)
def test_long_runs_take_no_quadratic_time(unit: str) -> None:
    assert "".join(TABLE.clusters(unit * 100_000)) == unit * 100_000
