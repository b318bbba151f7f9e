"""What generated property tests ask of budgets: the context invariants of the chapter (1.2), and its own algorithm."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from katapi.oracle.budget import fitted
from katapi.runtime.budget.decision import PolicyDecision
from katapi.runtime.budget.items import conversation_of, section_list
from katapi.runtime.budget.policy import Budget, CutLeft
from katapi.runtime.errors import BudgetError, RequestError, TemplateError
from katapi.runtime.json_types import JsonObject
from katapi.runtime.messages import INSTRUCTING, USER, items_of, messages_of, roles_of
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from katapi.testing import accepted, rejection, request_bytes
from katapi.testing_segments import Placeholder, Prefix, check_placeholders, check_prefix
from katapi.testing_shown import check_images, check_pixels, with_images

R = TypeVar("R", bound=RequestModel)


class Case(NamedTuple):
    """A conversation, the name of a budget of the model, and how tight it is to be."""

    request: RequestModel
    policy: str
    room: float
    """How much of the conversation there is room for; 1 for all of it."""
    reserve: int


def within(requests: SearchStrategy[R], model: Model[R]) -> SearchStrategy[Case]:
    """Conversations put together of several requests, and budgets of the model that are tight for them."""

    def joined(parts: Sequence[R]) -> R:
        further = [one for part in parts[1:] for one in messages_of(part)]
        asking = [one for one, role in zip(further, roles_of(further), strict=True) if role not in INSTRUCTING]
        return parts[0].model_copy(update={"messages": (*messages_of(parts[0]), *asking)})

    conversations = with_images(accepted(st.lists(requests, min_size=1, max_size=4).map(joined), model), model)
    names = st.sampled_from(sorted(model.budgets))
    return st.builds(Case, conversations, names, st.floats(0, 1.1), st.integers(0, 8))


def check_within(
    model: Model[R], case: Case, prefix: Prefix | None = None, placeholders: Sequence[Placeholder] = ()
) -> None:
    """Asserts all that must hold of a conversation within a budget.

    `prefix` and `placeholders` are what the template prints for them, as far as the compiler knows it.
    """
    request = case.request
    assert isinstance(request, model.request_type)
    if rejection(model, request) is not None:
        return
    whole = model.assemble(request)
    check_placeholders(whole, placeholders)
    check_images(model, request, whole, range(len(messages_of(request))))
    budget = _tightened(model.budgets[case.policy], int(len(whole) * case.room), case.reserve)
    raw = request_bytes(request)
    try:
        model.decode_request(raw)
    except RequestError:  # it nests deeper than the model reads
        return
    needed = [name for name, field in model.request_type.model_fields.items() if field.is_required()]

    def naive() -> ModelInput:
        return _whole(model, fitted(json.loads(raw), budget, lambda part: len(_whole(model, part)), needed))

    expected = _or_code(naive)
    result = _or_code(lambda: model.assemble(raw, budget))
    if isinstance(expected, str) or isinstance(result, str):
        too_long = "B102" if isinstance(budget.overflow, CutLeft) else "B100"
        assert result == (expected if isinstance(expected, str) else too_long)
        assert isinstance(expected, str) or len(expected) > budget.room
        return
    assert len(result) + budget.reserve <= budget.window
    assert result.attention_mask.tolist() == [1] * len(result)
    assert result.position_ids.tolist() == list(range(len(result)))
    check_placeholders(result, placeholders)
    if prefix is not None:
        check_prefix(request, result.rendered.payload, prefix)
    decision = result.record.decision
    assert decision is not None
    if decision.cut is None:
        assert result.input_ids.tolist() == expected.input_ids.tolist()
        assert decision.input == len(result)
        check_images(model, request, result, _check_kept(request, result.request, decision))
        _check_choices(request, decision)
    else:
        cut = decision.cut
        assert isinstance(budget.overflow, CutLeft)
        assert result.input_ids.tolist() == expected.input_ids.tolist()[cut.tokens :]
        assert budget.overflow.breaks.issuperset(cut.breaks)
        before = [one.given.data for one in expected.images]
        assert [one.given.data for one in result.images] == before[len(before) - len(result.images) :]
        check_pixels(model, result)


def _or_code(assemble: Callable[[], ModelInput]) -> ModelInput | str:
    """An input, or the code with which it is refused: the template may refuse what is required by itself."""
    try:
        return assemble()
    except (TemplateError, BudgetError) as error:
        return error.code


def _tightened(budget: Budget, room: int, reserve: int) -> Budget:
    return replace(budget, window=room + reserve, reserve=reserve)


def _whole(model: Model[R], request: JsonObject) -> ModelInput:
    return model.assemble(json.dumps(request, ensure_ascii=False).encode())


def _check_kept(request: RequestModel, kept: RequestModel, decision: PolicyDecision) -> list[int]:
    """What is required is there as it came, in its order; a call and its results are there together or not at all.

    Gives the messages that are kept.
    """
    messages = messages_of(request)
    places = sorted(
        at
        for choice in decision.choices
        if choice.kept and section_list(choice.section) == "messages"
        for at in choice.at
    )
    assert [messages[at].model_dump() for at in places] == [one.model_dump() for one in messages_of(kept)]
    conversation = conversation_of(messages)
    required = [at for number in conversation.required for at in conversation.atoms[number]]
    assert {*required} <= {*places}
    for atom in conversation.atoms:
        assert {*atom} <= {*places} or {*atom}.isdisjoint(places)
    users = [at for at, role in enumerate(roles_of(messages)) if role == USER]
    assert {*users[-1:]} <= {*places}
    assert getattr(kept, "add_generation_prompt", None) == getattr(request, "add_generation_prompt", None)
    return places


def _check_choices(request: RequestModel, decision: PolicyDecision) -> None:
    """Each thing of the request was decided on once, and each length follows from the one before."""
    length: int | None = None
    decided: dict[str, list[int]] = {"messages": [], "tools": [], "documents": []}
    for choice in decision.choices:
        decided[section_list(choice.section)] += choice.at
        if choice.before:
            assert length in (None, choice.before)
        if choice.kept:
            length = choice.after
        elif choice.after is not None:
            assert choice.after > decision.window - decision.reserve or choice.why.value == "over its share"
    assert length in (None, decision.input)
    for name, indices in decided.items():
        assert sorted(indices) == list(range(len(items_of(request, name))))
