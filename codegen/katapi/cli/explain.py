"""What a budget decided, as a table on the terminal."""

from __future__ import annotations

from rich.table import Table

from katapi.cli.terminal import print_table, visible
from katapi.inspecting.budgets import ranges
from katapi.runtime.budget.decision import Choice, PolicyDecision
from katapi.runtime.budget.items import section_list
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model_input import ModelInput

_LONGEST = 40  # characters of what is shown of a message


def explain(result: ModelInput) -> None:
    """A row for each choice: what it was about, what became of it and why, and the tokens before and after."""
    record = result.record
    decision = record.decision
    assert decision is not None
    offered = record.request if decision.offered is None else decision.offered.model_dump(mode="json")
    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("section", "items", "begins"):
        table.add_column(heading, no_wrap=True)
    table.add_column("kept")
    for heading in ("before", "after"):
        table.add_column(heading, justify="right")
    table.add_column("why")  # last, since an error that stands there is long
    for choice in decision.choices:
        table.add_row(*_row(choice, offered))
    print_table(table)
    print(_total(decision))


def _row(choice: Choice, offered: JsonObject) -> tuple[str, ...]:
    why = f"{choice.why.value}: {choice.detail}" if choice.detail else choice.why.value
    after = "" if choice.after is None else str(choice.after)
    return (
        choice.section.value,
        ranges(choice.at),
        visible(_beginning(choice, offered)),
        "yes" if choice.kept else "no",
        str(choice.before),
        after,
        visible(why),
    )


def _total(decision: PolicyDecision) -> str:
    dropped = sum(not choice.kept for choice in decision.choices)
    total = f"{decision.input} tokens and {decision.reserve} reserved, window {decision.window}; {dropped} left out"
    cut = decision.cut
    if cut is not None:
        breaks = ", ".join(structure.value for structure in cut.breaks) or "nothing"
        total += f"; {cut.tokens} tokens cut off, which breaks {breaks}; the input begins with {visible(cut.begins)!r}"
    return f"policy {decision.policy}: {total}"


def _beginning(choice: Choice, offered: JsonObject) -> str:
    """The first words of an item."""
    items = offered.get(section_list(choice.section))
    if not isinstance(items, list | tuple) or not choice.at or choice.at[0] >= len(items):
        return ""
    text = _words(items[choice.at[0]]).strip().replace("\n", " ")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _words(item: Json) -> str:
    """The role and the text of a message, the name of a tool, the title or text of a document."""
    if not isinstance(item, dict):
        return str(item)
    function = item.get("function")
    if isinstance(function, dict):
        return str(function.get("name", ""))
    text = _text(item.get("content"))
    if "role" in item:
        return f"{item['role']}: {text}"
    return str(item.get("title") or item.get("text") or text)


def _text(content: Json) -> str:
    """A content as text; of a part that is none, its type."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [part for part in content if isinstance(part, dict)]
    return " ".join(str(part["text"] if "text" in part else f"({part.get('type')})") for part in parts)
