"""What a budget decided, as the page shows it."""

from __future__ import annotations

from itertools import pairwise

from katapi.inspecting.view import BudgetView, Item
from katapi.runtime.budget.apply import tokens_by_section
from katapi.runtime.budget.decision import Choice, Cut, PolicyDecision
from katapi.runtime.budget.policy import Section
from katapi.runtime.model_input import ModelInput

_OTHER_LISTS = (Section.TOOLS, Section.DOCUMENTS)


def budget_view(result: ModelInput) -> BudgetView:
    """How the tokens of an input are shared out, and what was decided."""
    sections = tuple((name, count) for name, count in tokens_by_section(result).items() if count)
    decision = result.record.decision
    if decision is None:
        return BudgetView(sections)
    items = tuple(_item(choice) for choice in decision.choices)
    cut = "" if decision.cut is None else _cut(decision.cut)
    return BudgetView(sections, decision.policy, decision.window, decision.reserve, items, cut)


def reasons_left_out(decision: PolicyDecision | None) -> dict[int, str]:
    """For each message that was left out, by its index in the request that came in, the reason."""
    choices = () if decision is None else decision.choices
    left = (one for one in choices if not one.kept and one.section not in _OTHER_LISTS)
    return {at: _why(one) for one in left for at in one.at}


def _item(choice: Choice) -> Item:
    return Item(choice.section.value, ranges(choice.at), choice.kept, _why(choice), choice.before, choice.after)


def _why(choice: Choice) -> str:
    return f"{choice.why.value}: {choice.detail}" if choice.detail else choice.why.value


def ranges(numbers: tuple[int, ...]) -> str:
    """Indices as people write them: 0, 3–5."""
    if not numbers:
        return ""
    breaks = [at for at, (one, next) in enumerate(pairwise(numbers), start=1) if next != one + 1]
    runs = [numbers[start:end] for start, end in pairwise([0, *breaks, len(numbers)])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _cut(cut: Cut) -> str:
    broken = ", ".join(structure.value for structure in cut.breaks) or "nothing"
    return (
        f"{cut.tokens:,} tokens were cut off on the left, which breaks {broken}; the input begins with {cut.begins!r}"
    )
