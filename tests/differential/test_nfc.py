"""NFC over Unicode 9.0 against the normalizer of tokenizers, whose data is of that version."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tokenizers.normalizers import NFC

from katapi.runtime.tokenization.normalizers import Nfc
from katapi.runtime.unicode import normalization_9_0, normalization_16_0
from katapi.runtime.unicode.codepoints import CodePoints

OFFICIAL = NFC().normalize_str
TABLE = normalization_9_0.TABLE
OURS = Nfc(TABLE).normalize


def _members(code_points: CodePoints) -> set[int]:
    return {c for first, last in code_points.ranges for c in range(first, last + 1)}


UNSTABLE = sorted(map(chr, _members(TABLE.unstable)))


def test_every_character_alone() -> None:
    text = ".".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert OURS(text).split(".") == OFFICIAL(text).split(".")


def test_every_unstable_character_between_marks() -> None:
    """Marks of classes 1 and 240 move past it as its class says. Characters younger than 9.0 are among them."""
    for code_point in sorted(_members(TABLE.unstable) | _members(normalization_16_0.TABLE.unstable)):
        text = f"a\u0345{chr(code_point)}\u0334"
        assert OURS(text) == OFFICIAL(text)


@given(st.text(st.sampled_from(UNSTABLE) | st.sampled_from("aeo가하ᄀऩ") | st.characters(), max_size=12))
def test_random_sequences(text: str) -> None:
    assert OURS(text) == OFFICIAL(text)
