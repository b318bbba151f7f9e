"""Pre-tokenizers: pieces are in order, not empty, and joined they are the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.configuration import Behaviour
from katapi.runtime.tokenization.matching import Expression
from katapi.runtime.tokenization.pretokenizers import Chained, Split, Whole
from katapi.runtime.unicode.classes_16_0 import L, N
from katapi.runtime.unicode.codepoints import Planes


def words(planes: Planes) -> str:
    return f"[{L.within(planes)}]+"


def digits_or_rest(planes: Planes) -> str:
    number = N.within(planes)
    return f"[{number}]|[^{number}]+"


WORDS = Split(Expression(words), Behaviour.ISOLATED)
DIGITS = Split(Expression(digits_or_rest, total=True), Behaviour.ISOLATED)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("abc", ["abc"]),
        ("--", ["--"]),
        ("ab, cd!", ["ab", ", ", "cd", "!"]),
        ("¿qué?", ["¿", "qué", "?"]),
        ("𐐀𐐁 x", ["𐐀𐐁", " ", "x"]),
    ],
)
def test_what_lies_between_matches_is_a_piece_too(text: str, pieces: list[str]) -> None:
    assert WORDS.split(text, True) == pieces


@pytest.mark.parametrize(
    ("text", "pieces"), [("", []), ("a12b", ["a", "1", "2", "b"]), ("é²", ["é", "²"]), ("😀𝟙", ["😀", "𝟙"])]
)
def test_a_total_pattern(text: str, pieces: list[str]) -> None:
    assert DIGITS.split(text, True) == pieces


def test_chained() -> None:
    assert Chained(DIGITS, WORDS).split("ab1-c", True) == ["ab", "1", "-", "c"]
    assert Chained().split("ab", True) == ["ab"]
    assert Chained().split("", True) == []


@given(st.text())
def test_joined_pieces_are_the_text(text: str) -> None:
    for pretokenizer in (Whole(), WORDS, DIGITS, Chained(WORDS, DIGITS)):
        pieces = pretokenizer.split(text, True)
        assert "".join(pieces) == text
        assert all(pieces)
        aligned = pretokenizer.split_aligned(AlignedText.of(text), True)
        assert [piece.text for piece in aligned] == pieces
        assert b"".join(text.encode()[piece.starts[0] : piece.ends[-1]] for piece in aligned) == text.encode()


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_the_three_forms_agree(text: str) -> None:
    """A character beyond ASCII or the BMP, set apart by spaces, changes the form and nothing else."""
    for separator in (" é ", " 😀 "):
        assert WORDS.split(text + " ", True) == _before(WORDS.split(text + separator, True), separator)


def _before(pieces: list[str], separator: str) -> list[str]:
    text = "".join(pieces)[: 1 - len(separator)]
    kept: list[str] = []
    for piece in pieces:
        kept.append(piece[: len(text) - sum(map(len, kept))])
    return [piece for piece in kept if piece]
