"""How a message writes a place, a text and a kind of value."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from katapi.runtime.places import bare, json_path, kind, quoted, shown


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        ((), ""),
        (("messages", 2, "tool_calls", 0, "function", "arguments"), "messages[2].tool_calls[0].function.arguments"),
        ((0, 1), "[0][1]"),
        (("$ref", "x-note"), "$ref.x-note"),
        (("a b", "c"), '["a b"].c'),
        (("a", "", "天空"), 'a[""]["天空"]'),
        (("line\nbreak", "\u202e", "\ud800"), '["line\\nbreak"]["\\u202e"]["\\ud800"]'),
    ],
)
def test_a_path_is_written_as_it_would_be_typed(loc: Sequence[str | int], path: str) -> None:
    assert json_path(loc) == path


def test_a_long_key_is_shortened_in_a_path() -> None:
    assert json_path(("x" * 10_000,)) == '["' + "x" * 59 + '…"]'


def test_a_long_text_is_shortened() -> None:
    assert quoted("x" * 10_000) == '"' + "x" * 59 + '…"'


def test_a_text_without_quotes_stays_on_one_line() -> None:
    assert bare("a\nb") == "a\\nb"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "null"),
        (True, "true"),
        (1, "an integer"),
        (1.0, "a number with a fraction"),
        ("", "text"),
        ([], "a list"),
        ({}, "an object"),
        (b"", "a Python bytes"),
    ],
)
def test_kinds_are_named_in_the_words_of_json(value: object, word: str) -> None:
    assert kind(value) == word


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", '"a"'), (None, "null"), (False, "false"), (-3, "-3"), ([1], "a list"), (10**999, "an integer")],
)
def test_a_short_value_is_shown_itself(value: object, text: str) -> None:
    assert shown(value) == text
