"""Pre-tokenizers: what becomes of matches, what is put in front, and which piece stands at the beginning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.character_splits import bert_split, digits, punctuation, white_space_split
from katapi.runtime.tokenization.configuration import Behaviour, PrependScheme
from katapi.runtime.tokenization.matching import Expression, Verbatim, members
from katapi.runtime.tokenization.pretokenizers import Chained, Metaspace, PrefixSpace, Split, Whole
from katapi.runtime.tokenization.stages import PreTokenizer
from katapi.runtime.unicode.tables import WHITE_SPACE, general_category

L, N, P = (general_category(name, "16.0") for name in "LNP")
WORDS = Split(Expression(lambda planes: f"[{members(L)(planes)}]+"), Behaviour.ISOLATED)
DIGITS = digits(N, individual=True)


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
    ("behaviour", "at_dashes", "at_all_else"),
    [
        (Behaviour.REMOVED, ["a", "b"], ["-", "-", "-"]),
        (Behaviour.ISOLATED, ["-", "a", "-", "-", "b"], ["-", "a", "-", "-", "b"]),
        (Behaviour.MERGED_WITH_PREVIOUS, ["-", "a-", "-", "b"], ["-a", "-", "-b"]),
        (Behaviour.MERGED_WITH_NEXT, ["-a", "-", "-b"], ["-", "a-", "-", "b"]),
        (Behaviour.CONTIGUOUS, ["-", "a", "--", "b"], ["-", "a", "--", "b"]),
    ],
)
def test_behaviours(behaviour: Behaviour, at_dashes: list[str], at_all_else: list[str]) -> None:
    assert Split(Verbatim("-"), behaviour).split("-a--b", True) == at_dashes
    assert Split(Verbatim("-"), behaviour, invert=True).split("-a--b", True) == at_all_else


@pytest.mark.parametrize("behaviour", Behaviour)
def test_empty_matches_cut(behaviour: Behaviour) -> None:
    assert Split(Expression(lambda planes: "(?=b)"), behaviour).split("babb", True) == ["ba", "b", "b"]


def test_classes() -> None:
    assert DIGITS.split("a12٣b", True) == ["a", "1", "2", "٣", "b"]
    assert digits(N, individual=False).split("a12٣b", True) == ["a", "12٣", "b"]
    assert punctuation(P, Behaviour.CONTIGUOUS).split("a,$。b", True) == ["a", ",$。", "b"]
    assert white_space_split(WHITE_SPACE).split("\u3000 a\nb ", True) == ["a", "b"]
    assert bert_split(WHITE_SPACE, P).split(" a's\tb。c", True) == ["a", "'", "s", "b", "。", "c"]


def test_prefix_space() -> None:
    assert [PrefixSpace().split(text, False) for text in ("", "a", " a", "\na")] == [[], [" a"], [" a"], [" \na"]]


@pytest.mark.parametrize(
    ("scheme", "first", "pieces"),
    [
        (PrependScheme.ALWAYS, True, ["▁a", "▁b", "▁", "▁c"]),
        (PrependScheme.ALWAYS, False, ["▁a", "▁b", "▁", "▁c"]),
        (PrependScheme.FIRST, True, ["▁a", "▁b", "▁", "▁c"]),
        (PrependScheme.FIRST, False, ["a", "▁b", "▁", "▁c"]),
        (PrependScheme.NEVER, True, ["a", "▁b", "▁", "▁c"]),
    ],
)
def test_metaspace(scheme: PrependScheme, first: bool, pieces: list[str]) -> None:
    assert Metaspace("▁", scheme, split=True).split("a b  c", first) == pieces
    assert Metaspace("▁", scheme, split=False).split("a b  c", first) == ["".join(pieces)]
    assert Metaspace("▁", scheme, split=True).split(" a", first) == ["▁a"]
    assert Metaspace("▁", scheme, split=True).split("", first) == []


def test_the_source_of_what_is_put_in() -> None:
    a, b = Metaspace("▁", PrependScheme.ALWAYS, split=True).split_aligned(AlignedText.of("é b"), True)
    assert (a.text, a.starts.tolist(), a.ends.tolist()) == ("▁é", [0, 0], [0, 2])
    assert (b.text, b.starts.tolist(), b.ends.tolist()) == ("▁b", [2, 3], [3, 4])


def test_chained() -> None:
    assert Chained(DIGITS, WORDS).split("ab1-c", True) == ["ab", "1", "-", "c"]
    assert Chained().split("ab", True) == ["ab"]
    assert Chained().split("", True) == []


def test_only_a_piece_from_the_very_beginning_is_first() -> None:
    chained = Chained(white_space_split(WHITE_SPACE), Metaspace("▁", PrependScheme.FIRST, split=True))
    assert chained.split("a b", True) == ["▁a", "b"]
    assert chained.split(" a b", True) == ["a", "b"]
    assert chained.split("a b", False) == ["a", "b"]


KEEPING: list[PreTokenizer] = [
    Whole(),
    WORDS,
    Chained(WORDS, DIGITS),
    *(Split(Verbatim(" "), behaviour) for behaviour in Behaviour if behaviour is not Behaviour.REMOVED),
]
CHANGING: list[PreTokenizer] = [
    Split(Verbatim("a"), Behaviour.REMOVED),
    PrefixSpace(),
    Chained(PrefixSpace(), WORDS),
    Chained(white_space_split(WHITE_SPACE), Metaspace("▁", PrependScheme.FIRST, split=True)),
    Metaspace("▁", PrependScheme.FIRST, split=True),
]
TEXTS = st.text(st.sampled_from(" ab1é中😀\n") | st.characters(codec="utf-8"))


@given(TEXTS)
def test_joined_pieces_are_the_text(text: str) -> None:
    for pretokenizer in KEEPING:
        assert "".join(pretokenizer.split(text, True)) == text
        sources = pretokenizer.split_aligned(AlignedText.of(text), True)
        assert b"".join(text.encode()[piece.starts[0] : piece.ends[-1]] for piece in sources) == text.encode()


@pytest.mark.parametrize("first", [False, True])
@given(text=TEXTS)
def test_the_aligned_form_gives_the_same_pieces(first: bool, text: str) -> None:
    for pretokenizer in (*KEEPING, *CHANGING):
        pieces = pretokenizer.split(text, first)
        assert all(pieces)
        assert [piece.text for piece in pretokenizer.split_aligned(AlignedText.of(text), first)] == pieces


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_the_three_forms_of_an_expression_agree(text: str) -> None:
    """A character beyond ASCII or the BMP changes the form and nothing else."""
    pieces = WORDS.split(text + "-", True)
    for beyond in "é😀":
        assert WORDS.split(f"{text}-{beyond}", True)[: len(pieces) - 1] == pieces[:-1]
