"""Stretches of a text: the pieces of all of them are the pieces of the text."""

from __future__ import annotations

import time
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from katapi.runtime.patterns.matcher import Matcher, compile_pattern
from katapi.runtime.patterns.stretches import Stretches
from katapi.runtime.patterns.syntax import Dialect
from tests.examples import examples
from tests.field_patterns import LIVELY, TIKTOKEN, TOKENIZERS

PATTERNS = {
    **{f"tokenizers {name}": (pattern, Dialect.TOKENIZERS) for name, pattern in TOKENIZERS.items()},
    **{f"tiktoken {name}": (pattern, Dialect.TIKTOKEN) for name, pattern in TIKTOKEN.items()},
    "a space within": (r"\S+ ?|\s ?", Dialect.TIKTOKEN),  # nothing is safe
    "some letters go on": (r"[a-c]+ [A-C]+|\S+|\s", Dialect.TIKTOKEN),
    "looks far ahead": (r"a(?=b* c)|\S|\s+", Dialect.TIKTOKEN),
    "each by itself": (r"\S|\s", Dialect.TIKTOKEN),  # a space is safe behind a space, too
    "looks back": (r"(?<=\s)b|\S+|\s", Dialect.TIKTOKEN),
}
MATCHERS = {
    name: compile_pattern(pattern, unicode="16.0", dialect=dialect) for name, (pattern, dialect) in PATTERNS.items()
}
STRETCHING = {name: found for name, matcher in MATCHERS.items() if (found := matcher.stretches) is not None}

TEXTS = st.lists(
    st.sampled_from(
        [" ", " ", " ", "  ", "\n", " \n", "\t", "\r\n", "\u3000", "a", "b", "c", "A", "'s", "1", "!", "中"]
    )
    | st.sampled_from(LIVELY)
    | st.characters(exclude_categories=["Cs"]),
    max_size=30,
).map("".join)


def joined(stretches: Stretches, text: str) -> list[str]:
    first, others = stretches.cut(text)
    return [first, *(" " + other for other in others)]


@pytest.mark.parametrize("name", STRETCHING)
@examples(test=200, fuzz=3000)
@given(text=TEXTS)
@example(text=" ")
@example(text="a\n b")
@example(text="a\t  b")
@example(text="!\n\n  \n c  \n")
@example(text="abc ABC ab  c a b c")
def test_the_pieces_of_stretches_are_those_of_the_text(name: str, text: str) -> None:
    matcher: Matcher = MATCHERS[name]
    parts = joined(STRETCHING[name], text)
    assert "".join(parts) == text
    assert [*chain.from_iterable(map(matcher.split, parts))] == matcher.split(text)


def test_which_patterns_have_none() -> None:
    without = MATCHERS.keys() - STRETCHING.keys()
    assert {"a space within", "looks back"} <= without
    assert all(not MATCHERS[name].total for name in without - {"a space within", "looks back"})
    assert {f"tiktoken {name}" for name in TIKTOKEN} <= STRETCHING.keys()


def test_words_are_stretches() -> None:
    stretches = STRETCHING["tiktoken qwen2"]
    assert stretches.cut("Hello, big world!") == ("Hello,", ["big", "world!"])
    assert stretches.cut("  a  b\n  c ") == ("  a", [" b\n  c", ""])
    assert stretches.cut("") == ("", [])


def test_what_goes_on_behind_a_space_is_not_cut() -> None:
    assert STRETCHING["some letters go on"].cut("ab AB x y") == ("ab AB", ["x", "y"])
    assert STRETCHING["looks far ahead"].cut("abb cab x c") == ("abb cab x", ["c"])


@pytest.mark.parametrize("unit", ["a", " ", "\n", "\n ", " a", "a  ", "\t \n", "中"])
def test_time_is_linear(unit: str) -> None:
    """Sixteen times the text may take at most sixty-four times as long."""
    stretches = STRETCHING["tiktoken qwen2"]
    for end in ("", "x", "\n "):
        short, long = (unit * (size // len(unit)) + end for size in (1 << 14, 1 << 18))
        assert seconds(stretches, long) < 64 * seconds(stretches, short) + 0.2


def seconds(stretches: Stretches, text: str) -> float:
    start = time.process_time()
    stretches.cut(text)
    return time.process_time() - start
