"""The automaton that is derived from pre-tokenizer patterns cuts every text as the patterns do."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from katapi.runtime.native.cuts import Cut, NotScannable, cuts_of
from katapi.runtime.native.scanning import scanning_of
from katapi.runtime.patterns.syntax import Dialect, PatternError
from katapi.runtime.tokenization import configuration as c
from tests.differential.texts import many_texts
from tests.field_patterns import LIVELY, TIKTOKEN
from tests.native.scanned import families, pieces, split
from tests.random_patterns import patterns, texts

_FAMILIES = families()


@pytest.mark.parametrize("cuts", _FAMILIES, ids=_FAMILIES.values())
def test_families(cuts: tuple[Cut, ...]) -> None:
    scanning = scanning_of(cuts)
    for text in islice(many_texts(Random(7), [" the", "'s", "\r\n", "中文", "don't", "１２３"]), 1500):
        assert pieces(scanning, text) == split(cuts, text)


@pytest.mark.parametrize("pattern", TIKTOKEN.values(), ids=TIKTOKEN)
@given(st.data())
def test_patterns_of_the_field(pattern: str, data: st.DataObject) -> None:
    cuts = ((pattern, "16.0"),)
    text = data.draw(texts())
    assert pieces(scanning_of(cuts), text) == split(cuts, text)


@given(patterns(), st.lists(texts(), min_size=1, max_size=4))
def test_any_pattern(pattern: str, some: list[str]) -> None:
    cuts = ((pattern, "16.0"),)
    try:
        scanning = scanning_of(cuts)
    except (NotScannable, PatternError, ValueError):
        assume(False)
        raise
    for text in some:
        assert pieces(scanning, text) == split(cuts, text)


_REPEATED = st.builds(
    "".join, st.tuples(st.sampled_from([r"\p{N}", "[a-d]", r"\s", "[一-龥]"]), st.sampled_from(["", "+", "{1,2}"]))
)


@given(st.lists(_REPEATED, min_size=1, max_size=3), patterns(), st.text(st.sampled_from(LIVELY), max_size=25))
def test_any_pattern_behind_repeated_classes(outer: list[str], pattern: str, text: str) -> None:
    cuts = tuple((one, "16.0") for one in [*outer, pattern])
    try:
        scanning = scanning_of(cuts)
    except (NotScannable, PatternError, ValueError):
        assume(False)
        raise
    assert pieces(scanning, text) == split(cuts, text)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"a(?=bc)", "looks ahead farther than one character"),
        (r"(?<=a)b", "looks back"),
        (r"a*", "matches the empty text"),
    ],
)
def test_what_is_not_scannable_says_why(pattern: str, why: str) -> None:
    with pytest.raises(NotScannable, match=why):
        scanning_of(((pattern, "16.0"),))


def test_pretokenizers_that_do_more_than_cut() -> None:
    unicode = c.UnicodeVersions()
    for stage, why in (
        (c.Metaspace("▁", c.PrependScheme.ALWAYS, True), "Metaspace is not a cut"),
        (c.ByteLevel(add_prefix_space=True, use_regex=True), "ByteLevel is not a cut"),
        (c.Split(c.Regex("a", Dialect.TIKTOKEN), c.Behaviour.REMOVED, True), "left out"),
        (c.Split(c.Regex("a", Dialect.TIKTOKEN), c.Behaviour.CONTIGUOUS, False), "treated as 'Contiguous'"),
    ):
        with pytest.raises(NotScannable, match=why):
            cuts_of((stage,), unicode)
    with pytest.raises(NotScannable, match="text is not cut"):
        cuts_of((), unicode)
