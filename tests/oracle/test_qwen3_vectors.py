"""Qwen3's spec through the oracle against what the official template printed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.segments import Rendering

Rendered = Callable[[str, Json], Rendering]

VECTORS = Path(__file__).parents[1] / "vectors" / "chat" / "qwen3.jsonl.gz"
# The official template drops a message of a role that it does not know.
DROPPED = {"edge/developer", "edge/unknown_role"}


def cases() -> list[JsonObject]:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        next(lines)
        return [case for line in lines if "error" not in (case := json.loads(line))]


def request_of(case: JsonObject) -> Json:
    params = case["params"]
    assert isinstance(params, dict)
    return {key: case[key] for key in ("messages", "tools") if key in case} | params


def test_every_case_gives_the_official_text(rendered: Rendered) -> None:
    different: list[Json] = []
    equal = 0
    for case in cases():
        if case["id"] in DROPPED:
            continue
        text = "".join(segment.text for segment in rendered("qwen3", request_of(case)).segments)
        if text == case["text"]:
            equal += 1
        else:
            different.append(case["id"])
    assert different == []
    assert equal == 366


def test_an_unknown_role_is_refused_where_the_official_template_drops_it(rendered: Rendered) -> None:
    refused = [case for case in cases() if case["id"] in DROPPED]
    assert len(refused) == 8
    for case in refused:
        with pytest.raises(RequestError) as caught:
            rendered("qwen3", request_of(case))
        assert caught.value.code == "R110"
