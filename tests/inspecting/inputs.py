"""Inputs whose pages are looked at."""

from __future__ import annotations

import json

import katapi
from katapi.inspecting.from_input import view_of
from katapi.inspecting.view import View
from katapi.runtime.budget.policy import Budget
from katapi.runtime.json_types import Json

TALK: dict[str, Json] = {
    "messages": [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "What is 2 + 2?\nTell me, 天空 é."},
        {"role": "assistant", "content": "It is 4."},
        {"role": "user", "content": "Thank you."},
    ],
    "enable_thinking": False,
}
HOSTILE = (
    "<script>window.executed = 1</script></script><!-- <img src=x onerror='window.executed = 1'> -->"
    '<svg onload="window.executed = 1">" \' & &lt; {{STYLE}} {{DATA}} javascript:window.executed=1 \u202e\u200b\u0000'
)
"""What would run, end a script or command the page where a content were taken for anything but text."""


def looked_at(
    name: str, request: dict[str, Json], policy: str | Budget | None = None
) -> tuple[View, katapi.ModelInput]:
    """The view of a request, and the input that it shows."""
    model = katapi.load(name)
    result = model.assemble(json.dumps(request).encode(), policy)
    return view_of(model, result), result


def long_talk(turns: int, words: int) -> dict[str, Json]:
    """A conversation that is too long for small windows."""
    messages: list[Json] = [{"role": "system", "content": "Answer briefly."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"question {turn} " * words})
        messages.append({"role": "assistant", "content": f"answer {turn} " * words})
    messages.append({"role": "user", "content": "And now?"})
    return {"messages": messages}
