"""The normalization forms over pinned data: against the standard library, and by their own laws."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.normal_forms import Nfc, Nfd, Nfkc, Nfkd
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import Planes

TABLE = tables.normalization("16.0")
COMPATIBLE = tables.compatibility("16.0")
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
WHOLE: dict[Form, Callable[[str], str]] = {
    "NFC": TABLE.nfc,
    "NFD": TABLE.nfd,
    "NFKC": COMPATIBLE.nfkc,
    "NFKD": COMPATIBLE.nfkd,
}
BY_CLUSTERS: dict[Form, Callable[[str], str]] = {
    "NFC": Nfc(TABLE).normalize,
    "NFD": Nfd(TABLE).normalize,
    "NFKC": Nfkc(COMPATIBLE).normalize,
    "NFKD": Nfkd(COMPATIBLE).normalize,
}
FAMILIES = [tables.general_category(family, "16.0") for family in "LMNPSZ"]
# Characters that both this Python and Unicode 16.0 assign: for these, every version of Unicode gives the same result.
COMMON = [
    chr(code_point)
    for family in FAMILIES
    for first, last in family.ranges
    for code_point in range(first, last + 1)
    if unicodedata.category(chr(code_point)) != "Cn"
]
UNSTABLE = re.compile(f"[{TABLE.unstable.within(Planes.ALL)}]")
LIVELY = [character for character in COMMON if unicodedata.normalize("NFKD", character) != character]
LIVELY += [character for character in COMMON if UNSTABLE.match(character)]
TEXTS = st.text(st.sampled_from(LIVELY) | st.sampled_from(COMMON), max_size=12)


@pytest.mark.parametrize("form", WHOLE)
def test_every_single_character(form: Form) -> None:
    assert [c for c in COMMON if WHOLE[form](c) != unicodedata.normalize(form, c)] == []


@pytest.mark.parametrize("form", WHOLE)
@given(text=TEXTS)
def test_sequences(form: Form, text: str) -> None:
    assert WHOLE[form](text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", WHOLE)
@given(text=TEXTS | st.text(max_size=12))
def test_cluster_by_cluster_is_the_same_as_all_at_once(form: Form, text: str) -> None:
    assert BY_CLUSTERS[form](text) == WHOLE[form](text)


def test_a_composite_that_composes_backwards() -> None:
    """Twelve characters since Unicode 16.0 decompose to one that composes with what stands before it."""
    assert BY_CLUSTERS["NFC"]("\U000113c2\U000113c5") == "\U000113c5\U000113c2"


@given(st.text(st.sampled_from(COMMON), max_size=12))
def test_text_without_unstable_characters_is_normalized_already(text: str) -> None:
    stable = UNSTABLE.sub("", text)
    assert TABLE.nfc(stable) == stable


@pytest.mark.parametrize("form", WHOLE)
@given(text=TEXTS)
def test_normalizing_twice_changes_nothing(form: Form, text: str) -> None:
    once = WHOLE[form](text)
    assert WHOLE[form](once) == once


@given(st.text(st.sampled_from(LIVELY), max_size=8), st.characters(codec="ascii"), st.text(max_size=8))
def test_a_stable_character_is_a_boundary(before: str, stable: str, after: str) -> None:
    assert TABLE.nfc(before + stable + after) == TABLE.nfc(before) + TABLE.nfc(stable + after)


def test_hangul_is_composed_by_arithmetic() -> None:
    assert TABLE.nfc("\u1112\u1161\u11ab") == "한"
    assert TABLE.nfc("하\u11ab") == "한"
    assert TABLE.nfc("한\u11ab") == "한\u11ab"
    assert TABLE.nfc("\u1112\u1161\u11a7") == "하\u11a7"  # the code point before the first trailing consonant


def test_marks_are_reordered_and_blocked() -> None:
    assert TABLE.nfc("a\u0301\u0323") == "ạ\u0301"
    assert TABLE.nfc("a\u0305\u0301") == "a\u0305\u0301"  # two marks of one class: the first blocks the second
    assert TABLE.nfc("\u0301a") == "\u0301a"


def test_composition_exclusions_stay_apart() -> None:
    assert TABLE.nfc("\u0958") == "\u0915\u093c"
    assert TABLE.nfc("\u0344") == "\u0308\u0301"
    assert TABLE.nfc("\u212b") == "Å"


def test_a_version_knows_no_younger_character() -> None:
    # U+0C3C is a nukta (combining class 7) since Unicode 14; before that it was unassigned, and moves past nothing.
    text = "\u0c15\u0334\u0c3c"
    assert tables.normalization("16.0").nfc("\u0c15\u0c3c\u0334") == text
    assert tables.normalization("9.0").nfc("\u0c15\u0c3c\u0334") == "\u0c15\u0c3c\u0334"


def test_a_version_takes_no_younger_character_apart() -> None:
    # U+1F16C, a sign of two letters, was assigned in Unicode 12.
    assert tables.compatibility("16.0").nfkd("\U0001f16c") == "MR"
    assert tables.compatibility("9.0").nfkd("\U0001f16c") == "\U0001f16c"


def test_a_long_run_of_marks_takes_no_quadratic_time() -> None:
    count = 100_000  # a method that goes back over the run for every mark would need 10^10 steps
    text = "a" + "\u0315\u0300\u05ae\u0301" * count
    above = "\u0301" + "\u0300\u0301" * (count - 1)
    assert TABLE.nfc(text) == "à" + "\u05ae" * count + above + "\u0315" * count
