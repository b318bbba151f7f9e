"""What a finding looks like: heading, place, source line, carets under the place, help."""

from __future__ import annotations

import pickle

import pytest

from katapi.language.diagnostics import Diagnostic, SpecError
from katapi.language.parser import parse
from katapi.language.source import Source, Span


def rendered(text: str, marked: str, *, label: str = "", help: str = "") -> list[str]:
    """The lines of a finding about the first occurrence of `marked`."""
    start = text.index(marked)
    diagnostic = Diagnostic("K101", Span(start, start + len(marked)), "something is wrong", label, help)
    return diagnostic.render(Source("spec/t.kata", text)).split("\n")


def test_the_whole_form() -> None:
    lines = rendered("one\n  two three\nfour", "three", label="not this", help="write `3`")
    assert lines == [
        "error[K101]: something is wrong",
        " --> spec/t.kata:2:7",
        "  |",
        "2 |   two three",
        "  |       ^^^^^ not this",
        "  = help: write `3`",
    ]


def test_the_gutter_is_as_wide_as_the_line_number() -> None:
    lines = rendered("\n" * 122 + "x", "x")
    assert lines[1:] == ["   --> spec/t.kata:123:1", "    |", "123 | x", "    | ^"]


@pytest.mark.parametrize(
    ("text", "marked", "carets"),
    [
        ('8 "天空" x', "x", "         ^"),
        ('8 "天空" x', "天空", "   ^^^^"),
        ("？ｘx", "x", "    ^"),
        ("한국어 x", "x", "       ^"),
        ("e\u0301 x", "x", "  ^"),
        ("😀 x", "x", "   ^"),
        ("ä ▁ x", "x", "    ^"),
        ("\tab\tx", "x", "\t  \t^"),
        ("\t天\tx", "x", "\t  \t^"),
    ],
)
def test_carets_stand_under_the_place(text: str, marked: str, carets: str) -> None:
    assert rendered(text, marked)[-1] == "  | " + carets


def test_columns_count_code_points() -> None:
    assert rendered('8 "天空" x', "x")[1] == " --> spec/t.kata:1:8"


def test_characters_that_show_nothing_are_made_visible() -> None:
    lines = rendered("a\u200bb\u3000c\x1b[31m x", "x")
    assert lines[3:] == ["1 | a\ufffdb\ufffdc\ufffd[31m x", "  |            ^"]


def test_a_place_over_several_lines_is_marked_to_the_end_of_the_first() -> None:
    assert rendered("ab cd\nef", "cd\nef")[3:] == ["1 | ab cd", "  |    ^^"]


@pytest.mark.parametrize("text", ["", "ab", "ab\n"])
def test_the_end_of_the_file_is_a_place(text: str) -> None:
    end = Diagnostic("K101", Span(len(text), len(text)), "the end").render(Source("t", text))
    line, column = Source("t", text).line_column(len(text))
    assert f"t:{line}:{column}\n" in end
    assert end.endswith("| " + " " * (column - 1) + "^")


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    text = "a" * 5000 + "!" + "b" * 5000
    lines = rendered(text, "!")
    assert lines[1] == " --> spec/t.kata:1:5001"
    assert lines[3].startswith("1 | …aaa")
    assert lines[3].endswith("bbb…")
    assert len(lines[3]) < 200
    assert lines[3][lines[4].index("^")] == "!"
    long = rendered("x" * 100_000, "x" * 100_000)
    assert max(map(len, long)) < 200


def test_all_findings_of_a_file_are_shown_in_order_of_place() -> None:
    source = Source("t.kata", 'budget A for B { }\nbudget C version "1" for { }\n')
    error = SpecError(source, list(reversed(parse(source)[1])))
    first, second = str(error).split("\n\n")
    assert first.startswith("error[K001]: unexpected `for`\n --> t.kata:1:10\n")
    assert first.endswith("  = help: expected `version`")
    assert " --> t.kata:2:26\n" in second
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
