"""Runs, pieces, tokens and their origins, with vocabularies small enough for the hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from katapi.model.declarations import Identity, OrdinaryToken, Tokenizer
from katapi.model.program import Program
from katapi.oracle.render import control_enum
from katapi.oracle.tokenize import encode, tokenize
from katapi.runtime.errors import TokenizerError
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.segments import (
    Content,
    ContentSegment,
    ControlSegment,
    Literal,
    LiteralSegment,
    Rendering,
    Segment,
    Site,
)
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

Load = Callable[[str], Program]

SITE = Site(1, 1)
# Single bytes, then merges: "ab" before "bc", and a token that no merge reaches.
BYTES = [bytes([byte]) for byte in range(256)]


def literal(text: str) -> LiteralSegment:
    return LiteralSegment(Literal(text), SITE)


def content(text: str) -> ContentSegment:
    return ContentSegment(Content(text), ("messages", 0, "content"), 0)


def ranked(*tokens: bytes) -> VocabularyData:
    return VocabularyData(Tokens.of(tokens))


RANKS = ranked(*BYTES, b"ab", b"bc", b"abc", b" a", "é".encode(), b"xyz")


def bpe(program: Program, *patterns: str, nfc: bool = False) -> Program:
    regexes = [c.Regex(pattern, Dialect.TIKTOKEN) for pattern in patterns]
    tokenizer = Tokenizer(
        identity=Identity("T", "1"),
        unicode={"patterns": "16.0", "normalization": "9.0"},
        normalizers=(c.Normalize(c.NormalForm.NFC),) if nfc else (),
        pretokenizers=tuple(c.Split(regex, c.Behaviour.ISOLATED, invert=False) for regex in regexes),
        segmentation=c.BytePairRanks(),
        before=(),
        behind=(),
        decoders=(c.DecodeBytes(),),
        patterns=(),
        span=program.tokenizer.span,
    )
    return replace(program, tokenizer=tokenizer)


def longest(program: Program, *tokens: str) -> Program:
    texts = tuple(OrdinaryToken(100 + i, text, program.vocabulary.span) for i, text in enumerate(tokens))
    return replace(
        program,
        vocabulary=replace(
            program.vocabulary, texts=texts, unknown=OrdinaryToken(99, "<unk>", program.vocabulary.span)
        ),
    )


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("abab", [101, 101]),
        ("aab", [100, 101]),
        ("abc", [102]),
        ("abd", [101, 99]),
        ("<unk>", [99] * 5),
        ("bab", [99, 101]),
    ],
)
def test_the_longest_token_that_fits(load: Load, text: str, ids: list[int]) -> None:
    assert encode(longest(load("book"), "a", "ab", "abc"), text) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("ab", [256]),
        ("abc", [258]),
        ("bcab", [257, 256]),
        ("abcc", [258, 99]),
        ("aab", [97, 256]),
        ("xyz", [261]),
        ("xyzx", [120, 121, 122, 120]),
        ("é", [260]),
        ("è", [0xC3, 0xA8]),
    ],
)
def test_the_pair_of_lowest_rank_merges_first(load: Load, text: str, ids: list[int]) -> None:
    assert encode(bpe(load("book")), text, RANKS) == ids


def test_no_token_crosses_a_piece_and_patterns_apply_in_turn(load: Load) -> None:
    book = load("book")
    assert encode(bpe(book), "abc", RANKS) == [258]
    assert encode(bpe(book, r"b"), "abc", RANKS) == [97, 98, 99]
    assert encode(bpe(book, r"ab"), "abc", RANKS) == [256, 99]
    assert encode(bpe(book, r"ab", r"a"), "abc", RANKS) == [97, 98, 99]


def test_a_run_is_one_string_whatever_it_is_made_of(load: Load) -> None:
    book = load("book")
    controls = control_enum(book.vocabulary)
    segments: list[Segment] = [
        ControlSegment(controls["bos"], SITE),
        literal("a"),
        content(""),
        content("b"),
        literal("c ab"),
        ControlSegment(controls["/user"], SITE),
        content("c"),
    ]
    assert tokenize(bpe(book), Rendering(segments, []), RANKS) == (
        [1, 258, 32, 256, 5, 99],
        [(0,), (1, 3, 4), (4,), (4,), (5,), (6,)],
    )


def test_a_character_whose_bytes_are_two_tokens_gives_both_its_segment(load: Load) -> None:
    segments: list[Segment] = [literal("a"), content("è"), literal("b")]
    assert tokenize(bpe(load("book")), Rendering(segments, []), RANKS) == (
        [97, 0xC3, 0xA8, 98],
        [(0,), (1,), (1,), (2,)],
    )


def test_a_token_of_composed_characters_touches_all_that_were_composed(load: Load) -> None:
    program = bpe(load("book"), nfc=True)
    segments: list[Segment] = [literal("ae"), content("\u0301b"), content("c")]
    assert tokenize(program, Rendering(segments, []), RANKS) == ([97, 260, 257], [(0,), (0, 1), (1, 2)])


def test_what_normalization_leaves_alone_keeps_its_own_segment(load: Load) -> None:
    program = bpe(load("book"), nfc=True)
    segments: list[Segment] = [literal("q"), content("\u0301\u0323")]
    ids, origins = tokenize(program, Rendering(segments, []), RANKS)
    assert ids == list("q\u0323\u0301".encode())
    assert origins == [(0,), (1,), (1,), (1,), (1,)]


def test_a_text_that_spells_a_control_token_stays_text(load: Load) -> None:
    book = load("book")
    spelled = "".join(token.spelling for token in book.vocabulary.controls)
    controls = {token.id for token in book.vocabulary.controls}
    assert not controls & set(encode(book, spelled))
    shifted = VocabularyData(Tokens.by_id({rank + len(controls): token for rank, token in enumerate(RANKS.tokens)}))
    assert not controls & set(encode(bpe(book), spelled, shifted))


def test_a_lone_surrogate_is_refused(load: Load) -> None:
    with pytest.raises(TokenizerError) as caught:
        encode(load("book"), "a\ud800")
    assert caught.value.code == "V101"


def test_a_byte_without_a_token_is_refused(load: Load) -> None:
    with pytest.raises(TokenizerError) as caught:
        encode(bpe(load("book")), "ab!", ranked(b"a", b"b", b"ab"))
    assert caught.value.code == "V105"
