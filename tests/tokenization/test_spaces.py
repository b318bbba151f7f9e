"""SentencePiece's spaces: both forms, and the case of a space that nothing came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.spaces import Spaces


@pytest.mark.parametrize(
    ("settings", "text", "expected"),
    [
        ((True, False, "▁", False), " a  b ", "▁▁a▁▁b▁"),
        ((True, True, "▁", False), " a  b ", "▁a▁b"),
        ((True, True, "▁", False), "   ", ""),
        ((True, True, "▁", False), "▁", ""),  # the library takes marks of the text for spaces at the end
        ((True, True, "▁", True), " a  b ", "a▁b▁"),
        ((False, True, "▁", False), " a  b ", "a▁b"),
        ((True, False, " ", False), "a b", " a b"),
        ((True, False, "▁", False), "", "▁"),  # what a character map left of a text
        ((True, True, "▁", False), "", ""),
    ],
)
def test_texts(settings: tuple[bool, bool, str, bool], text: str, expected: str) -> None:
    dummy, remove_extra, mark, behind = settings
    spaces = Spaces(dummy=dummy, remove_extra=remove_extra, mark=mark, behind=behind)
    assert spaces.normalize(text) == expected


@given(st.text("  ▁aé"), st.booleans(), st.booleans(), st.booleans())
def test_both_forms_agree(text: str, dummy: bool, remove_extra: bool, behind: bool) -> None:
    spaces = Spaces(dummy=dummy, remove_extra=remove_extra, mark="▁", behind=behind)
    aligned = spaces.align(AlignedText.of(text))
    assert aligned.text == spaces.normalize(text)
    data = text.encode()
    for character, start, end in zip(aligned.text, aligned.starts.tolist(), aligned.ends.tolist(), strict=True):
        source = data[start:end].decode()
        assert source in ("", character) or (source == " " and character == "▁")
