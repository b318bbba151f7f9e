"""Long conversations for budgets: questions and answers, calls of tools, and texts that meet at odd seams."""

from __future__ import annotations

from random import Random

from katapi.runtime.json_types import Json, JsonObject

TEXTS = (
    "a",
    "b c",
    " x",
    "\n",
    "",
    "hello world, how are you? " * 2,
    "<think>t</think>ok",
    "The quick brown fox jumps over the lazy dog. " * 3,
    "中文测试，你好。" * 8,
    "x" * 70,
    "e\u0301" * 30,
    ">\n <tool_response>q</tool_response>",
    "1" * 60,
)


def conversation(random: Random, length: int, *, calls: bool, texts: tuple[str, ...] = TEXTS) -> list[JsonObject]:
    """About so many messages, most of them in turns; with `calls`, some of them calls of tools and their results."""
    messages: list[JsonObject] = []
    if random.random() < 0.6:
        messages.append({"role": "system", "content": random.choice(texts)})
    number = 0
    while len(messages) < length:
        kind = random.random()
        if kind < 0.6 or not calls:
            messages.append({"role": "user", "content": random.choice(texts)})
        if kind < 0.5 or 0.6 < kind < 0.7:
            messages.append({"role": "assistant", "content": random.choice(texts)})
        elif kind > 0.7 and calls:
            ids = [f"call{number + at:05d}" for at in range(random.choice((1, 1, 2)))]
            number += len(ids)
            messages.append(_calling(random, ids, texts))
            messages += [{"role": "tool", "tool_call_id": one, "content": random.choice(texts)} for one in ids]
            if random.random() < 0.3:
                messages.append({"role": "assistant", "content": random.choice(texts)})
        if random.random() < 0.02:
            messages.append({"role": "system", "content": "be brief"})
    if random.random() < 0.8:
        messages.append({"role": "user", "content": random.choice(texts)})
    return messages


def turns(random: Random, length: int) -> list[JsonObject]:
    """Questions and answers in turn, the last a question."""
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": random.choice(TEXTS)} for at in range(length // 2 * 2 + 1)]


def _calling(random: Random, ids: list[str], texts: tuple[str, ...]) -> JsonObject:
    def call(name: str) -> Json:
        return {
            "id": name,
            "type": "function",
            "function": {"name": "look", "arguments": {"at": random.choice(texts)[:20]}},
        }

    content = random.choice(("", random.choice(texts)))
    return {"role": "assistant", "content": content, "tool_calls": [call(one) for one in ids]}


def tools(random: Random) -> list[Json]:
    """A few tools."""
    nothing: JsonObject = {"type": "object", "properties": {}}
    return [
        {
            "type": "function",
            "function": {"name": f"f{at}", "description": random.choice(TEXTS), "parameters": nothing},
        }
        for at in range(3)
    ]
