"""The kernel cuts every text as the patterns do, and gives for each piece what its tables and its maker tell."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from katapi.runtime.compiled import why_pure
from katapi.runtime.native.cuts import Cut, NotScannable
from katapi.runtime.native.engine import BYTE_LEVEL, DERIVATION
from katapi.runtime.patterns.syntax import PatternError
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from tests.differential.texts import many_texts
from tests.native.scanned import families, split
from tests.random_patterns import patterns, texts

if TYPE_CHECKING:
    from katapi.runtime.native.kernel import Kernel

_REASON = why_pure(*BYTE_LEVEL, *DERIVATION)
pytestmark = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))
_FAMILIES = families()
_GPT2 = next(cuts for cuts, name in _FAMILIES.items() if name == "gpt2")


@cache
def tables(cuts: tuple[Cut, ...]) -> dict[str, bytes]:
    """Those of a vocabulary of single bytes, "ab", and "lemonade is good"."""
    from katapi.runtime.native.derived import derive_tables

    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"lemonade is good"]
    return derive_tables(cuts, VocabularyData(Tokens.of(tokens)), by_rank=True, any_whole=True)


def kernel(cuts: tuple[Cut, ...], missing: Callable[[bytes, int, bool], bytes] | None = None) -> Kernel:
    from katapi.runtime.native.byte_pairs import BytePairs
    from katapi.runtime.native.kernel import Kernel

    return Kernel(tables(cuts), lambda: missing or BytePairs(tables(cuts)).ids)


def packed(ids: list[int]) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in ids)


@pytest.mark.parametrize("cuts", _FAMILIES, ids=_FAMILIES.values())
def test_families(cuts: tuple[Cut, ...]) -> None:
    cutting = kernel(cuts)
    for text in islice(many_texts(Random(17), [" the", "'s", "\r\n", "中文", "don't", "１２３"]), 1500):
        assert b"|".join(cutting.pieces(text)).decode() == "|".join(split(cuts, text))


@pytest.mark.parametrize("cuts", _FAMILIES, ids=_FAMILIES.values())
@given(text=st.text(st.sampled_from("aZéß中\u3000\u0301 \t\n\r'slL1²/!。\U0001f600\x85\x07"), max_size=60))
def test_families_on_what_hypothesis_draws(cuts: tuple[Cut, ...], text: str) -> None:
    for each in (text, text * 5):
        assert b"|".join(kernel_of(cuts).pieces(each)).decode() == "|".join(split(cuts, each))


@cache
def kernel_of(cuts: tuple[Cut, ...]) -> Kernel:
    return kernel(cuts)


@given(patterns(), st.lists(texts(), min_size=1, max_size=4))
def test_any_pattern(pattern: str, some: list[str]) -> None:
    cuts = ((pattern, "16.0"),)
    try:
        cutting = kernel(cuts)
    except (NotScannable, PatternError, ValueError):
        assume(False)
        raise
    for text in some:
        for each in (text, text * 4):
            assert [piece.decode() for piece in cutting.pieces(each)] == split(cuts, each)


def test_what_is_asked_for_and_what_is_kept() -> None:
    asked: list[tuple[bytes, bool]] = []

    def missing(piece: bytes, size: int, is_part: bool) -> bytes:
        assert piece[size:] == b"\xff" * 32
        asked.append((piece[:size], is_part))
        return packed([*piece[:size]])

    encoder = kernel(_GPT2, missing)
    for size, times in ((1, 0), (7, 0), (8, 0), (15, 0), (16, 1), (256, 1), (257, 5)):
        asked.clear()
        text = "x" * size
        assert [encoder.encode(text) for _ in range(2)] == [[*text.encode()]] * 2
        assert encoder.packed(text) == packed([*text.encode()])
        assert encoder.packed64(text) == b"".join(number.to_bytes(8, "little") for number in text.encode())
        assert encoder.count(text) == size
        assert asked == [(text.encode(), False)] * times


def test_pieces_of_all_sizes_with_many_ids_or_few() -> None:
    encoder, expected = kernel(_GPT2), {"a": [97], "b": [98], "ab": [256]}
    for size in range(1, 40):
        for word in ("ab" * size, "a" * size, "b" + "ab" * size, "aab" * size):
            for text in (word, f"{word} {word}"):
                ids = [
                    *(
                        id
                        for part in re.split("(ab)", text)
                        for one in ([part] if part == "ab" else part)
                        for id in expected.get(one, [32])
                    )
                ]
                assert encoder.encode(text) == encoder.encode(text) == ids
                assert encoder.packed(text) == packed(ids)


def test_no_text_is_read_beyond_its_end() -> None:
    """The last bytes of a text of ASCII are read from a copy: all lengths about its size, behind a longer text."""
    encoder = kernel(_GPT2)
    for size in range(80):
        for text in ("a c " * 20, "ca" * 40, "-" * 80, " " * 80):
            encoder.count("ca" * 200)
            assert encoder.encode(text[:size]) == [*text[:size].encode()]


def test_an_error_on_the_way_leaves_the_encoder_as_it_was() -> None:
    def missing(piece: bytes, size: int, is_part: bool) -> bytes:
        if piece.startswith(b" bad"):
            raise MemoryError
        if piece.startswith(b" more"):
            return packed([1] * (size + 1))
        if piece.startswith(b" none"):
            return packed([9999])
        return packed([*piece[:size]])

    encoder = kernel(_GPT2, missing)
    long = "x" * 20
    for word, error in ((" bad", MemoryError), (" more", ValueError), (" none", ValueError), (" \ud800", UnicodeError)):
        for text in (f"a{word}{long} b", f"{word}{long} lemon " * 30):
            for encode in (encoder.encode, encoder.packed, encoder.count):
                with pytest.raises(error):
                    encode(text)
        assert encoder.encode("a b") == [*b"a b"]
    for method in (encoder.encode, encoder.packed, encoder.count, encoder.pieces):
        with pytest.raises(TypeError, match="a text is a str, not bytes"):
            method(b"a")  # type: ignore[arg-type]  # what is refused


def test_while_one_text_waits_another_may_come() -> None:
    inner: list[list[int]] = []

    def missing(piece: bytes, size: int, is_part: bool) -> bytes:
        if len(inner) < 20:
            inner.append([])
            inner.append(encoder.encode("c" * (20 + len(inner))))
        return packed([*piece[:size]])

    encoder = kernel(_GPT2, missing)
    text = f"a {'b' * 30} ab"
    assert encoder.encode(text) == [*text[:-2].encode(), 256]
    assert [len(ids) for ids in inner if ids] == [*range(40, 20, -1)]


def test_tables_that_do_not_belong_together_are_refused() -> None:
    from katapi.runtime.native.kernel import Kernel

    good = tables(_GPT2)
    names = "leads pages kinds short medium characters crossings byte_pairs pairs ids bounds starts steps parts_differ"
    for name in names.split():
        for other in ({**good, name: good[name][:-1]}, {key: good[key] for key in good if key != name}):
            with pytest.raises(ValueError, match=r"the table \w+ is not there or of a wrong length|belong together"):
                Kernel(other, lambda: lambda *_: b"")
    with pytest.raises(TypeError):
        Kernel([], lambda: lambda *_: b"")  # type: ignore[arg-type]  # what is refused


def test_a_maker_that_fails_is_told() -> None:
    from katapi.runtime.native.kernel import Kernel

    def make() -> Callable[[bytes, int, bool], bytes]:
        raise RuntimeError("no maker")

    failing = Kernel(tables(_GPT2), make)
    for encode in (failing.encode, failing.packed, failing.count, failing.pieces):
        with pytest.raises(RuntimeError, match="no maker"):
            encode("a")
