"""The matchers of the runtime against the oracle's, which backtracks: random patterns, and those of the field."""

from __future__ import annotations

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from katapi.oracle import regex
from katapi.runtime.patterns.matcher import Matcher, compile_pattern
from katapi.runtime.patterns.syntax import Dialect, PatternError
from tests.examples import examples
from tests.field_patterns import TIKTOKEN, TOKENIZERS
from tests.random_patterns import patterns, texts

FIELD = [(Dialect.TOKENIZERS, source) for source in TOKENIZERS.values()]
FIELD += [(Dialect.TIKTOKEN, source) for source in TIKTOKEN.values()]


def check(matcher: Matcher, source: str, dialect: Dialect, text: str) -> None:
    """The forms for `re` and the automaton find what the oracle finds."""
    expected = regex.spans(source, "16.0", text, dialect)
    assert list(matcher.spans(text)) == expected
    assert list(matcher.spans_by_automaton(text)) == expected
    assert matcher.split(text) == regex.split(source, "16.0", text, dialect)


@examples(test=400, fuzz=5_000)
@given(source=patterns(), dialect=st.sampled_from(Dialect), some=st.lists(texts(), min_size=1, max_size=4))
def test_random_patterns(source: str, dialect: Dialect, some: list[str]) -> None:
    try:
        matcher = compile_pattern(source, unicode="16.0", dialect=dialect)
    except PatternError:
        reject()
    for text in some:
        check(matcher, source, dialect, text)


@examples(test=25, fuzz=500)
@pytest.mark.parametrize(("dialect", "source"), FIELD)
@given(text=texts(longest=60))
def test_patterns_of_the_field(dialect: Dialect, source: str, text: str) -> None:
    check(compile_pattern(source, unicode="16.0", dialect=dialect), source, dialect, text)
