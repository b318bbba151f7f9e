"""NFC over Unicode 9.0 against the normalizer of tokenizers, whose data is of that version."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from katapi.runtime.tokenization.normalizers import Nfc
from katapi.runtime.unicode import normalization_9_0
from tokenizers.normalizers import NFC

OFFICIAL = NFC().normalize_str
TABLE = normalization_9_0.TABLE
OURS = Nfc(TABLE).normalize
UNSTABLE = [chr(c) for first, last in TABLE.unstable.ranges for c in range(first, last + 1)]
EVERY = [*range(0xD800), *range(0xE000, 0x110000)]


def test_every_character_alone() -> None:
    assert [c for c in EVERY if OURS(chr(c)) != OFFICIAL(chr(c))] == []


def test_every_character_between_marks() -> None:
    """Two marks of classes 1 and 240 move past the character according to its class; a base in front may compose with it."""
    differing = []
    for code_point in EVERY:
        text = f"a\u0345{chr(code_point)}\u0334"
        if OURS(text) != OFFICIAL(text):
            differing.append(code_point)
    assert differing == []


@given(st.text(st.sampled_from(UNSTABLE) | st.sampled_from("aeo가하ᄀऩ") | st.characters(), max_size=12))
def test_random_sequences(text: str) -> None:
    assert OURS(text) == OFFICIAL(text)
