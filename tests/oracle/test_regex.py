"""The oracle's matcher: patterns whose pieces can be told by hand."""

from __future__ import annotations

import pytest

from katapi.oracle.regex import PatternError, split

QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def pieces(pattern: str, text: str) -> list[str]:
    return split(pattern, "16.0", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello world", ["Hello", " world"]),
        ("don't DON'T", ["don", "'t", " DON", "'T"]),
        ("it'\u017fx", ["it", "'\u017f", "x"]),
        ("a  b", ["a", " ", " b"]),
        ("a   ", ["a", "   "]),
        ("a \n\n b", ["a", " \n\n", " b"]),
        ("a\r\n", ["a", "\r\n"]),
        ("123", ["1", "2", "3"]),
        ("x=1;\n", ["x", "=", "1", ";\n"]),
        ("(a)", ["(a", ")"]),
        ("天空!", ["天空", "!"]),
        ("e\u0301", ["e", "\u0301"]),
        ("\u00a0\u3000a", ["\u00a0", "\u3000a"]),
        ("<|im_end|>", ["<|", "im", "_end", "|>"]),
    ],
)
def test_the_pattern_of_qwen3(text: str, expected: list[str]) -> None:
    assert pieces(QWEN, text) == expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"ab|a", "aab", ["a", "ab"]),
        (r"a|ab", "ab", ["a", "b"]),
        (r"a{2}", "aaaaa", ["aa", "aa", "a"]),
        (r"a{2,}", "aaaaab", ["aaaaa", "b"]),
        (r"a{1,3}", "aaaaa", ["aaa", "aa"]),
        (r"a+?", "aa", ["a", "a"]),
        (r"(?:ab)+", "xababa", ["x", "abab", "a"]),
        (r"(?:ab)+?", "abab", ["ab", "ab"]),
        (r"(?:ab)*c", "ababc", ["ababc"]),
        (r"a++a|b", "aab", ["aa", "b"]),
        (r"(?:a|ab)++c", "abc", ["abc"]),
        (r"a(?=b)", "abaa", ["a", "baa"]),
        (r"a(?!b)", "aba", ["ab", "a"]),
        (r"[a-c\d]+", "cab1-", ["cab1", "-"]),
        (r"[^a-c]+", "xyab", ["xy", "ab"]),
        (r"[-a]+", "a-b", ["a-", "b"]),
        (r"\P{L}+", "a1 b", ["a", "1 ", "b"]),
        (r"\S+", "a b", ["a", " ", "b"]),
        (r"\D+", "a1", ["a", "1"]),
        (r"\.\[", ".[.", [".[", "."]),
        (r"(?i:K)", "k\u212a", ["k", "\u212a"]),
        (r"x*", "ab", ["a", "b"]),
    ],
)
def test_each_construct(pattern: str, text: str, expected: list[str]) -> None:
    assert pieces(pattern, text) == expected


def test_a_long_run_needs_no_deep_stack() -> None:
    assert pieces(r"\s+(?!\S)|\s+", " " * 20000 + "a") == [" " * 19999, " ", "a"]


@pytest.mark.parametrize("pattern", ["(", "a)", "[a", "a**", "(?<x>a)", r"\q", r"\p{L", r"(?i:\p{L})", "a{x}"])
def test_what_is_outside_the_dialect_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        pieces(pattern, "a")
