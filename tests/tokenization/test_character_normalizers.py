"""The normalizers that need no normalization form: known texts, and that both forms of each agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.character_normalizers import Lowercase, bert_normalizer, nmt, strip_accents
from katapi.runtime.tokenization.matching import Expression
from katapi.runtime.tokenization.normalizers import (
    InTurn,
    Prepend,
    Replace,
    ReplaceText,
    Strip,
)
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.unicode import tables


def bert(*, lowercase: bool) -> Normalizer:
    return bert_normalizer(
        clean_text=True,
        handle_chinese_chars=True,
        strip_accents=None,
        lowercase=lowercase,
        white_space=tables.WHITE_SPACE,
        removed=(
            tables.general_category("Cc", "8.0"),
            tables.general_category("Cf", "8.0"),
            tables.general_category("Co", "8.0"),
        ),
        decomposition=tables.normalization("9.0"),
        nonspacing=tables.general_category("Mn", "8.0"),
        lower_case=tables.lower_case("17.0"),
    )


CASES: list[tuple[Normalizer, str, str]] = [
    (Lowercase(tables.lower_case("17.0")), "ABC ÀΣ İ 𐐀", "abc àσ i\u0307 𐐨"),
    (Lowercase(tables.lower_case("17.0")), "plain", "plain"),
    (strip_accents(tables.general_category("M", "9.0")), "e\u0301é\u0903", "eé"),
    (nmt(), "a\x01\t\u200bb\x7f\ufffd", "a  b "),
    (bert(lowercase=True), "É\tÈ中\u200b\x85文x", "e e 中  文 x"),
    (bert(lowercase=False), "É\tÈ中\ufffd", "É È 中 "),
    (Prepend("▁"), "a", "▁a"),
    (Prepend("▁"), "", ""),
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
