"""The dialect of patterns: what each construct matches, what is refused, and where the two engines differ."""

from __future__ import annotations

import pytest

from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.printer import restate
from katapi.runtime.patterns.syntax import Dialect, PatternError
from tests.field_patterns import TIKTOKEN, TOKENIZERS


def found(pattern: str, text: str, dialect: Dialect = Dialect.TIKTOKEN) -> list[str]:
    matcher = compile_pattern(pattern, unicode="16.0", dialect=dialect)
    spans = list(matcher.spans(text))
    assert list(matcher.spans_by_automaton(text)) == spans
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"a\.b", "a.b axb", ["a.b"]),
        (r"(a|b)c", "ac bc cc", ["ac", "bc"]),
        (r"a{2}b{2,}c{2,3}d{,2}", "aabbcc aabbbcccdd abbcc", ["aabbcc", "aabbbcccdd"]),
        (r"\p{N}{1,3}", "12345", ["123", "45"]),
        (r"a{1,2}?", "aaa", ["a", "a", "a"]),
        (r"a*?b|a??c", "aab ac", ["aab", "ac"]),
        (r"a++b|a+", "aab aa", ["aab", "aa"]),
        (r"a*+a|b", "aab", ["b"]),
        (r"a?+a|b", "aaba", ["aa", "b"]),
        (r"a{1,3}+a|b", "aaab aaaa", ["b", "aaaa"]),
        (r"a|ab|abc", "abc", ["a"]),
        (r"(?:a|ab)(?:c|bcd)(?:d*)", "abcd", ["abcd"]),
        (r"[A-Z]+(?![a-z])|[A-Z][a-z]+", "HTTPServer", ["HTTP", "Server"]),
        (r"\d(?=(?:\d{3})+$)", "1234567", ["1", "4"]),
        (r"(?i:k|[x-z])", "kK\u212aXyZa", ["k", "K", "\u212a", "X", "y", "Z"]),
        (r"(?i:[^s])", "sS\u017fx", ["x"]),
        (r"(?i:'S|\s1|\d)", "'s\u3000१", ["'s", "१"]),
        (r"[\x{1F600}-\x{1F64F}\x41中-龥]+", "A😀文a", ["A😀文"]),
        (r"[a-]+[-b]+[\-\]^]+", "a-b-]^", ["a-b-]^"]),
        (r"[a-z&&[^c-e]&&[^x]]+", "abcdefx", ["ab", "f"]),
        (r"[^a-z&&[^c-e]]+", "abcde1", ["cde1"]),
        (r"[a-c[x-z]&&[b-y]]+", "abcxyz", ["bcxy"]),
        (r"[\p{Lu}\p{Lo}&&[^\p{Han}]]+", "A中ゐ", ["A", "ゐ"]),
        (r"\p{Han}\P{Han}\p{^Han}", "中ab", ["中ab"]),
        (r"\p{letter}\p{uppercase letter}\p{Old_Italic}\p{any}", "aB\U00010300\n", ["aB\U00010300\n"]),
        (r"\p{Cn}\p{Co}\p{Cc}", "\u0378\ue000\x85", ["\u0378\ue000\x85"]),
        (r"\s\S\d\D\w\W", "\u3000a१-é!", ["\u3000a१-é!"]),
        (r"[^\S\n]+|[\S\n]\P{L}", " \t\na1", [" \t", "a1"]),
        (r".", "a\n\r", ["a", "\r"]),
        (r"^a|b$", "aba\nab", ["a", "b"]),
        (r"\Aa|b\z", "aba\nab", ["a", "b"]),
        (r"\bab\b|\Bx", "ab abc 1ab ax x", ["ab", "x"]),
        (r"(?<=a)b|(?<![ab\s])c", "ab bb ac c 1c", ["b", "c"]),
        (r"\{\}\[\]\(\)\~\é", "{}[]()~é", ["{}[]()~é"]),
        (r"\w+", "a\u200db\u0301_\u24b6²", ["a\u200db\u0301_\u24b6"]),
        (r"(?=b)", "abab", ["", ""]),
        (r"a*", "baac", ["", "aa", ""]),
    ],
)
def test_what_is_matched(pattern: str, text: str, matches: list[str]) -> None:
    assert found(pattern, text) == matches


@pytest.mark.parametrize(
    ("pattern", "text", "tiktoken", "tokenizers"),
    [
        (r"a$|\nb", "a\nb", ["\nb"], ["a", "\nb"]),
        (r"^b", "a\nb", [], ["b"]),
        (r"\n^", "a\n", [], []),
        (r"a{1,2}+a|b", "aaab", ["aaa", "b"], ["aaa", "b"]),
        (r"a{1,2}+", "aaaaa", ["aa", "aa", "a"], ["aaaaa"]),
        (r"a{2}?b", "aab b", ["aab"], ["aab", "b"]),
        (r"a{2,3}?", "aaaa", ["aa", "aa"], ["aa", "aa"]),
        (r"\w+", "a\u200d²", ["a\u200d"], ["a", "²"]),
        (r"[\w]+", "a\u200d²", ["a\u200d"], ["a"]),
        (r"\W", "\u200d²", ["²"], ["\u200d"]),
    ],
)
def test_where_the_engines_differ(pattern: str, text: str, tiktoken: list[str], tokenizers: list[str]) -> None:
    assert found(pattern, text) == tiktoken
    assert found(pattern, text, Dialect.TOKENIZERS) == tokenizers


