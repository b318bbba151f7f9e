"""Requests: the real conversations of the vectors, and how peers take them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from katapi.runtime.json_types import Json
from tools.benchmarks.corpus import ROOT

Messages = list[dict[str, Json]]


@dataclass(frozen=True)
class Conversation:
    """One conversation as a request."""

    id: str
    params: Mapping[str, bool]
    raw: bytes


@dataclass(frozen=True)
class Case(Conversation):
    """One conversation of the vectors, and what is official of it."""

    text: str
    """What the official template prints, of the model that the vectors are of."""
    ids: list[int]


@dataclass(frozen=True)
class Plain:
    """A request as most peers take it."""

    messages: Messages
    tools: list[dict[str, Json]] | None


@dataclass(frozen=True)
class Vectors:
    """The real conversations of a model, and what the header says of the official files."""

    cases: list[Case]
    template_sha256: str
    tokenizer_sha256: str


def read_vectors(model: str, limit: int, folder: Path = ROOT / "tests/vectors/chat") -> Vectors:
    """Real conversations for which the official implementation gave a result, at most `limit`, taken evenly."""
    with gzip.open(folder / f"{model}.jsonl.gz", "rt", encoding="utf-8") as lines:
        head, *rows = map(json.loads, lines)
    cases = [
        Case(
            id=row["id"],
            params=row["params"],
            raw=json.dumps(
                {key: row[key] for key in ("messages", "tools") if key in row} | row["params"], ensure_ascii=False
            ).encode(),
            text=row["text"],
            ids=row["ids"],
        )
        for row in rows
        if "error" not in row and row["id"].startswith("real/")
    ]
    step = max(-(-len(cases) // limit), 1)
    return Vectors(cases[::step], head["template_sha256"], head["tokenizer_sha256"])


def plain(raw: bytes) -> Plain:
    """A request as its JSON has it."""
    request = json.loads(raw)
    return Plain(request["messages"], request.get("tools"))
