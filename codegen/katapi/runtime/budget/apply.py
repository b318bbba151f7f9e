"""A request within a budget: what is left of it, assembled, and every decision that was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from katapi.runtime.budget.cut import cut_left
from katapi.runtime.budget.decision import PolicyDecision
from katapi.runtime.budget.fit import fit
from katapi.runtime.budget.items import conversation_of
from katapi.runtime.budget.policy import Budget, CutLeft, Section
from katapi.runtime.budget.reach import Unbounded
from katapi.runtime.errors import BudgetError
from katapi.runtime.messages import messages_of
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.origins import Origin
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)

_TEMPLATE = "template"  # the tokens that no section of the request gave


def assemble_within(
    model: Model[R],
    request: R,
    budget: Budget,
    assemble: Callable[[R], ModelInput],
    required: Sequence[int] | None = None,
    together: Sequence[range] = (),
) -> ModelInput:
    """What is left of a request within a budget, as `assemble` gives it, with the decisions in its record.

    `required` and `together` are as `fit` has them. Raises `BudgetError` B100 where what is
    required exceeds the room, B102 where tokens may be cut off and no cut breaks only what it may, and what `assemble`
    raises for it.
    """
    reach = None if isinstance(model._reach, Unbounded) else model._reach()
    fitted = fit(request, budget, model._render, model._known_runs, reach, required, together)
    whole = assemble(fitted.request)
    decision = PolicyDecision(
        budget,
        len(whole),
        fitted.choices,
        None if fitted.request is request else request,
        required=None if required is None else tuple(required),
        together=tuple((each.start, each.stop) for each in together),
    )
    if len(whole) > budget.room:
        if isinstance(budget.overflow, CutLeft):
            return cut_left(whole, budget.overflow, model._starts, decision)
        raise _too_long(whole, budget)
    return replace(whole, _decision=decision)


def _too_long(whole: ModelInput, budget: Budget) -> BudgetError:
    """What to raise for an input that has nothing left to be left out."""
    counts = tokens_by_section(whole)
    most = max(counts, key=lambda name: counts[name])
    parts = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    over = len(whole) - budget.room
    whose = (
        "the template itself prints most of them" if most == _TEMPLATE else f"most of them are of the section {most}"
    )
    reserved = f" and {budget.reserve} are reserved for the answer" if budget.reserve else ""
    return BudgetError(
        f"what is required has {len(whole)} tokens ({parts}){reserved}; the window is {budget.window}",
        code="B100",
        where=f"policy {budget.id}: {most}",
        help=f"shorten it by {over} tokens; {whose}",
    )


def tokens_by_section(whole: ModelInput) -> dict[str, int]:
    """How many tokens come from each section, by its name; those that the template wrote count as `template`."""
    conversation = conversation_of(messages_of(whole.request))
    sections: dict[int, Section] = {}
    for section, atoms in ((Section.CURRENT, conversation.current), (Section.INSTRUCTIONS, conversation.instructions)):
        sections |= {at: section for number in atoms for at in conversation.atoms[number]}
    counts = {section.value: 0 for section in Section if section is not Section.GENERATION} | {_TEMPLATE: 0}
    for origin in whole.origins:
        counts[_section_of(origin, sections)] += 1
    return counts


def _section_of(origin: Origin, sections: dict[int, Section]) -> str:
    for path in origin.paths:
        match path:
            case ("messages", int(index), *_):
                return sections.get(index, Section.HISTORY).value
            case ("tools" | "documents" as name, *_):
                return Section(name).value
            case _:
                pass
    return _TEMPLATE
