"""What is proven of a place in a text holds for all short texts, and what is not proven fails for one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import pytest

from katapi.derive.cuts import Cuts
from katapi.derive.runs import ANYTHING, ControlEdge, Head, Letters, Tail
from katapi.runtime.patterns import crossing
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.text import WHITE_SPACE
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT4 = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = [GPT2, GPT4, r"\p{N}{1,3}", r"a+|\n(?=a)", r"\s+(?=\S)|a\n", r"(?<=\n)a|\n+|1a", r"a(?!1)|1?"]
TAILS = [Tail(text, whole) for text in ("\n", "a\n", "<\n", "1", "a ") for whole in (True, False)]
NOT_SPACE = Letters(WHITE_SPACE, inverted=True)
HEADS = [
    ANYTHING,
    Head((NOT_SPACE,)),
    Head((Letters("<"),)),
    Head((Letters("a1"),)),
    Head((Letters(" "), NOT_SPACE)),
    Head((Letters("\r\n", inverted=True),)),
]
ALPHABET = "a1 \n\t<"
"""A character of each class that the patterns tell apart, where it matters here."""


def rules(pattern: str) -> c.TokenizerConfiguration:
    split = c.Split(c.Regex(pattern, Dialect.TIKTOKEN), c.Behaviour.ISOLATED, invert=False)
    return c.TokenizerConfiguration((), (split,), c.BytePairRanks(), c.Frame(), (c.DecodeBytes(),))


def texts(most: int) -> Iterable[str]:
    return ("".join(letters) for length in range(most + 1) for letters in product(ALPHABET, repeat=length))


def is_in(letters: Letters, character: str) -> bool:
    return (character in letters.characters) is not letters.inverted


def fits(head: Head, text: str) -> bool:
    return 0 < len(text) >= len(head.letters) and all(map(is_in, head.letters, text))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("tail", TAILS, ids=repr)
def test_a_place_is_always_cut_or_there_is_a_short_text_where_it_is_not(pattern: str, tail: Tail) -> None:
    cuts, split = Cuts(rules(pattern)), compile_pattern(pattern, unicode="16.0", dialect=Dialect.TIKTOKEN).split
    before = [tail.text] if tail.whole else [text + tail.text for text in texts(3)]
    for head in HEADS:
        behind = [text for text in texts(2) if fits(head, text)]
        alone = {text: split(text) for text in before}
        kept = all(split(text + more)[: len(pieces)] == pieces for text, pieces in alone.items() for more in behind)
        assert cuts.hold(tail, head) is kept, head


def test_what_stands_between_two_texts() -> None:
    cuts = Cuts(rules(GPT4))
    assert cuts.hold(ControlEdge(strips=True), ANYTHING)
    assert cuts.hold(Tail(" ", whole=True), ControlEdge(strips=False))
    assert not cuts.hold(Tail(" ", whole=True), ControlEdge(strips=True))
    assert cuts.hold(Tail("a", whole=False), ControlEdge(strips=True))
    assert cuts.hold(Tail("a", whole=False), None)


# ---- merges without a pattern

MERGES = [("\n", "\n"), ("▁", "a"), ("a", "\n"), ("a\n", "1")]
PLAIN = c.TokenizerConfiguration(
    (c.Replace(c.Verbatim(" "), "▁"),),
    (c.Split(c.Verbatim(" "), c.Behaviour.MERGED_WITH_PREVIOUS, invert=False),),
    c.BytePairMerges(over_bytes=False, byte_fallback=True, fuse_unknown=True),
    c.Frame(),
    (c.Fuse(),),
)


def merged() -> VocabularyData:
    """A vocabulary of single bytes, a few characters, and what some merges make of them."""
    texts = [
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "\n",
        "▁",
        "a",
        "1",
        *(left + right for left, right in MERGES),
    ]
    known = {text: token for token, text in enumerate(texts)}
    merges = merge_array((known[left], known[right], known[left + right]) for left, right in MERGES)
    return VocabularyData(Tokens.of([text.encode() for text in texts]), merges)


@pytest.mark.parametrize("tail", TAILS, ids=repr)
def test_two_characters_that_meet_in_no_merge_are_never_joined(tail: Tail) -> None:
    cuts, encode = Cuts(PLAIN, merged), build_tokenizer(PLAIN, merged()).encode
    before = [tail.text] if tail.whole else [text + tail.text for text in texts(2)]
    for head in HEADS:
        behind = [text for text in [*texts(2), "▁", "▁a"] if fits(head, text)]
        alone = {text: encode(text) for text in before}
        kept = all(encode(text + more)[: len(ids)] == ids for text, ids in alone.items() for more in behind)
        assert not cuts.hold(tail, head) or kept, head


@pytest.mark.parametrize(
    ("text", "letters", "holds"),
    [
        ("\n", Letters("a<"), True),
        ("\n", Letters("a\n"), False),
        ("\n", Letters("\n1", inverted=True), True),
        ("\n", Letters("\n", inverted=True), False),
        ("a", Letters("a"), True),
        # A space is written as a mark, and a mark is one already.
        (" ", Letters("a", inverted=True), True),
        (" ", Letters(" ", inverted=True), False),
        ("▁", Letters("a"), False),
        ("1", Letters(" ", inverted=True), True),
    ],
)
def test_which_characters_may_be_joined(text: str, letters: Letters, *, holds: bool) -> None:
    assert Cuts(PLAIN, merged).hold(Tail(text, whole=False), Head((letters,))) is holds


def test_by_scores_all_tokens_count() -> None:
    cuts = Cuts(replace(PLAIN, segmentation=c.BytePairScores(byte_fallback=True)), merged)
    assert cuts.hold(Tail("\n", whole=False), Head((Letters("a<"),)))
    assert not cuts.hold(Tail("\n", whole=False), Head((Letters("1"),)))
    assert not cuts.hold(Tail("\n", whole=False), ANYTHING)


OTHERWISE = c.BytePairMerges(over_bytes=False, byte_fallback=True)


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, normalizers=(c.Lowercase(),)),
        replace(PLAIN, normalizers=(c.Replace(c.Verbatim("\n"), "ab"),)),
        replace(PLAIN, pretokenizers=(c.Digits(individual=True),)),
        replace(PLAIN, segmentation=replace(OTHERWISE, word_suffix="</w>")),
        replace(PLAIN, segmentation=replace(OTHERWISE, ignore_merges=True)),
        replace(PLAIN, segmentation=replace(OTHERWISE, byte_fallback=False)),
        replace(PLAIN, segmentation=c.BytePairScores(byte_fallback=False)),
        replace(PLAIN, segmentation=c.LongestMatch()),
    ],
)
def test_of_other_rules_nothing_is_proven(other: c.TokenizerConfiguration) -> None:
    tail, head = Tail("\n", whole=True), Head((Letters("a<"),))
    assert Cuts(replace(PLAIN, segmentation=OTHERWISE), merged).hold(tail, head)
    assert not Cuts(PLAIN).hold(tail, head)
    assert not Cuts(other, merged).hold(tail, head)


@pytest.mark.parametrize(("byte", "holds"), [(b"\n", True), (b"b", False)])
def test_without_a_byte_characters_may_be_taken_together(byte: bytes, *, holds: bool) -> None:
    data = merged().hiding(byte)  # the token of a byte has its number as id
    assert Cuts(PLAIN, lambda: data).hold(Tail("\n", whole=True), Head((Letters("a<"),))) is holds


@pytest.mark.parametrize("most", [1, 8, 20, 60])
def test_where_too_much_would_have_to_be_looked_at_nothing_is_proven(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [(pattern, tail, head) for pattern in PATTERNS for tail in TAILS for head in HEADS]
    whole = [Cuts(rules(pattern)).hold(tail, head) for pattern, tail, head in asked]
    monkeypatch.setattr(crossing, "_MOST", most)
    some = [Cuts(rules(pattern)).hold(tail, head) for pattern, tail, head in asked]
    assert all(proven or not found for proven, found in zip(whole, some, strict=True))
    assert some.count(True) < whole.count(True)