@pytest.mark.parametrize(
    ("pattern", "position", "message"),
    [
        ("a|(b", 2, "not closed"),
        ("a)", 1, "closes no group"),
        ("[a", 0, "not closed"),
        ("[a&&", 0, "not closed"),
        ("[]", 0, "empty"),
        ("[a&&]", 0, "empty"),
        ("a**", 2, "repeated without a group"),
        ("*a", 0, "repeats nothing"),
        ("{2}", 0, "repeats nothing"),
        ("a{x}", 1, "expected {m}"),
        ("a{,}", 1, "expected {m}"),
        ("a{99999}", 1, "expected {m}"),
        ("a{3,2}", 1, "upper bound"),
        ("a{0}", 1, "upper bound"),
        ("a{2", 1, "closes"),
        ("(?:a?)*", 0, "empty text"),
        ("(?:a|)+", 0, "empty text"),
        ("(?:ab)++", 0, "possessively"),
        (r"a\1", 1, "not supported"),
        (r"\X", 0, "not supported"),
        ("a\\", 1, "nothing follows"),
        (r"\p{Klingon}", 0, "'Klingon'"),
        (r"\p{WORD}", 0, "'WORD'"),
        (r"\pL", 0, r"expected \\p"),
        (r"\p{L", 0, "closes"),
        (r"[z-a]", 1, "ascending order"),
        (r"[a-\d]", 1, "ascending order"),
        (r"[a--b]", 2, "operations on classes"),
        (r"[a[:alpha:]]", 2, "operations on classes"),
        (r"(?<=ab)c", 0, "one character"),
        (r"(?P<n>a)", 0, "only"),
        (r"(?i)a", 0, "only"),
        (r"(?!a)*b", 0, "look-ahead"),
        (r"\b+", 0, "empty text"),
        (r"(?i:é)", 4, "ASCII"),
        (r"(?i:\p{Lu})", 4, "ASCII"),
        (r"(?i:[\w])", 5, "ASCII"),
        (r"\x{110000}", 0, "code point"),
        (r"\x{}", 0, "code point"),
        (r"\x{+41}", 0, "code point"),
        (r"\x4", 0, "code point"),
        (r"\ud800", 0, "surrogate"),
        ("a\tb", 1, "control character"),
        ("[a\n]", 2, "control character"),
        ("(" * 51 + "a" + ")" * 51, 50, "inside one another"),
        ("a{2500}b{2500}", 0, "too large"),
        ("|".join(f"[{chr(code)}]" for code in range(0x4E00, 0x4F00)), 0, "257 classes"),
    ],
)
def test_what_is_refused(pattern: str, position: int, message: str) -> None:
    with pytest.raises(PatternError, match=rf"{message}.*\(position {position}\)$") as caught:
        compile_pattern(pattern, unicode="16.0")
    assert caught.value.position == position


@pytest.mark.parametrize("pattern", ["(?i:ss)", "(?i:a[b]Fi)", "(?i:'st)"])
def test_letters_that_oniguruma_folds_together(pattern: str) -> None:
    compile_pattern(pattern, unicode="16.0")
    with pytest.raises(PatternError, match="two letters"):
        compile_pattern(pattern, unicode="16.0", dialect=Dialect.TOKENIZERS)


def test_an_unknown_version_of_unicode() -> None:
    with pytest.raises(PatternError, match=r"Unicode 1\.1"):
        compile_pattern("a", unicode="1.1")


@pytest.mark.parametrize(
    ("official", "restated"),
    [
        (TOKENIZERS["qwen2"], TOKENIZERS["qwen2"]),
        ("[\r\n]", r"[\r\n]"),
        ("\x85\u200d", r"\x{85}\x{200d}"),
        (r"\s+$", r"\s+(?![^\n])"),
        (r"^a", r"(?:(?<!\p{Any})|(?<=\n)(?=\p{Any}))a"),
        (r"\p{N}{1,3}+[^\P{Lu}&&[a\-]]?", r"(?:\p{N}{1,3})+[^\P{Lu}&&a\-]?"),
        (r"a{2}?\.\p{Any}", r"(?:a{2})?\.\p{Any}"),
        (r"[\w]\S|$b", r"[\w&&[^\x{200c}-\x{200d}]]\S|(?![^\n])b"),
    ],
)
def test_patterns_of_tokenizers_restated(official: str, restated: str) -> None:
    assert restate(official) == restated


@pytest.mark.parametrize("name", [name for name in TOKENIZERS if name not in ("cl100k", "tiny-aya numbers")])
def test_most_patterns_of_the_field_need_no_new_words(name: str) -> None:
    restated = restate(TOKENIZERS[name])
    assert restated.count("|") == TOKENIZERS[name].count("|")


def test_the_dialect_of_tiktoken_has_all_its_patterns() -> None:
    for pattern in TIKTOKEN.values():
        assert compile_pattern(pattern, unicode="16.0").total
