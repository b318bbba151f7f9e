"""What a budget decided, as the page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from katapi.divergence.plain import items, numbers, objects
from katapi.inspecting.values import written
from katapi.inspecting.view import BudgetView, Item
from katapi.runtime.budget.items import conversation_of
from katapi.runtime.budget.policy import Section
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.messages import messages_of
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import Path

_OTHER_LISTS: Final = (Section.TOOLS.value, Section.DOCUMENTS.value)
_TEMPLATE: Final = "template"
_UNKNOWN: Final = "unknown"
_ORDER: Final = (*(section.value for section in Section), "messages", _TEMPLATE, _UNKNOWN)


def budget_view(sections: tuple[tuple[str, int], ...], decision: Json) -> BudgetView:
    """How the tokens of an input are shared out, and what was decided; None where no policy was named."""
    if not isinstance(decision, Mapping):
        return BudgetView(sections)
    cut = decision.get("cut")
    return BudgetView(
        sections,
        written(decision.get("id")),
        _number(decision.get("window")),
        _number(decision.get("reserve")),
        tuple(map(_item, objects(decision.get("choices")))),
        _cut(cut) if isinstance(cut, Mapping) else "",
    )


def shared_out(
    origins: Iterable[tuple[tuple[Path, ...] | None, int]], request: RequestModel | None
) -> tuple[tuple[str, int], ...]:
    """How many tokens come from each section; those that the template wrote count as `template`.

    `origins` are places in the request, None where that is not known, and how many tokens came from each. Without a
    `request` nothing says which messages are instructions, history or the current turn: they are `messages`.
    """
    sections: dict[int, str] = {}
    if request is not None:
        conversation = conversation_of(messages_of(request))
        for section, atoms in (
            (Section.CURRENT, conversation.current),
            (Section.INSTRUCTIONS, conversation.instructions),
        ):
            sections |= {at: section.value for number in atoms for at in conversation.atoms[number]}
    counts: Counter[str] = Counter()
    for paths, count in origins:
        counts[_UNKNOWN if paths is None else _section(paths, sections, known=request is not None)] += count
    return tuple((name, counts[name]) for name in _ORDER if counts[name])


def _section(paths: tuple[Path, ...], sections: dict[int, str], *, known: bool) -> str:
    for path in paths:
        match path:
            case ("messages", int(index), *_):
                return sections.get(index, Section.HISTORY.value) if known else "messages"
            case ("tools" | "documents" as name, *_):
                return str(name)
            case _:
                pass
    return _TEMPLATE


def reasons_left_out(decision: Json) -> dict[int, str]:
    """For each message that was left out, by its index in the request that came in, the reason."""
    choices = objects(decision.get("choices")) if isinstance(decision, Mapping) else []
    left = (one for one in choices if not one.get("kept") and one.get("section") not in _OTHER_LISTS)
    return {at: _why(one) for one in left for at in numbers(one.get("at"))}


def _item(choice: JsonObject) -> Item:
    after = choice.get("after")
    return Item(
        written(choice.get("section")),
        ranges(tuple(numbers(choice.get("at")))),
        bool(choice.get("kept")),
        _why(choice),
        _number(choice.get("before")),
        after if isinstance(after, int) else None,
    )


def _why(choice: JsonObject) -> str:
    why = written(choice.get("why"))
    return f"{why}: {written(choice['detail'])}" if choice.get("detail") else why


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0


def ranges(numbers: tuple[int, ...]) -> str:
    """Indices as people write them: 0, 3–5."""
    if not numbers:
        return ""
    breaks = [at for at, (one, next) in enumerate(pairwise(numbers), start=1) if next != one + 1]
    runs = [numbers[start:end] for start, end in pairwise([0, *breaks, len(numbers)])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _cut(cut: JsonObject) -> str:
    broken = ", ".join(map(written, items(cut.get("breaks")))) or "nothing"
    tokens = _number(cut.get("tokens"))
    return (
        f"{tokens:,} tokens were cut off on the left, which breaks {broken}; the input begins with "
        f"{written(cut.get('begins'))!r}"
    )
