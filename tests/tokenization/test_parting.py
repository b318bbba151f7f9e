"""Places at which a text can always be cut: where one is said to be, the parts have the ids of the whole."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from katapi.runtime.errors import KatapiError
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_segmenter, build_tokenizer
from katapi.runtime.tokenization.parting import Parting
from katapi.runtime.tokenization.stages import Merging
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array
from tests.examples import examples
from tests.random_tokenizers import Drawn, tokenizers

WORDS = ("<unk>", *"ab ▁1é中\u0301", "ab", "▁a", "11", *(f"<0x{byte:02X}>" for byte in range(256)))
MERGES = (("a", "b", "ab"), ("▁", "a", "▁a"), ("1", "1", "11"))
DATA = VocabularyData(
    Tokens.by_id(dict(enumerate(word.encode() for word in WORDS))),
    merges=merge_array([(WORDS.index(a), WORDS.index(b), WORDS.index(ab)) for a, b, ab in MERGES]),
)
MERGED = c.BytePairMerges(over_bytes=False, byte_fallback=True)
NFC = c.Normalize(c.NormalForm.NFC)
Normalizing: TypeAlias = c.Normalize | c.Replace | c.Prepend | c.Lowercase
Cutting: TypeAlias = c.Split | c.ByteLevel | c.Metaspace | c.Digits | c.Whitespace
ALPHABET = "ab 1e\u0301"


def rules(*stages: Normalizing | Cutting, segmentation: c.Segmentation = MERGED) -> c.TokenizerConfiguration:
    """A tokenizer of some stages, normalizers first."""
    normalizers = tuple(one for one in stages if isinstance(one, Normalizing))
    cutting = tuple(one for one in stages if isinstance(one, Cutting))
    return c.TokenizerConfiguration(normalizers, cutting, segmentation, c.Frame(), (c.Fuse(),), unknown=0)


def parting(configuration: c.TokenizerConfiguration, data: VocabularyData = DATA) -> Parting:
    """What is known of a tokenizer."""
    segmenter = build_segmenter(configuration.segmentation, data, unknown=configuration.unknown)
    return Parting(configuration, segmenter.seams if isinstance(segmenter, Merging) else None)


def split(pattern: str, behaviour: c.Behaviour = c.Behaviour.ISOLATED, *, invert: bool = False) -> c.Split:
    """The stage that cuts at a pattern."""
    return c.Split(c.Regex(pattern, Dialect.TOKENIZERS), behaviour, invert)


def texts(most: int) -> Iterable[str]:
    return ("".join(letters) for length in range(most + 1) for letters in product(ALPHABET, repeat=length))


def replaced(old: str, content: str) -> c.Replace:
    return c.Replace(c.Verbatim(old), content)


WORD = split(r"\s+|\S+")
AHEAD = split(r"\p{N}(?!b)")
KNOWN: list[tuple[c.TokenizerConfiguration, str]] = [
    (rules(), "bb|aa| a|b1"),
    (
        rules(NFC),
        "aa|ba|中a|a中|a\u02ff|a\u3000|a\u3029|a\u3030|a\u3098|a\u3400|a\u4dbf|a\u9fff|a\uff01|a\uff9d",
    ),
    (rules(replaced(" ", "▁")), "ba|b |1 "),
    (rules(replaced("b", "1")), "ab|ba"),
    (rules(c.Prepend("a")), "ba"),
    (rules(c.Split(c.Verbatim("1"), c.Behaviour.ISOLATED, invert=False)), "ba|b "),
    (rules(c.Metaspace("▁", c.PrependScheme.FIRST, split=False)), "b |ba"),
    (rules(c.Metaspace("▁", c.PrependScheme.NEVER, split=False)), "b |ba"),
    (rules(c.Digits(individual=True)), "ba|b "),
    (rules(c.Digits(individual=False)), "ba|b "),
    (rules(WORD), "b |1 |a | b| a"),
    (rules(WORD, segmentation=c.LongestMatch()), "b | a"),
    (rules(split(r"\p{N}{1,3}")), "ba|1a|a1"),
    (rules(split(r"\p{N}{1,3}", c.Behaviour.REMOVED)), "ba|1a|a1"),
    (rules(split(r"1"), split(r"\s")), "ba|b |a "),
    (rules(split(r"1"), c.Digits(individual=True)), "ba|a1"),
]
"""Tokenizers, with pairs of characters between which a text can always be cut."""
UNKNOWN: list[tuple[c.TokenizerConfiguration, str]] = [
    (rules(), "ab|▁a|11"),
    (rules(NFC), "a\u0301|a\u0300|a\u302a|a\u302f|a\u3099|a\u33ff|a\u4dc0|a\ua000|a\uff00|a\uff9e"),
    (rules(c.Normalize(c.NormalForm.NFD)), "a\u0301"),
    (rules(replaced(" ", "▁")), " a|ab"),
    (rules(replaced("ab", "1")), "ba"),
    (rules(replaced("1", "ab")), "ba"),
    (rules(c.Replace(c.Regex("1", Dialect.TOKENIZERS), "b")), "ba"),
    (rules(replaced("b", "a"), replaced("1", "b")), "b1"),
    (rules(c.Lowercase()), "ba"),
    (rules(c.Split(c.Verbatim("1"), c.Behaviour.ISOLATED, invert=False)), "b1|1b|1a"),
    (rules(c.Split(c.Verbatim("ba"), c.Behaviour.ISOLATED, invert=False)), "ba|a "),
    (rules(c.Metaspace("▁", c.PrependScheme.FIRST, split=False)), " a|ab"),
    (rules(c.Metaspace("▁", c.PrependScheme.FIRST, split=True)), "b "),
    (rules(c.Metaspace("▁", c.PrependScheme.ALWAYS, split=False)), "ba"),
    (rules(c.Digits(individual=True)), "b1|1b|11|ab"),
    (rules(c.Whitespace()), "b "),
    (rules(WORD), "ba|ab|  |11"),
    (rules(split(r"\s+|\S+", c.Behaviour.MERGED_WITH_PREVIOUS)), "b "),
    (rules(split(r"\p{N}{1,3}")), "ab|11"),
    (rules(split(r"\p{N}{1,3}"), segmentation=c.LongestMatch()), "ba"),
    (rules(AHEAD), "ba|ab"),
    (rules(split(r"(?<=b)a")), "1 "),
    (rules(split(r"\s\S")), "b1|1 "),
    (rules(split(r"1"), c.Digits(individual=True), segmentation=c.LongestMatch()), "ba"),
    (rules(c.ByteLevel(add_prefix_space=True, use_regex=True)), "b "),
    (rules(c.ByteLevel(add_prefix_space=True, use_regex=False)), "ba"),
]
"""Tokenizers, with pairs of which that is not known."""


@pytest.mark.parametrize(("configuration", "pairs"), KNOWN)
def test_what_is_cut_has_the_ids_of_the_whole(configuration: c.TokenizerConfiguration, pairs: str) -> None:
    known, tokenizer = parting(configuration), build_tokenizer(configuration, DATA)
    for before, behind in map(tuple, pairs.split("|")):
        assert known.between(before, behind), (before, behind)
        assert known.between(before, behind), "the answer is remembered"
        for left, right in product(map("".join, texts(2)), repeat=2):
            text, rest = left + before, behind + right
            assert tokenizer.encode(text + rest) == tokenizer.encode(text) + tokenizer.encode_part(rest)


@pytest.mark.parametrize(("configuration", "pairs"), UNKNOWN)
def test_where_nothing_is_known_nothing_is_cut(configuration: c.TokenizerConfiguration, pairs: str) -> None:
    known = parting(configuration)
    for before, behind in map(tuple, pairs.split("|")):
        assert not known.between(before, behind), (before, behind)


@pytest.mark.parametrize("use_regex", [True, False])
def test_the_letters_of_bytes_are_cut_as_their_pattern_cuts(use_regex: bool) -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    data = VocabularyData(Tokens.by_id(dict(enumerate([*tokens, b"ab", b" a"]))), merges=merge_array([]))
    stage = c.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    configuration = rules(stage, segmentation=c.BytePairMerges(over_bytes=True))
    assert parting(configuration, data).between("b", " ") is use_regex


@settings(examples(60, 2000), suppress_health_check=[*HealthCheck])
@given(tokenizers(), st.data())
def test_any_tokenizer_can_be_cut_where_that_is_known(drawn: Drawn, data: st.DataObject) -> None:
    try:
        tokenizer = build_tokenizer(drawn.configuration, drawn.data)
    except KatapiError:
        reject()
    some = st.text("ab▁ é中1.\n\u0301", max_size=8)
    text = data.draw(some)
    found = None if tokenizer._parting is None else tokenizer._parting.ends(text)
    if found is None:
        return
    before, behind = data.draw(some), data.draw(some)
    for at in found:
        left, right = before + text[:at], text[at:] + behind
        try:
            whole = tokenizer.encode(left + right)
        except KatapiError:
            continue
        assert whole == tokenizer.encode(left) + tokenizer.encode_part(right)


# ---- the first and the last place of a text


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", None),
        ("a", None),
        ("   ", None),
        ("ab", None),
        ("ab cd", (2, 3)),
        ("ab cd ef", (2, 5)),
        ("  ab cd ef  ", (4, 7)),
        ("  ab  ", None),
        (" ab", None),
        ("ab\ncd", (2, 3)),
        ("ab  cd", (2, 4)),
        ("a b", (1, 2)),
        ("a1b cd", (3, 4)),  # one before a space comes first
        ("a1b cd1", (3, 6)),
        ("a1" * 15 + "a b", (31, 32)),
        ("a1" * 16 + "a b", (1, 33)),
        ("a" * 511 + " b", (511, 512)),
        ("a" * 512 + " b", (512, 513)),
        ("a" * 513 + " b", None),
        ("a " + "b" * 511, (1, 2)),
        ("a " + "b" * 512, (1, 1)),
        ("a b" + "c" * 600, (1, 1)),
        (" " * 511 + "a b", (512, 513)),
        (" " * 512 + "a b", None),
        ("a b" + " " * 511, (1, 2)),
        ("a b" + " " * 512, None),
    ],
)
def test_the_places_near_the_ends(text: str, places: tuple[int, int] | None) -> None:
    known = parting(rules(split(r"\s+|\p{N}+|[^\s\p{N}]+")))
    assert known.ends(text) == places
