"""Patterns against the engines of the field: the same matches, for all of their patterns and for every character."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiktoken import Encoding
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from katapi.runtime.patterns.matcher import Matcher, compile_pattern
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.unicode.tables import script
from tests.examples import examples
from tests.field_patterns import LIVELY, TIKTOKEN, TOKENIZERS

ALL_PATTERNS = {
    **TOKENIZERS,
    "case": r"(?i:k+|[a-d]x|s\d?)",
    "complements": r"[^\S\n]+|[\S\n]\P{L}|\D{2,9}?[^\d\P{Lu}]",
    "look-ahead": r"\p{L}+(?=\d)|a(?!b|c)|\s+(?=\n+\S)",
    "look-behind": r"(?<=\d)\p{L}+|(?<![\sx])x|\b.\B",
    "lines": r"^\s|\p{L}+$|^.{2}|\n^",
    "repeats": r"\p{N}{1,3}+\p{L}|a{2}?b|x{1,2}?|(?:ab){,2}c|m??s|t*?r",
    "forks": r"(?:a|ab)(?:b|bcd)?(?:d*)|[A-Z]+(?![a-z])|[A-Z]?[a-z]+",
    "sets": r"[\w&&[^\d_]]+|[^\s&&[^\n]]{2}|[a-c[x-z]&&[b-y]]|[^\p{L}&&\p{Han}]",
    "words": r"\w+|[^\w\s]+",
    "empty": r"(?=\p{Lu})|\d*",
}
EVERY_CHARACTER = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
ASSIGNED = EVERY_CHARACTER.translate(dict.fromkeys([*range(0x32400, 0xE0000), *range(0xE0200, 0x10FFF0)]))
"""All planes without most of what lies in the empty and the private ones."""
TEXTS = (
    st.text(st.sampled_from(LIVELY), max_size=40)
    | st.lists(st.sampled_from(LIVELY), min_size=2, max_size=3).flatmap(lambda few: st.text(st.sampled_from(few)))
    | st.text(st.sampled_from(LIVELY) | st.characters(exclude_categories=["Cs"]), max_size=40)
)


@cache
def official(pattern: str, *, invert: bool) -> Split:
    return Split(Regex(pattern), "removed" if invert else "isolated", invert=invert)


def ours(pattern: str) -> Matcher:
    return compile_pattern(pattern, unicode="16.0", dialect=Dialect.TOKENIZERS)


def check(pattern: str, text: str) -> None:
    pieces = [piece for piece, _ in official(pattern, invert=False).pre_tokenize_str(text)]
    assert ours(pattern).split(text) == pieces
    matches = [span for _, span in official(pattern, invert=True).pre_tokenize_str(text)]
    assert [(start, end) for start, end in ours(pattern).spans(text) if start < end] == matches
    assert [(start, end) for start, end in ours(pattern).spans_by_automaton(text) if start < end] == matches


@examples(test=40, fuzz=1_000)
@pytest.mark.parametrize("name", ALL_PATTERNS)
@given(text=TEXTS)
def test_tokenizers(name: str, text: str) -> None:
    check(ALL_PATTERNS[name], text)


@pytest.mark.parametrize("name", [*TOKENIZERS][::3])  # a pass over all characters takes seconds
def test_tokenizers_over_every_character(name: str) -> None:
    """In order, and some of each block behind a space and before a letter."""
    for text in (ASSIGNED, "".join(f" {character}a" for character in ASSIGNED[::37])):
        pieces = [piece for piece, _ in official(TOKENIZERS[name], invert=False).pre_tokenize_str(text)]
        assert ours(TOKENIZERS[name]).split(text) == pieces


CATEGORIES = [name for name in sorted({*PROPERTIES.values()}) if len(name) <= 2 and name != "WS"]
SCRIPTS = [name for name in sorted({*PROPERTIES.values()}) if len(name) > 2 and script(name, "16.0").ranges]


@pytest.mark.parametrize(
    "pattern",
    [
        "|".join(rf"\p{{{name}}}+" for name in CATEGORIES if len(name) == 1),
        "|".join(rf"\p{{{name}}}+" for name in CATEGORIES if len(name) == 2),
        "|".join(rf"\p{{{name}}}+" for name in SCRIPTS),
        r"\s+|\d+",
        r"\w+",
        r"[\w]+",
        r"[^\W]+",
    ],
)
def test_members_of_sets(pattern: str) -> None:
    """Runs of members of one set, and what lies between them, over all characters in order."""
    pieces = [piece for piece, _ in official(pattern, invert=False).pre_tokenize_str(EVERY_CHARACTER)]
    assert ours(pattern).split(EVERY_CHARACTER) == pieces


@cache
def bytes_with(pattern: str) -> Encoding:
    """An encoding whose tokens are single bytes. It drops what lies between matches, so ids are the matched text."""
    return Encoding("bytes", pat_str=pattern, mergeable_ranks={bytes([n]): n for n in range(256)}, special_tokens={})


def matched_text(pattern: str, text: str) -> tuple[str, str]:
    spans = compile_pattern(pattern, unicode="16.0").spans(text)
    return "".join(text[start:end] for start, end in spans), bytes(bytes_with(pattern).encode_ordinary(text)).decode()


@pytest.mark.parametrize(
    "pattern",
    [
        *[*TIKTOKEN.values()][::3],
        *(rf"\p{{{name}}}" for name in ("L", "M", "N", "P", "C", "Han", "Common")),
        *(r"\s", r"\d", r"\w", r"\W", r"[^\w]", r"\b.", r"(?i:[a-z])", r"[\w&&[^\p{Han}]]"),
    ],
)
def test_tiktoken_over_every_character(pattern: str) -> None:
    matched, official_text = matched_text(pattern, ASSIGNED)
    assert matched == official_text


@examples(test=20, fuzz=500)
@pytest.mark.parametrize("name", TIKTOKEN)
@given(text=TEXTS)
def test_ends_of_matches_in_tiktoken(name: str, text: str) -> None:
    """Every alternative is asked for on its own, so that what it leaves out shows where its matches end."""
    for alternative in TIKTOKEN[name].split("|\\"):
        pattern = alternative if alternative is TIKTOKEN[name] or alternative[0] in "'[(" else f"\\{alternative}"
        matched, official_text = matched_text(pattern, text)
        assert matched == official_text
