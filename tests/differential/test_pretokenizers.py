"""Every pre-tokenizer against that of tokenizers: over all characters, and over random texts."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers import pre_tokenizers as official

from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.character_splits import bert_split, digits, punctuation, white_space_split
from katapi.runtime.tokenization.configuration import Behaviour, PrependScheme
from katapi.runtime.tokenization.matching import Matcher, Verbatim
from katapi.runtime.tokenization.pretokenizers import Chained, Metaspace, PrefixSpace, Split
from katapi.runtime.tokenization.stages import PreTokenizer
from katapi.runtime.unicode.tables import WHITE_SPACE, general_category
from tests.differential.test_qwen_bpe import byte_letters
from tests.examples import examples

WORDS = {
    Behaviour.REMOVED: "removed",
    Behaviour.ISOLATED: "isolated",
    Behaviour.MERGED_WITH_PREVIOUS: "merged_with_previous",
    Behaviour.MERGED_WITH_NEXT: "merged_with_next",
    Behaviour.CONTIGUOUS: "contiguous",
}
N, P = general_category("N", "17.0"), general_category("P", "8.0")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def regex(pattern: str) -> Matcher:
    return compile_pattern(pattern, unicode="16.0", dialect=Dialect.TOKENIZERS)


CLASSES: dict[str, tuple[PreTokenizer, official.PreTokenizer]] = {
    "white space": (white_space_split(WHITE_SPACE), official.WhitespaceSplit()),
    "bert": (bert_split(WHITE_SPACE, P), official.BertPreTokenizer()),
    "digits": (digits(N, individual=False), official.Digits(False)),
    "individual digits": (digits(N, individual=True), official.Digits(True)),
    "punctuation": (punctuation(P, Behaviour.ISOLATED), official.Punctuation("isolated")),
    "words": (
        Split(compile_pattern(r"\w+|[^\w\s]+", unicode="16.0"), Behaviour.REMOVED, invert=True),
        official.Whitespace(),
    ),
}
PAIRS = CLASSES | {"delimiter": (Split(Verbatim("a"), Behaviour.REMOVED), official.CharDelimiterSplit("a"))}
for behaviour, word in WORDS.items():
    PAIRS[f"punctuation {word}"] = punctuation(P, behaviour), official.Punctuation(word)
    for invert in (False, True):
        inverted = "not " if invert else ""
        PAIRS[f"at {inverted}spaces {word}"] = (
            Split(Verbatim(" "), behaviour, invert=invert),
            official.Split(" ", word, invert),
        )
        PAIRS[f"at {inverted}matches {word}"] = (
            Split(regex("[ab]|  +|(?=1)"), behaviour, invert=invert),
            official.Split(Regex("[ab]|  +|(?=1)"), word, invert),
        )
for scheme, split in product(PrependScheme, (False, True)):
    PAIRS[f"metaspace {scheme.value} {split}"] = (
        Metaspace("▁", scheme, split=split),
        official.Metaspace("▁", scheme.value, split),
    )
for scheme in PrependScheme:
    PAIRS[f"words, then metaspace {scheme.value}"] = (
        Chained(white_space_split(WHITE_SPACE), Metaspace("▁", scheme, split=True)),
        official.Sequence([official.WhitespaceSplit(), official.Metaspace("▁", scheme.value, True)]),
    )
PAIRS["metaspace, then punctuation"] = (
    Chained(Metaspace("▁", PrependScheme.FIRST, split=True), punctuation(P, Behaviour.CONTIGUOUS)),
    official.Sequence([official.Metaspace("▁", "first", True), official.Punctuation("contiguous")]),
)
TEXTS = st.text(st.sampled_from(" ab.,▁1٣²a中\n\t\xa0'é") | st.characters(codec="utf-8"), max_size=20)


def pieces(pretokenizer: official.PreTokenizer, text: str) -> list[str]:
    return [piece for piece, _ in pretokenizer.pre_tokenize_str(text)]


@pytest.mark.parametrize(("ours", "expected"), CLASSES.values(), ids=CLASSES)
def test_all_characters(ours: PreTokenizer, expected: official.PreTokenizer) -> None:
    """Those of the planes that hold any, each beside a letter."""
    text = "q".join(map(chr, [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]))
    assert ours.split(text, True) == pieces(expected, text)


@pytest.mark.parametrize(("ours", "expected"), PAIRS.values(), ids=PAIRS)
@examples(test=100, fuzz=2_000)
@given(text=TEXTS)
@example(text="")
def test_random_texts(ours: PreTokenizer, expected: official.PreTokenizer, text: str) -> None:
    assert ours.split(text, True) == pieces(expected, text)
    assert [piece.text for piece in ours.split_aligned(AlignedText.of(text), True)] == pieces(expected, text)


@pytest.mark.parametrize("prefix_space", [False, True])
@given(text=TEXTS)
def test_byte_level(prefix_space: bool, text: str) -> None:
    letters = byte_letters()
    cut = Split(regex(GPT2), Behaviour.ISOLATED)
    ours = Chained(PrefixSpace(), cut) if prefix_space else cut
    spelled = ["".join(letters[byte] for byte in piece.encode()) for piece in ours.split(text, True)]
    assert spelled == pieces(official.ByteLevel(prefix_space, True, True), text)
