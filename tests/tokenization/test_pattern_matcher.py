"""The engines behind a pattern find the same matches, and none takes more than linear time."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.patterns.matcher import Matcher, compile_pattern
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.standard import attempts_are_linear
from katapi.runtime.patterns.syntax import Dialect, parse
from tests.examples import examples
from tests.field_patterns import LIVELY, TIKTOKEN, TOKENIZERS

OTHERS = {
    "look-behind": r"(?<=\d)[a-z]+|\b\w|\s+",
    "forks": r"(?:a|ab)(?:c|bcd)?(?:d*)|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+?(?=[a-z]|$)",
    "words": r"\w+|[^\w\s]+",
    "complements": r"[^\S\n]+|[\S\n]\P{L}|\D{2,}?[^\d\P{Lu}]",
    "empty": r"\d*(?=x)|$",
}
MATCHERS = {
    **{f"tokenizers {name}": (pattern, Dialect.TOKENIZERS) for name, pattern in TOKENIZERS.items()},
    **{f"tiktoken {name}": (pattern, Dialect.TIKTOKEN) for name, pattern in TIKTOKEN.items()},
    **{name: (pattern, Dialect.TIKTOKEN) for name, pattern in OTHERS.items()},
}
ASCII = "".join(filter(str.isascii, LIVELY))
BMP = "".join(character for character in LIVELY if character < "\U00010000")


def matcher_of(name: str) -> Matcher:
    pattern, dialect = MATCHERS[name]
    return compile_pattern(pattern, unicode="16.0", dialect=dialect)


@pytest.mark.parametrize("name", MATCHERS)
@examples(test=50, fuzz=500)
@given(
    text=st.sampled_from([ASCII, BMP, LIVELY]).flatmap(lambda characters: st.text(st.sampled_from(characters)))
    | st.text(max_size=40)
)
def test_short_texts(name: str, text: str) -> None:
    matcher = matcher_of(name)
    spans = list(matcher.spans_by_automaton(text))
    assert list(matcher.spans(text)) == spans
    assert all(first_end <= second for (_, first_end), (second, _) in pairwise(spans))
    cuts = sorted({0, len(text), *(place for span in spans for place in span)})
    assert matcher.split(text) == [text[start:end] for start, end in pairwise(cuts)]
    if matcher.total:
        assert [text[start:end] for start, end in spans] == matcher.split(text)


@pytest.mark.parametrize("name", MATCHERS)
@examples(test=10, fuzz=100)
@given(
    parts=st.lists(
        st.tuples(st.text(st.sampled_from(LIVELY), min_size=1, max_size=8), st.sampled_from([1, 2, 150, 600])),
        min_size=8,
        max_size=24,
    )
)
def test_long_texts(name: str, parts: list[tuple[str, int]]) -> None:
    """Texts of several blocks, with and without places at which they can be cut."""
    text = "".join(part * times for part, times in parts)
    matcher = matcher_of(name)
    spans = list(matcher.spans_by_automaton(text))
    assert list(matcher.spans(text)) == spans
    cuts = sorted({0, len(text), *(place for span in spans for place in span)})
    assert matcher.split(text) == [text[start:end] for start, end in pairwise(cuts)]


@pytest.mark.parametrize("name", ["tiktoken qwen2", "tiktoken o200k, llama4", "tokenizers bloom", "complements"])
def test_the_three_forms_for_the_standard_library(name: str) -> None:
    """The form over the BMP is made after some text; before, and beyond the BMP, the form over classes serves."""
    matcher = matcher_of(name)
    text = "".join(first + second for first in BMP for second in BMP)
    for _ in range(6):
        assert list(matcher.spans(text)) == list(matcher.spans_by_automaton(text))
        assert list(matcher.spans(text[::-1] + "👍")) == list(matcher.spans_by_automaton(text[::-1] + "👍"))


@pytest.mark.parametrize("name", ["tiktoken qwen2", "tiktoken kimi", "tokenizers deepseek-v3", "words"])
def test_every_character(name: str) -> None:
    """All of them in order, and each between two letters, by blocks and by the automaton."""
    everything = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x110000))]
    matcher = matcher_of(name)
    for text in ("".join(everything), "a".join(everything[: 1 << 17])):
        assert list(matcher.spans(text)) == list(matcher.spans_by_automaton(text))


UNITS = [
    "a",
    "A",
    "aB",
    "中",
    "9",
    "^",
    " ",
    "\n",
    " \n",
    "'s",
    "\u0301",
    "👍",
    " a",
    "\r\n\t",
    "a\n" * 300 + " " * 500,
]


@pytest.mark.parametrize("name", MATCHERS)
def test_time_is_linear(name: str) -> None:
    """Sixteen times the text may take at most sixty-four times as long; what is quadratic takes 256 times."""
    matcher = matcher_of(name)
    for unit in UNITS:
        for end in ("", "x", " "):
            short, long = (unit * (size // len(unit)) + end for size in (1 << 11, 1 << 15))
            matcher.split(short)
            assert _seconds(matcher, long) < 64 * _seconds(matcher, short) + 0.2


def _seconds(matcher: Matcher, text: str) -> float:
    start = time.process_time()
    matcher.split(text)
    return time.process_time() - start


@pytest.mark.parametrize("unit", ["a", "^", " ", "\n", "中", "ab \n"])
def test_a_million_characters(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    for name in ("tiktoken qwen2", "tokenizers deepseek-llm spaces"):
        assert "".join(matcher_of(name).split(text)) == text


@pytest.mark.parametrize(
    ("pattern", "linear"),
    [
        *((pattern, True) for name, pattern in TIKTOKEN.items()),
        (r"\s+$", True),
        (r"a*b*c*", True),
        (r"a*b*c", False),  # each of both may give back what it took
        (r"a+b(?:c|d+)e?", True),
        (r"a+b(?:c|d+)e", False),
        (r"(?:ab)+", False),
        (r"(?:ab+|c)d*", True),
        (r"a+(?=b{0,16}c)", True),
        (r"a+(?=b*c)", False),
    ],
)
def test_proof_that_an_attempt_is_linear(pattern: str, linear: bool) -> None:
    assert attempts_are_linear(parse(pattern, PROPERTIES)) is linear


@pytest.mark.parametrize(
    ("pattern", "total"),
    [
        (r"\s|\S", True),
        (r"\s+|\S+", True),
        (r"[a-z]+|[^a-z]", True),
        (r"(?:\p{L}|\P{L})", True),
        (r"[\p{Han}[a-z]]|[^\p{Han}a-z]", True),
        (r"x?\S|\s", True),
        (r"x?+\S|\s", False),  # a single x is taken by the first part and never given back
        (r"x?+[^x]|x", True),
        (r"\s|\S|", False),  # it matches the empty text, too
        (r"\S{2}|\s", False),
        (r"\S(?!a)|\s", False),
        (r"(?<!a)\S|\s", False),
        (r"\Sa|\s", False),
        (r"[^a]", False),
        (r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]", False),  # controls and unassigned characters are in none of them
        (r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{C}]", False),  # lone surrogates are in none of them
        (TIKTOKEN["qwen2"], True),
        (TIKTOKEN["qwen2"].removesuffix(r"|\s+"), False),
    ],
)
def test_proof_that_no_character_is_left_out(pattern: str, total: bool) -> None:
    assert compile_pattern(pattern, unicode="16.0").total is total


def test_lone_surrogates_are_characters_of_no_property() -> None:
    matcher = compile_pattern(r"\p{L}+", unicode="16.0")
    assert matcher.split("ab\udc80\udcffc") == ["ab", "\udc80\udcff", "c"]
    assert list(matcher.spans_by_automaton("ab\udc80\udcffc")) == [(0, 2), (4, 5)]
