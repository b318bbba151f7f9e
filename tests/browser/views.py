"""Views that several tests open."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import katapi
from katapi.foreign import of_ids, of_text
from katapi.inspecting.from_diff import view_of_diff
from katapi.inspecting.from_input import execution_of
from katapi.inspecting.view import Difference, View
from katapi.packs.writing import pack_of
from katapi.runtime.json_types import Json
from tests.inspecting.inputs import HOSTILE, TALK, looked_at

VIEW, RESULT = looked_at("qwen3", TALK)
RUN = VIEW.execution


def hostile() -> tuple[View, katapi.ModelInput]:
    """A request all of whose contents would run where they were not text."""
    schema: dict[str, Json] = {"name": "f", "description": HOSTILE, "parameters": {"type": "object", "properties": {}}}
    request: dict[str, Json] = {
        "messages": [{"role": role, "content": HOSTILE} for role in ("system", "user", "assistant", "user")],
        "tools": [{"type": "function", "function": schema}],
    }
    return looked_at("qwen3", request)


def differing() -> View:
    """Two executions that part at a token."""
    request = json.loads(json.dumps(TALK))
    request["messages"][1]["content"] = request["messages"][1]["content"].replace("2 + 2", "2 +\u00a02")
    model = katapi.load("qwen3")
    other = execution_of(model, model.assemble(json.dumps(request).encode()), "b.pack")
    pairs = zip(RUN.tokens, other.tokens, strict=False)
    at = next(index for index, (one, two) in enumerate(pairs) if one.id != two.id)
    what = "messages[1].content: U+0020 SPACE in one, U+00A0 NO-BREAK SPACE in the other"
    return replace(
        VIEW,
        execution=replace(RUN, label="a.pack"),
        other=other,
        difference=Difference("request", what, (at, at), ("one token more in b.pack",)),
    )


def two_packs() -> View:
    """Two packs of which one has another space in a content."""
    model = katapi.load("qwen3")
    texts = [json.dumps(TALK, ensure_ascii=False).replace("2 + 2", spelled) for spelled in ("2 + 2", "2 +\u00a02")]
    one, other = (pack_of(model, model.assemble(text.encode())) for text in texts)
    return view_of_diff((one, other), {"qwen3": model}, ("a.pack", "b.pack"))


def failed_beside_foreign() -> View:
    """A pack that holds an error and one of another system: neither has all stages."""
    model = katapi.load("qwen3")
    failed = pack_of(model, katapi.execute(model, b'{"messages": 1}'))
    return view_of_diff((failed, of_ids([151644, 872, 10**9], model="qwen3")), {"qwen3": model}, ("a.pack", "b.pack"))


def beside_a_text() -> View:
    """A pack beside the text of another system, which has another answer and no ids."""
    model = katapi.load("qwen3")
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]
    result = model.assemble(json.dumps({"messages": messages}).encode())
    text = model.render(result.request).text.replace("Yes.", "<think>Hm.</think>Yes.")
    return view_of_diff((pack_of(model, result), of_text(text, model="qwen3")), {"qwen3": model}, ("a.pack", "b.pack"))


def big(count: int) -> View:
    """An input of about so many tokens."""
    random = Random(7)
    words = "the of and to in a is that for it as was with be by on not he his but are this".split()
    text = "".join(random.choice(words) + random.choice((" ",) * 40 + ("\n",)) for _ in range(count))
    return looked_at("qwen3", {"messages": [{"role": "user", "content": text}]})[0]
