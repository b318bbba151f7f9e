"""Budgets made in Python, and the arguments of `katapi.fit_context`: what is none of these is refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import katapi
from katapi import Budget, BudgetError
from katapi.runtime.budget.policy import Allotment, CutLeft, Grouping, Misfit, Order, Percent, Section, Tokens

QWEN3 = katapi.load("qwen3")
HISTORY = Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP)
ASKED = [{"role": "user", "content": "1 + 1?"}]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Budget("b@1", -1, 0), "window is 0 or more, not -1"),
        (lambda: Budget("b@1", 10, -1), "reserve is 0 or more, not -1"),
        (lambda: Budget("b@1", 10, 11), "a reserve of 11 is more than a window of 10"),
        (lambda: Percent(101), "101 percent is more than the whole"),
        (lambda: Tokens(-1), "a share of tokens is 0 or more, not -1"),
        (lambda: Allotment(Section.CURRENT, Order.NEWEST_FIRST, Misfit.SKIP), "nothing is ever left out of current"),
        (
            lambda: Allotment(Section.HISTORY, Order.BY_SCORE, Misfit.SKIP),
            "history has no order 'by score', but 'newest first' or 'oldest first'",
        ),
        (
            lambda: Allotment(Section.DOCUMENTS, Order.BY_SCORE, Misfit.SKIP, Grouping.BY_TURN),
            "documents has no messages to keep together",
        ),
        (
            lambda: Budget("b@1", 10, 0, (Allotment(Section.TOOLS, Order.AS_GIVEN, Misfit.SKIP),) * 2),
            "tools has two allotments",
        ),
    ],
)
def test_a_budget_that_makes_no_sense(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (Budget, ("b@1", "10", 0), "window is a whole number, not a str"),
        (Budget, ("b@1", 10, 0, [HISTORY]), "optional is of type tuple, not list"),
        (Budget, ("b@1", 10, 0, ("history",)), "what stands in optional is of type Allotment, not str"),
        (Budget, ("b@1", 10, 0, (), "reject"), "overflow is of type Reject or CutLeft, not str"),
        (Allotment, ("history", Order.NEWEST_FIRST, Misfit.SKIP), "section is of type Section, not str"),
        (Allotment, (Section.HISTORY, "newest first", Misfit.SKIP), "order is of type Order, not str"),
        (CutLeft, (["messages"],), "breaks is of type frozenset, not list"),
        (CutLeft, (frozenset({"messages"}),), "what a cut breaks is of type Structure, not str"),
    ],
)
def test_a_budget_is_made_of_its_own_types(
    make: Callable[..., object], arguments: tuple[object, ...], message: str
) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        make(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((QWEN3, ASKED, [], [], -1), ValueError, "max_input_tokens is 0 or more, not -1"),
        ((QWEN3, ASKED, [], [], 9.5), TypeError, "max_input_tokens is a whole number"),
        (("qwen3", ASKED, [], [], 99), TypeError, "model is what katapi.load gives"),
        ((QWEN3, "1 + 1?", [], [], 99), TypeError, "required is a request of qwen3"),
        ((QWEN3, ASKED, None, [], 99), TypeError, "history is a list, not a NoneType"),
        ((QWEN3, ASKED, b"[]", [], 99), TypeError, "history is a list, not a bytes"),
        ((QWEN3, ASKED, [], "a", 99), TypeError, "optional_docs is a list, not a str"),
    ],
)
def test_what_is_no_argument(arguments: tuple[object, ...], error: type[Exception], message: str) -> None:
    fit_context: Callable[..., object] = katapi.fit_context
    with pytest.raises(error, match=message):
        fit_context(*arguments)


def test_a_room_of_numpy_is_a_room() -> None:
    room: int = np.int64(99)  # type: ignore[assignment]  # a program without types has such
    assert katapi.fit_context(QWEN3, ASKED, [], [], room).record.decision is not None


def test_where_the_template_itself_is_too_long_nothing_is_to_be_shortened_of_a_section() -> None:
    with pytest.raises(BudgetError) as raised:
        katapi.fit_context(QWEN3, [{"role": "user", "content": "1"}], [], [], 0)
    assert raised.value.help == "shorten it by 9 tokens; the template itself prints most of them"


def test_the_help_for_an_unknown_policy_says_what_there_is() -> None:
    request = b'{"messages": [{"role": "user", "content": "1"}]}'
    with pytest.raises(BudgetError, match="declared: Qwen, agent32k"):
        QWEN3.assemble(request, "agent")
    with pytest.raises(BudgetError, match="write a `budget` there, or `use` a file of budgets"):
        replace(QWEN3, budgets={}).assemble(request, "agent")
