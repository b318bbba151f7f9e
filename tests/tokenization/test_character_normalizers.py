"""The normalizers that need no normalization form: known texts, and that both forms of each agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.character_normalizers import Lowercase, bert_normalizer, nmt, strip_accents
from katapi.runtime.tokenization.matching import Expression
from katapi.runtime.tokenization.normalizers import (
    Append,
    InTurn,
    Prepend,
    Replace,
    ReplaceText,
    Strip,
)
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.unicode import classes_8_0, classes_9_0, classes_16_0, lower_case_17_0, normalization_9_0


def bert(*, lowercase: bool) -> Normalizer:
    return bert_normalizer(
        clean_text=True,
        handle_chinese_chars=True,
        strip_accents=None,
        lowercase=lowercase,
        white_space=classes_16_0.WS,
        removed=(classes_8_0.Cc, classes_8_0.Cf, classes_8_0.Co),
        decomposition=normalization_9_0.TABLE,
        nonspacing=classes_8_0.Mn,
        lower_case=lower_case_17_0.TABLE,
    )


CASES: list[tuple[Normalizer, str, str]] = [
    (Lowercase(lower_case_17_0.TABLE), "ABC ÀΣ İ 𐐀", "abc àσ i\u0307 𐐨"),
    (Lowercase(lower_case_17_0.TABLE), "plain", "plain"),
    (strip_accents(classes_9_0.M), "e\u0301é\u0903", "eé"),
    (nmt(), "a\x01\t\u200bb\x7f\ufffd", "a  b "),
    (bert(lowercase=True), "É\tÈ中\u200b\x85文x", "e e 中  文 x"),
    (bert(lowercase=False), "É\tÈ中\ufffd", "É È 中 "),
    (Prepend("▁"), "a", "▁a"),
    (Prepend("▁"), "", ""),
    (Append("▁"), "a", "a▁"),
    (Append("▁"), "", ""),
    (ReplaceText("aa", "b"), "aaaé", "baé"),
    (Replace(Expression(lambda planes: " +"), "▁"), "  a b", "▁a▁b"),
    (Replace(Expression(lambda planes: "(?=b)"), "-"), "bab", "-ba-b"),
    (Strip(" \n", left=True, right=False), " \n a ", "a "),
    (Strip(" \n", left=True, right=True), " \n ", ""),
    (InTurn(Prepend(" "), ReplaceText(" ", "▁")), "a b", "▁a▁b"),
]


@pytest.mark.parametrize(("normalizer", "text", "normalized"), CASES)
def test_known_texts(normalizer: Normalizer, text: str, normalized: str) -> None:
    assert normalizer.normalize(text) == normalized


@given(st.text(st.sampled_from("aAbB É\u0301中\t\x01İ") | st.characters(codec="utf-8"), max_size=12))
def test_the_aligned_form_gives_the_same_text(text: str) -> None:
    for normalizer, _, _ in CASES:
        assert normalizer.align(AlignedText.of(text)).text == normalizer.normalize(text)


def test_sources() -> None:
    aligned = bert(lowercase=True).align(AlignedText.of("\x01É中"))
    assert aligned.text == "e 中 "
    assert aligned.starts.tolist() == [1, 3, 3, 6]
    assert aligned.ends.tolist() == [3, 3, 6, 6]
