"""Qwen3 on the plain strings of `vectors/text`: the ids and the text that the official tokenizer gave."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TypedDict, cast

import pytest

from katapi.runtime.tokenization.interface import Tokenizer


class Case(TypedDict, total=False):
    """One line of a file of vectors."""

    text: str
    ids: list[int]
    decoded: str
    spells: list[str]


def cases() -> list[Case]:
    """Those of `../shared` where it exists, otherwise the copy in this repository."""
    root = Path(__file__).parents[2]
    shared = root.parent / "shared" / "vectors" / "text" / "qwen3.jsonl.gz"
    path = shared if shared.exists() else root / "tests" / "vectors" / "text" / "qwen3.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(lines))
        found = [cast(Case, json.loads(line)) for line in lines]
    assert len(found) == header["cases"] > 400
    return found


CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_ids_and_text(case: Case, qwen: Tokenizer, qwen_control: dict[int, str]) -> None:
    ids = qwen.encode(case["text"])
    if case.get("spells"):  # the official tokenizer gives the control id that the text spells
        assert not qwen_control.keys() & set(ids)
        assert qwen.decode_text(ids) == case["text"]
    else:
        assert ids == case["ids"]
    assert qwen.decode_text(case["ids"]) == case["decoded"]
