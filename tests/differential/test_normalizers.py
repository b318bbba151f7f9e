"""Every normalizer against that of tokenizers: over all characters, and over random sequences of those that matter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers as official

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.character_normalizers import Lowercase, bert_normalizer, nmt, strip_accents
from katapi.runtime.tokenization.charsmap import CharacterMap
from katapi.runtime.tokenization.matching import Verbatim
from katapi.runtime.tokenization.normal_forms import Nfc, Nfd, Nfkc, Nfkd
from katapi.runtime.tokenization.normalizers import InTurn, Prepend, Replace, ReplaceText, Strip
from katapi.runtime.tokenization.precompiled import Precompiled
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import CodePoints
from tests.charsmaps import character_map
from tests.examples import examples

Pair = tuple[Normalizer, Callable[[str], str]]


def members(*sets: CodePoints) -> list[str]:
    return [chr(c) for part in sets for first, last in part.ranges for c in range(first, last + 1)]


CANONICAL = tables.normalization("9.0")
COMPATIBLE = tables.compatibility("9.0")
GRAPHEMES = tables.graphemes("17.0")
WHITE_SPACE = "".join(members(tables.WHITE_SPACE))
# Keys of one and two characters, with neighbours that do and do not make one cluster with them.
CHARSMAP = character_map(
    {
        "a": "Z",
        "b": "",
        "é": "e",
        "\u0301": "^",
        "\u0903": "V",
        "क": "C",
        "\u094d": "L",
        "\u200d": "J",
        "가": "G",
        "\u1100": "1",
        "\u1161": "2",
        "\u11a8": "3",
        "\u0600": "P",
        "ab": "Q",
        "\u093c": "n",
        "😀": "S",
        "a\u0301": "á",
        "क\u094d": "cl",
        "Ａ": "A",
        "\r": " ",
        "\t": " ",
    }
)
JOINING = members(GRAPHEMES.extend, GRAPHEMES.spacing, GRAPHEMES.prepend, GRAPHEMES.leading, GRAPHEMES.vowel)
JOINING += members(GRAPHEMES.trailing, GRAPHEMES.linker, GRAPHEMES.consonant, GRAPHEMES.pictographic)
LIVELY = members(
    COMPATIBLE.movable,
    tables.normalization("16.0").unstable,
    tables.general_category("M", "9.0"),
    tables.general_category("P", "8.0"),
    tables.general_category("Cf", "8.0"),
)
LIVELY += map(chr, tables.lower_case("17.0").table)
TEXTS = st.text(
    st.sampled_from("ab é\t\r\nΣİ가각ᄀ中\u0301\u200d\U0001f1e6")
    | st.sampled_from(JOINING)
    | st.sampled_from(LIVELY)
    | st.characters(codec="utf-8"),
    max_size=12,
)


def bert(clean_text: bool, handle_chinese_chars: bool, strip: bool | None, lowercase: bool) -> Pair:
    ours = bert_normalizer(
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
        strip_accents=strip,
        lowercase=lowercase,
        white_space=tables.WHITE_SPACE,
        removed=(
            tables.general_category("Cc", "8.0"),
            tables.general_category("Cf", "8.0"),
            tables.general_category("Co", "8.0"),
        ),
        decomposition=CANONICAL,
        nonspacing=tables.general_category("Mn", "8.0"),
        lower_case=tables.lower_case("17.0"),
    )
    return ours, official.BertNormalizer(clean_text, handle_chinese_chars, strip, lowercase).normalize_str


PAIRS: dict[str, Pair] = {
    "nfc": (Nfc(CANONICAL), official.NFC().normalize_str),
    "nfd": (Nfd(CANONICAL), official.NFD().normalize_str),
    "nfkc": (Nfkc(COMPATIBLE), official.NFKC().normalize_str),
    "nfkd": (Nfkd(COMPATIBLE), official.NFKD().normalize_str),
    "lowercase": (Lowercase(tables.lower_case("17.0")), official.Lowercase().normalize_str),
    "strip accents": (strip_accents(tables.general_category("M", "9.0")), official.StripAccents().normalize_str),
    "nmt": (nmt(), official.Nmt().normalize_str),
    "strip": (Strip(WHITE_SPACE, left=True, right=True), official.Strip().normalize_str),
    "strip left": (Strip(WHITE_SPACE, left=True, right=False), official.Strip(True, False).normalize_str),
    "strip right": (Strip(WHITE_SPACE, left=False, right=True), official.Strip(False, True).normalize_str),
    "prepend": (Prepend("▁"), official.Prepend("▁").normalize_str),
    "replace": (ReplaceText("aa", "bac"), official.Replace("aa", "bac").normalize_str),
    "replace nothing": (Replace(Verbatim(""), "-"), official.Replace("", "-").normalize_str),
    "precompiled": (Precompiled(CharacterMap(CHARSMAP), GRAPHEMES), official.Precompiled(CHARSMAP).normalize_str),
    "sequence": (
        InTurn(Nfkd(COMPATIBLE), strip_accents(tables.general_category("M", "9.0")), ReplaceText(" ", "▁")),
        official.Sequence([official.NFKD(), official.StripAccents(), official.Replace(" ", "▁")]).normalize_str,
    ),
}
BERT = {repr(s): bert(*s) for s in product((False, True), (False, True), (None, False, True), (False, True))}
CASED, UNCASED = BERT["(True, True, None, False)"], BERT["(True, True, None, True)"]
SINGLE = {name: pair for name, pair in PAIRS.items() if name not in ("precompiled", "replace nothing", "sequence")}
CHARACTERS = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x110000))]


def beside_a_letter(characters: list[str]) -> str:
    """One text of all of them, each beside a letter that nothing changes."""
    return "q".join(characters)


@pytest.mark.parametrize(("ours", "expected"), [*SINGLE.values(), CASED, UNCASED], ids=[*SINGLE, "cased", "uncased"])
def test_all_characters(ours: Normalizer, expected: Callable[[str], str]) -> None:
    text = beside_a_letter(CHARACTERS)
    assert ours.normalize(text) == expected(text)


def test_which_characters_make_a_cluster_with_the_one_before() -> None:
    """A cluster below six bytes that begins with a key loses all else: so what joins a letter is seen to go."""
    ours, expected = PAIRS["precompiled"]
    text = beside_a_letter([f"a{character}" for character in CHARACTERS if character < "\U00012000"])
    assert ours.normalize(text) == expected(text)


@pytest.mark.parametrize(("ours", "expected"), PAIRS.values(), ids=PAIRS)
@examples(test=100, fuzz=2_000)
@given(text=TEXTS)
def test_random_sequences(ours: Normalizer, expected: Callable[[str], str], text: str) -> None:
    assert ours.normalize(text) == expected(text)
    assert ours.align(AlignedText.of(text)).text == expected(text)


@examples(test=300, fuzz=5_000)
@given(name=st.sampled_from([*BERT]), text=TEXTS)
def test_random_sequences_with_all_settings_of_bert(name: str, text: str) -> None:
    ours, expected = BERT[name]
    assert ours.normalize(text) == expected(text)
    assert ours.align(AlignedText.of(text)).text == expected(text)


@pytest.mark.parametrize("form", ["nfc", "nfd", "nfkc", "nfkd"])
def test_every_unstable_character_between_marks(form: str) -> None:
    """Marks of classes 1 and 240 move past it as its class says. Characters younger than the data are among them."""
    ours, expected = PAIRS[form]
    unstable = {*members(CANONICAL.unstable, tables.normalization("16.0").unstable)}
    text = "".join(f"a\u0345{character}\u0334" for character in sorted(unstable))
    assert ours.normalize(text) == expected(text)
