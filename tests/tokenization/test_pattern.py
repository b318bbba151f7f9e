"""Patterns of the field's dialect as patterns of the standard library: what is written, and what is refused."""

from __future__ import annotations

import pytest

from katapi.emit.pattern import CLASS_NAMES, translate
from katapi.runtime.unicode import classes_16_0

QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def test_the_pattern_of_qwen() -> None:
    translated = translate(QWEN, unicode="16.0")
    assert [(part.declared, part.literal) for part in translated.alternatives] == [
        (
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
            r"""r"(?:'[sS\u017f]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])" """.strip(),
        ),
        (r"[^\r\n\p{L}\p{N}]?\p{L}+", r'''rf"|[^\r\n{letter}{number}]?[{letter}]+"'''),
        (r"\p{N}", r'''rf"|[{number}]"'''),
        (r" ?[^\s\p{L}\p{N}]+[\r\n]*", r'''rf"| ?[^{space}{letter}{number}]+[\r\n]*"'''),
        (r"\s*[\r\n]+", r'''rf"|[{space}]*[\r\n]+"'''),
        (r"\s+(?!\S)", r'''rf"|[{space}]+(?![^{space}])"'''),
        (r"\s+", r'''rf"|[{space}]+"'''),
    ]
    assert translated.properties == ("L", "N", "WS")
    assert translated.total


@pytest.mark.parametrize(
    ("declared", "literal"),
    [
        (r"a\.b", r'''r"a\.b"'''),
        (r"(a|b)c", r'''r"(?:a|b)c"'''),
        (r"a{2}b{2,}c{2,3}", r'''r"a{2}b{2,}c{2,3}"'''),
        (r"\p{N}{1,3}", r'''rf"[{number}]{{1,3}}"'''),
        (r"\{\p{N}\}", r'''rf"\{{[{number}]\}}"'''),
        (r"\p{N}{1,3}+a*?b??", r'''rf"[{number}]{{1,3}}+a*?b??"'''),
        (r"a(?=b)", r'''r"a(?=b)"'''),
        ('"', r'''r"\x22"'''),
        (r"中\t\x00", r'''r"\u4e2d\t\x00"'''),
        (r"[一-龥ab-d\-\]^]", r'''r"[\u4e00-\u9fa5ab-d\-\]\^]"'''),
        (r"[a-]", r'''r"[a\-]"'''),
        (r"[\x{1F600}-\x{1F64F}\x41A]", r'''r"[\U0001f600-\U0001f64fAA]"'''),
        (r"\d\D", r'''rf"[{decimal_number}][^{decimal_number}]"'''),
        (r"\P{L}", r'''rf"[^{letter}]"'''),
        (r"[\S]+", r'''rf"[^{space}]+"'''),
        (r"[\S\n]+", r'''rf"(?:[\n]|[^{space}])+"'''),
        (r"[^\S\n]+", r'''rf"(?:(?![\n])[{space}])+"'''),
        (r"[^\S]", r'''rf"[{space}]"'''),
        (r"[^\S\P{Zs}]", r'''rf"(?=[{space}])[{space_separator}]"'''),
        (r"(?i:k|[x-z])", r'''r"(?:[kK\u212a]|[x-zXYZ])"'''),
        (r"(?i:1)", r'''r"(?:1)"'''),
    ],
)
def test_constructs(declared: str, literal: str) -> None:
    assert [part.literal for part in translate(declared, unicode="16.0").alternatives] == [literal]


@pytest.mark.parametrize(
    ("declared", "position", "message"),
    [
        ("a|(b", 2, "not closed"),
        ("a)", 1, "closes no group"),
        ("[a", 0, "not closed"),
        ("[]", 0, "empty"),
        ("a**", 2, "repeated without a group"),
        ("*a", 0, "not supported here"),
        ("a{x}", 1, "expected {m}"),
        ("a{3,2}", 1, "upper bound"),
        ("a{0}", 1, "upper bound"),
        ("a{2", 1, "closes"),
        ("^a", 0, "not supported"),
        ("a$", 1, "not supported"),
        (".", 0, "not supported"),
        (r"\b", 0, "not supported"),
        (r"\w", 0, "not supported"),
        (r"a\1", 1, "not supported"),
        ("a\\", 1, "nothing follows"),
        (r"\p{Klingon}", 0, "'Klingon'"),
        (r"\pL", 0, r"expected \\p"),
        (r"\p{L", 0, "closes"),
        (r"[z-a]", 1, "ascending order"),
        (r"[a-\d]", 1, "ascending order"),
        (r"[a&&b]", 2, "operations on classes"),
        (r"[a[b]]", 2, "nested classes"),
        (r"(?<=a)b", 0, "only"),
        (r"(?P<n>a)", 0, "only"),
        (r"(?i)a", 0, "only"),
        (r"(?!a)*b", 0, "look-ahead"),
        (r"(?i:é)", 4, "ASCII"),
        (r"(?i:\p{Lu})", 4, "ASCII"),
        (r"\x{110000}", 0, "code point"),
        (r"\x4", 0, "code point"),
        (r"\ud800", 0, "surrogate"),
        ("a\tb", 1, "control character"),
        ("[a\n]", 2, "control character"),
        (r"a*", 0, "empty text"),
        (r"a|", 0, "empty text"),
        (r"(?=a)", 0, "empty text"),
        ("", 0, "empty text"),
    ],
)
def test_what_is_refused(declared: str, position: int, message: str) -> None:
    with pytest.raises(ValueError, match=rf"{message}.*\(position {position}\)$"):
        translate(declared, unicode="16.0")


@pytest.mark.parametrize(
    ("declared", "total"),
    [
        (r"\s|\S", True),
        (r"\s+|\S+", True),
        (r"[a-z]+|[^a-z]", True),
        (r"(?:\p{L}|\P{L})", True),
        (r"x?\S|\s", True),
        (r"x?+\S|\s", False),  # a single x is taken by the first part and never given back
        (r"x?+[^x]|x", True),
        (r"\S{2}|\s", False),
        (r"\S(?!a)|\s", False),
        (r"\Sa|\s", False),
        (r"[^a]", False),
        (r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]", False),  # controls and unassigned characters are in none of them
        (QWEN, True),
        (QWEN.removesuffix(r"|\s+"), False),
    ],
)
def test_proof_that_no_character_is_left_out(declared: str, total: bool) -> None:
    assert translate(declared, unicode="16.0").total is total


def test_every_named_property_has_a_class() -> None:
    assert all(hasattr(classes_16_0, name) for name in CLASS_NAMES)
