"""`katapi assemble --explain`: what a budget decided, as a table."""

from __future__ import annotations

import json

from katapi.runtime.json_types import Json
from tests.command import here

TOLD = [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hello!"}]
ASKED = {"role": "user", "content": "How tall is it?"}


def explained(model: str, policy: str, **request: Json) -> tuple[list[list[str]], str]:
    """The cells of each row, and the last line."""
    done = here("assemble", model, "--policy", policy, "--explain", stdin=json.dumps(request).encode())
    assert (done.status, done.err) == (0, "")
    head, *rows, total = done.out.splitlines()
    columns = ["section", "items", "begins", "kept", "before", "after", "why"]
    assert head.split() == columns
    starts = [head.index(name) for name in columns]
    starts[4:6] = [head.index("kept") + 4, head.index("before") + 6]  # numbers stand on the right
    bounds = list(zip(starts, [*starts[1:], None], strict=True))
    return [[row[start:end].strip() for start, end in bounds] for row in rows], total


def test_each_choice_has_a_row() -> None:
    documents: list[Json] = [
        {"title": "Paris", "text": "word " * 9000, "score": 0.1},
        {"title": "Tower", "text": "330 m", "score": 0.9},
    ]
    rows, total = explained("granite-4", "agent32k", messages=[*TOLD, ASKED], documents=documents)
    assert [row[:4] + row[6:] for row in rows] == [
        ["current", "2", "user: How tall is it?", "yes", "required"],
        ["documents", "1", "Tower", "yes", "fits"],
        ["history", "0–1", "user: Hello!", "yes", "fits"],
        ["documents", "0", "Paris", "no", "over its share"],
    ]
    assert [row[4] for row in rows[2:]] == [row[5] for row in rows[1:3]]
    assert total == f"policy agent32k@1: {rows[2][5]} tokens and 4096 reserved, window 32768; 1 left out"


def test_parts_of_a_message_are_shown() -> None:
    content = [{"type": "image"}, {"type": "text", "text": "What is this?"}]
    rows, _ = explained("qwen3-vl", "chat8k", messages=[{"role": "user", "content": content}])
    assert [row[2] for row in rows] == ["user: (image) What is this?"]


def test_it_needs_a_policy() -> None:
    done = here("assemble", "qwen3", "--explain", stdin=json.dumps({"messages": [ASKED]}).encode())
    assert done.status == 2
    assert "--policy" in done.err
