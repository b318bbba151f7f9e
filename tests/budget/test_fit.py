"""What is kept within a budget is what the chapter's algorithm keeps, which counts every candidate as a whole."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from katapi.oracle.budget import fitted
from katapi.runtime.budget import measure
from katapi.runtime.budget.policy import Allotment, Budget, Grouping, Misfit, Order, Percent, Section, Tokens
from katapi.runtime.budget.reach import Unbounded
from katapi.runtime.errors import BudgetError, KatapiError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tests.budget.conversations import conversation, tools, turns
from tests.examples import examples
from tests.requests import Requests
from tests.specs import ALL, OWN, Spec, model_of, program_of, specs_in

SEEDS = 4
EXTRAS: tuple[JsonObject, ...] = ({}, {"now": "2025-03-09T14:05:07"})
MODELS = [spec for path in OWN for spec in specs_in(path)]


IN_TURNS = Budget(
    "in_turns@1", 600, 0, (Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP, Grouping.BY_TURN),)
)


def some_budget(random: Random) -> Budget:
    share = random.choice((None, None, Percent(30), Tokens(50)))
    optional = [
        Allotment(
            Section.HISTORY,
            random.choice((Order.NEWEST_FIRST, Order.NEWEST_FIRST, Order.OLDEST_FIRST)),
            random.choice((Misfit.SKIP, Misfit.SKIP, Misfit.STOP)),
            random.choice((Grouping.BY_MESSAGE, Grouping.BY_TURN)),
            at_least=share,
            at_most=random.choice((None, None, Percent(60), Tokens(200))),
        )
    ]
    if random.random() < 0.3:
        optional.append(Allotment(Section.TOOLS, Order.AS_GIVEN, Misfit.SKIP))
    random.shuffle(optional)
    return Budget("some@1", random.choice((100, 200, 400, 800, 2000, 10000)), random.choice((0, 10)), tuple(optional))


def outcome(model: Model[RequestModel], request: JsonObject, budget: Budget | None) -> list[int] | str:
    """The ids of a request within a budget, or the code with which it is refused."""
    try:
        ids: list[int] = model.assemble(json.dumps(request).encode(), budget).input_ids.tolist()
    except KatapiError as error:
        return error.code
    return ids


def expected(model: Model[RequestModel], request: JsonObject, budget: Budget) -> list[int] | str:
    """The same by the chapter's algorithm."""

    needed = [name for name, field in model.request_type.model_fields.items() if field.is_required()]

    def count(part: JsonObject) -> int:
        return len(model.assemble(json.dumps(part).encode()))

    try:
        part = fitted(request, budget, count, needed)
        ids: list[int] = model.assemble(json.dumps(part).encode()).input_ids.tolist()
    except KatapiError as error:
        return error.code
    return ids if len(ids) <= budget.room else "B100"


def requests_of(model: Model[RequestModel], seed: int) -> tuple[JsonObject, Budget]:
    """A long conversation that a model can read, and a budget."""
    random = Random(seed)
    plain: JsonObject = {"messages": conversation(random, 60 - 15 * (seed % 4), calls=random.random() < 0.6)}
    if random.random() < 0.3:
        plain = {**plain, "tools": tools(random)}
    spoken: JsonObject = {"messages": conversation(random, 30, calls=False)}
    in_turns: JsonObject = {"messages": turns(random, 50)}
    for request in (plain, spoken, in_turns):
        for extra in EXTRAS:
            try:
                model.render(json.dumps({**request, **extra}).encode())
            except KatapiError:
                continue
            return {**request, **extra}, some_budget(random)
    raise AssertionError(f"{model.name} takes no conversation")


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.name)
def test_a_long_conversation_is_fitted_as_by_trying_everything(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[bool] = Counter()
    within = measure.Measure._in_window

    def counted(self: measure.Measure[RequestModel], item: tuple[int, ...]) -> int | None:
        found = within(self, item)
        seen[found is not None] += 1
        return found

    monkeypatch.setattr(measure.Measure, "_in_window", counted)
    model = model_of(*spec)
    for seed in range(SEEDS):
        request, budget = requests_of(model, seed)
        budget = IN_TURNS if seed == 0 else budget
        assert outcome(model, request, budget) == expected(model, request, budget), seed
    # Otherwise nothing was compared but the whole with itself.
    assert seen[True] or isinstance(model._reach, Unbounded)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
def test_any_request_is_fitted_as_by_trying_everything(spec: Spec) -> None:
    model, program = model_of(*spec), program_of(*spec)

    @settings(examples(10, 300), suppress_health_check=[*HealthCheck])
    @given(st.lists(Requests(program).requests(), min_size=1, max_size=5), st.integers(0, 1000), st.floats(0, 1))
    def check(parts: list[Json], seed: int, tightness: float) -> None:
        request = joined(parts)
        budget = some_budget(Random(seed))
        whole = outcome(model, request, None)
        if isinstance(whole, list):
            budget = Budget(budget.id, int(len(whole) * tightness) + budget.reserve, budget.reserve, budget.optional)
        assert outcome(model, request, budget) == expected(model, request, budget)

    check()


def joined(parts: list[Json]) -> JsonObject:
    """The messages of several requests in one."""
    assert all(isinstance(part, dict) for part in parts)
    whole = [part for part in parts if isinstance(part, dict)]
    messages: list[Json] = []
    for part in whole:
        own = part.get("messages")
        assert isinstance(own, list)
        messages += own
    return {**whole[0], "messages": messages}


def test_an_input_that_is_too_long_names_its_sections() -> None:
    model = model_of(*next(spec for spec in MODELS if spec.name == "book"))
    request = {"messages": [{"role": "system", "content": "天空" * 5}, {"role": "user", "content": "蓝色" * 60}]}
    with pytest.raises(BudgetError) as raised:
        model.assemble(json.dumps(request).encode(), "Book")
    error = raised.value
    assert error.code == "B100"
    assert error.where == "policy Book@1: current"
    assert "what is required has 71 tokens (instructions 5, current 60, template 6)" in error.message
