"""Patterns in generated code: literals that are the declared pattern again."""

from __future__ import annotations

import ast

import pytest

from katapi.emit.pattern import pattern_lines
from tests.field_patterns import TIKTOKEN


@pytest.mark.parametrize(
    ("declared", "lines"),
    [
        (r"a|b", [r'r"a"', r'r"|b"']),
        (r"(a|b)\|[|]|\p{L}+", [r'r"(a|b)\|[|]"', r'r"|\p{L}+"']),
        ('a"b', ["""r'a"b'"""]),
        ("""['"]+|x""", ['''r"""[\'"]+"""''', 'r"|x"']),
        ("""'|'\"""", ['''r"\'"''', '''"|'\\x22"''']),
        ("[一-龥]+", ['r"[一-龥]+"']),
        ("\\\\\u0301\U000e0001\u200d", ['"\\\\\\\\\\u0301\\U000e0001\\u200d"']),
    ],
)
def test_literals(declared: str, lines: list[str]) -> None:
    assert pattern_lines(declared) == lines
    assert ast.literal_eval(f"({' '.join(lines)})") == declared


@pytest.mark.parametrize("name", TIKTOKEN)
def test_patterns_of_the_field(name: str) -> None:
    lines = pattern_lines(TIKTOKEN[name])
    assert ast.literal_eval(f"({' '.join(lines)})") == TIKTOKEN[name]
    assert all(line.startswith('r"') for line in lines)
