"""Answers for every message of a walk at once are those that its part of the messages gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime import views

Answers = Callable[[Iterable[int | None]], Sequence[object]]

QUESTIONS: dict[str, Callable[[list[int | None]], object]] = {
    "any": any,
    "all": all,
    "count": lambda part: sum(1 for hit in part if hit),
    "first": lambda part: next((hit for hit in part if hit is not None), None),
    "last": lambda part: next((hit for hit in reversed(part) if hit is not None), None),
}


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("question", QUESTIONS)
@given(hits=st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=8))
def test_each_message_gets_the_answer_of_its_part(question: str, side: str, hits: list[int | None]) -> None:
    function: Answers = getattr(views, f"{question}_{side}")
    parts = [hits[:i] if side == "before" else hits[i + 1 :] for i in range(len(hits))]
    assert list(function(iter(hits))) == [QUESTIONS[question](part) for part in parts]


@pytest.mark.parametrize("name", [f"{question}_{side}" for question in QUESTIONS for side in ("before", "after")])
def test_a_pass_goes_through_the_messages_once(name: str) -> None:
    seen: list[int] = []

    def hits() -> Iterable[int]:
        for hit in range(100):
            seen.append(hit)
            yield hit

    getattr(views, name)(hits())
    assert seen == list(range(100))
