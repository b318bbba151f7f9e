"""Translated patterns against the regular expressions of tokenizers: the same pieces, for the patterns of the field."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from katapi.emit.pattern import CLASS_NAMES
from katapi.runtime.tokenization.stages import PreTokenizer

PATTERNS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "o200k": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "deepseek": (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "deepseek numbers": r"\p{N}{1,3}",
    "deepseek cjk": r"[一-龥぀-ゟ゠-ヿ]+",
    "case": r"(?i:k+|[a-d]x|s\d?)",
    "complements": r"[^\S\n]+|[\S\n]\P{L}|\D{2,}?[^\d\P{Lu}]",
    "look-ahead": r"\p{L}+(?=\d)|a(?!b|c)",
}
LIVELY = (
    "aAbBcCdDkKsSxXeErRtTlLvVmM'0123²Ⅷ१ \xa0\u3000\u0085\t\r\n/.,-_^$+<|>`~é\u017f\u212aǅʰª中ゐ한"
    "\u0301\u0903\u20dd👍🏽\u200d𝟙𐐀𝒜\u0378"
)


@pytest.mark.parametrize("name", PATTERNS)
@given(text=st.text(st.sampled_from(LIVELY) | st.characters(codec="utf-8"), max_size=40))
def test_pieces(name: str, text: str, declared_split: Callable[[str], PreTokenizer]) -> None:
    ours, official = splits(name, declared_split)
    assert ours.split(text, True) == [piece for piece, _ in official.pre_tokenize_str(text)]


_SPLITS: dict[str, tuple[PreTokenizer, Split]] = {}


def splits(name: str, declared_split: Callable[[str], PreTokenizer]) -> tuple[PreTokenizer, Split]:
    if name not in _SPLITS:
        _SPLITS[name] = declared_split(PATTERNS[name]), Split(Regex(PATTERNS[name]), "isolated")
    return _SPLITS[name]


@pytest.mark.parametrize(
    "pattern",
    [
        "|".join(rf"\p{{{name}}}+" for name in CLASS_NAMES if len(name) == 1),
        "|".join(rf"\p{{{name}}}+" for name in CLASS_NAMES if len(name) == 2 and name != "WS"),
        r"\s+",
    ],
)
def test_members_of_classes(pattern: str, declared_split: Callable[[str], PreTokenizer]) -> None:
    """Over the text of all characters in order: runs of members of one class, and what lies between them."""
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    official = Split(Regex(pattern), "isolated").pre_tokenize_str(text)
    assert declared_split(pattern).split(text, True) == [piece for piece, _ in official]
