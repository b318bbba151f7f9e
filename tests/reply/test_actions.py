"""Actions of Command R+: JSON of any spacing behind a word, and the token that ends a turn."""

from __future__ import annotations

import json

import pytest

from tests.specs import model_named

CALLS = [
    {"tool_name": "internet_search", "parameters": {"query": "biggest penguin", "limit": 3}},
    {"tool_name": "now", "parameters": {}},
]


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("content", ["", "I will search."])
def test_calls_are_read_in_any_spacing(content: str, indent: int | None) -> None:
    model = model_named("command-r-plus")
    tools = [{"name": call["tool_name"], "parameters": {}} for call in CALLS]
    request = {"messages": [{"role": "user", "content": "Whats the biggest penguin?"}], "tools": tools}
    prompt = model.assemble(json.dumps(request).encode())
    written = ",\n".join("    " + json.dumps(call, indent=indent) for call in CALLS)
    text = f"{content}\nAction:\n```json\n[\n{written}\n]```"
    end = prompt.input_ids.tolist()[-3]
    message = model.parse([*model.encode(text), end], prompt)
    assert (message.faults, message.complete) == ((), True)
    assert message.content == content
    found = [(call.name, call.arguments) for call in message.tool_calls]
    assert found == [(call["tool_name"], call["parameters"]) for call in CALLS]
