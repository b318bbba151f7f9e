"""The fixture of the input-layer chapter, section 1.6, through the oracle: ids, origins, and its counter-examples."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from katapi.model.program import Program
from katapi.oracle.render import plain, render
from katapi.oracle.request import canonical
from katapi.oracle.tokenize import tokenize
from katapi.runtime.json_types import Json

Load = Callable[[str], Program]

UNKNOWN = 13


def book(question: str, **more: Json) -> Json:
    messages: Json = [{"role": "system", "content": "简洁回答"}, {"role": "user", "content": question}]
    return {"messages": messages, **more}


def ids(program: Program, value: Json) -> list[int]:
    return tokenize(program, render(program, canonical(program, value)))[0]


def test_the_fixture_gives_exactly_the_ids_of_the_chapter(load: Load) -> None:
    assert ids(load("book"), book("天空为什么是蓝色？")) == [1, 2, 7, 3, 4, 8, 9, 10, 11, 12, 5, 6]


def test_without_the_generation_prompt_there_are_eleven_ids(load: Load) -> None:
    assert len(ids(load("book"), book("天空为什么是蓝色？", add_generation_prompt=False))) == 11


def test_an_ascii_question_mark_is_unknown(load: Load) -> None:
    assert ids(load("book"), book("天空为什么是蓝色?")) == [1, 2, 7, 3, 4, 8, 9, 10, 11, UNKNOWN, 5, 6]


@pytest.mark.parametrize("invisible", ["\u200b", "\u00a0", "\ufeff", "\u3000"])
def test_an_invisible_space_inside_a_word_changes_the_ids(load: Load, invisible: str) -> None:
    found = ids(load("book"), book(f"天{invisible}空为什么是蓝色？"))
    assert found == [1, 2, 7, 3, 4, UNKNOWN, UNKNOWN, UNKNOWN, 9, 10, 11, 12, 5, 6]


def test_a_user_who_spells_a_control_token_gets_none(load: Load) -> None:
    found = ids(load("book"), book("<system>天空"))
    assert found == [1, 2, 7, 3, 4, *[UNKNOWN] * len("<system>"), 8, 5, 6]


def test_every_segment_and_id_says_where_it_came_from(load: Load) -> None:
    program = load("book")
    template = program.source.text.index("template Book")

    def site(printed: str, *, within: str) -> tuple[int, int]:
        statement = program.source.text.index(within, template)
        return program.source.line_column(program.source.text.index(printed, statement))

    rendering = render(program, canonical(program, book("是蓝色")))
    assert plain(rendering) == [
        ("control", 1, "<bos>", *site("@bos", within="@bos")),
        ("control", 2, "<system>", *site("@system", within="when system")),
        ("content", "简洁回答", ("messages", 0, "content"), 0),
        ("control", 3, "</system>", *site("@/system", within="when system")),
        ("control", 4, "<user>", *site("@user", within="when user")),
        ("content", "是蓝色", ("messages", 1, "content"), 0),
        ("control", 5, "</user>", *site("@/user", within="when user")),
        ("control", 6, "<assistant>", *site("@assistant", within="generate")),
    ]
    assert rendering.sampled == []
    assert tokenize(program, rendering) == (
        [1, 2, 7, 3, 4, 10, 11, 5, 6],
        [(0,), (1,), (2,), (3,), (4,), (5,), (5,), (6,), (7,)],
    )


def test_what_the_assistant_said_is_sampled(load: Load) -> None:
    program = load("book")
    messages: Json = [{"role": "user", "content": "是"}, {"role": "assistant", "content": "天空"}]
    rendering = render(program, canonical(program, {"messages": messages}))
    assert rendering.sampled == [(5, 6)]
    assert plain(rendering)[5] == ("content", "天空", ("messages", 1, "content"), 0)
