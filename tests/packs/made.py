"""Packs for tests: of the fixture, of a conversation with tools, within a budget, extended, failed, redacted."""

from __future__ import annotations

import json
from functools import cache

import katapi
from katapi.packs.pack import Pack, Redaction
from katapi.packs.replay import FIXTURE
from katapi.packs.writing import pack_of
from katapi.runtime.execution import execute
from katapi.runtime.json_types import Json
from tests.command import ROOT

BOOK = katapi.load("book")
QWEN = katapi.load("qwen3")
TOOLS = (ROOT / "examples" / "temperature.json").read_bytes()
LONG = json.dumps({"messages": [{"role": "user", "content": f"question {n} " * 40} for n in range(60)]}).encode()
INVALID = b'{"messages": [{"role": "user", "content": "a\xff"}]}'


def fixture(redact: Redaction | None = None, *, embed_artifacts: bool = False) -> Pack:
    """The chapter's fixture."""
    return pack_of(BOOK, BOOK.assemble(FIXTURE.encode()), redact=redact, embed_artifacts=embed_artifacts)


def extended() -> katapi.ModelInput:
    """A conversation of two completions, the second cut off before its end."""
    model = katapi.load("qwen2.5")
    prompt = model.assemble(b'{"messages": [{"role": "user", "content": "1 + 1?"}]}')
    second = model.extend(prompt, [17, 13, 151645], [{"role": "user", "content": "And 2 + 2?"}])
    return model.extend(second, [19], [{"role": "user", "content": "Sure?"}], policy="agent32k")


def fitted() -> katapi.ModelInput:
    """What `fit_context` keeps of a history."""
    history: list[Json] = [{"role": "user", "content": f"{n} " * 20} for n in range(9)]
    return katapi.fit_context(QWEN, [{"role": "user", "content": "now"}], history, [], 200)  # type: ignore[arg-type]  # a list of messages


@cache
def packs() -> dict[str, Pack]:
    """One of each kind."""
    typed = QWEN.decode_request(TOOLS)
    return {
        "the fixture": fixture(),
        "tools": pack_of(QWEN, QWEN.assemble(TOOLS)),
        "parameters beside": pack_of(QWEN, QWEN.assemble(TOOLS, params={"enable_thinking": True})),
        "a typed request": pack_of(QWEN, QWEN.assemble(typed)),
        "within a budget": pack_of(QWEN, QWEN.assemble(LONG, "chat8k")),
        "cut": pack_of(QWEN, QWEN.assemble(LONG, "tail4k")),
        "a budget of the caller": pack_of(QWEN, QWEN.assemble(LONG, katapi.Budget("mine@1", window=90000, reserve=1))),
        "fit_context": pack_of(QWEN, fitted()),
        "extended": pack_of(katapi.load("qwen2.5"), extended()),
        "refused bytes": pack_of(QWEN, execute(QWEN, INVALID)),
        "a refused request": pack_of(QWEN, execute(QWEN, b'{"messages": 1}')),
        "a refused template": pack_of(
            katapi.load("gemma3"),
            execute(katapi.load("gemma3"), b'{"messages": [{"role": "assistant", "content": ""}]}'),
        ),
        "a refused budget": pack_of(QWEN, execute(QWEN, LONG, katapi.Budget("mine@1", window=64, reserve=8))),
        "an unknown budget": pack_of(QWEN, execute(QWEN, TOOLS, "nobody's")),
    }
