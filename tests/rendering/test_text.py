"""The functions that make a new text: what they make, where it comes from, and the order of `sorted`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.printed import ContentText, LiteralText, PrintedText
from katapi.runtime.segments import Content, Literal, Site
from katapi.runtime.text import lower, lower_case, replace, sorted_pairs, sorted_texts, upper, without

SITE = Site(3, 5)
PATH = ("messages", 1, "content")
CONTENT: ContentText = (Content("a<b>c<B>Éß"), PATH, 10)
WRITTEN: LiteralText = (Literal("a<b>c<B>Éß"), SITE)

texts = st.text(st.sampled_from("ab<>Σß天İ"), max_size=12)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda source: replace(source, "<", "(("), "a((b>c((B>Éß"),
        (lambda source: replace(source, "c", ""), "a<b><B>Éß"),
        (lambda source: without(source, "<", ">"), "acÉß"),
        (lambda source: without(source, "c", "#"), "a<b>"),
        (lambda source: without(source, "#", "c"), "a<b><B>Éß"),
        (lower, "a<b>c<b>éß"),
        (upper, "A<B>C<B>Éß"),
    ],
)
def test_a_new_text_comes_from_the_whole_value(made: Callable[[PrintedText], PrintedText], text: str) -> None:
    assert made(CONTENT) == (text, PATH, None)
    assert made(WRITTEN) == (text, SITE)


@pytest.mark.parametrize(
    "same", [lambda source: replace(source, "#", "!"), lambda source: without(source, "#", "!"), lower, upper]
)
def test_a_text_that_does_not_change_keeps_its_place(same: Callable[[PrintedText], PrintedText]) -> None:
    unchanged: ContentText = (Content("12 é" if same is upper else "12 天"), PATH, 10)
    assert same(unchanged) == unchanged


@given(texts)
def test_without_takes_each_stretch_and_each_closing_text(text: str) -> None:
    left = re.sub(r"a[^b]*(b|\Z)", "", text).replace("b", "")
    assert without((Content(text), PATH, 0), "a", "b")[0] == left


@given(texts)
def test_lower_case_goes_by_single_characters(text: str) -> None:
    assert lower_case(text) == "".join(c.lower() for c in text)


def test_lower_case_is_that_of_a_pinned_unicode_version() -> None:
    assert lower_case("\ua7ce\U00016ea0") == "\ua7cf\U00016ebb"  # both new in Unicode 17.0


@given(st.lists(texts, max_size=6))
def test_sorted_is_stable_and_goes_by_lower_case(items: list[str]) -> None:
    order = sorted(range(len(items)), key=lambda i: (lower_case(items[i]), i))
    assert sorted_texts(items) == [(i, items[i]) for i in order]
    assert sorted_pairs((text, i) for i, text in enumerate(items)) == [(items[i], i) for i in order]
