"""Every model on whole conversations: the text that its official template printed, and the ids of its tokenizer.

Where Katapi gives no such text it gives a typed error, of a code that `different.toml` lists for the model with the
reason, or what the official template prints for a request that is made of this one by a rule that stands there too.
`docs/differences.md` and `docs/differences/` show the requests. Where the official template failed, Katapi gives a text
or a typed error, and nothing else.
"""

from __future__ import annotations

import gzip
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import katapi
from katapi.runtime.errors import ArtifactError, KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tests.vectors.test_template_path import renumbered

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "vectors" / "chat"
OWN = Path(__file__).with_name("chat")
DIFFERENT: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("different.toml").read_text(encoding="utf-8")
)
"""For each model the codes of its errors where the official template prints something, and rules; with the reasons."""

TEXT_ONLY = {"hermes-3-llama-3.1", "granite-4"}
"""Models whose own control tokens were not to be had: their ids are not official."""
MODELS = sorted({path.name.removesuffix(".jsonl.gz") for path in OWN.glob("*.jsonl.gz")} & set(katapi.models()))

IN_SHARED = [model for model in MODELS if (SHARED / f"{model}.jsonl.gz").exists()]

Case = dict[str, Json]


def cases(path: Path) -> Iterator[tuple[bytes, Case]]:
    """The requests of a file of vectors, each with its case; the clock of the file is a parameter where one is read."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header: Case = json.loads(next(lines))
        model = katapi.load(str(header["model"]))
        clock: Case = {"now": header["now"]} if "now" in model.request_type.model_fields else {}
        for line in lines:
            case: Case = json.loads(line)
            params = case["params"]
            assert isinstance(params, dict)
            request = {"messages": case["messages"], **params, **clock}
            request |= {key: case[key] for key in ("tools", "documents") if key in case}
            yield json.dumps(request, ensure_ascii=False).encode(), case


def outcome(model: Model[RequestModel], raw: bytes, case: Case) -> str:
    """Nothing where a case gives what it must, else what is wrong."""
    known = DIFFERENT.get(model.name, {})
    try:
        text = model.render(raw).text
    except KatapiError as error:
        if "text" in case and error.code not in known:
            return f"{error.code} {error.where}: {error.message}"
        return ""
    if "text" not in case:
        return ""
    if text != case["text"]:
        equal = (accommodated(raw, rule) for rule in RULES if rule in known)
        return "" if any(one != raw and model.render(one).text == case["text"] for one in equal) else f"text {text!r}"
    if model.name in TEXT_ONLY or not has_tokenizer(model):
        return ""
    other = renumbered(model.name)
    ids = [other.get(i, i) for i in model.assemble(raw).input_ids.tolist()]
    return "" if ids == case["ids"] else f"ids {ids}"


RULES = ("NONE", "DROPPED")


def accommodated(raw: bytes, rule: str) -> bytes:
    """The request for which Katapi prints what the official template prints for this one.

    `NONE`: the template prints Python's None for a content that is null. `DROPPED`: it also drops calls and results.
    """
    request: Case = json.loads(raw)
    messages = request["messages"]
    assert isinstance(messages, list)
    kept: list[Json] = []
    for message in messages:
        assert isinstance(message, dict)
        if rule == "DROPPED" and message["role"] == "tool":
            continue
        without = {key: value for key, value in message.items() if rule != "DROPPED" or key != "tool_calls"}
        kept.append(without | ({"content": "None"} if message.get("content", "") is None else {}))
    return json.dumps(request | {"messages": kept}, ensure_ascii=False).encode()


def has_tokenizer(model: Model[RequestModel]) -> bool:
    """Whether the vocabulary is at hand: some are made in the user's cache, from artifacts that are fetched there."""
    try:
        model.encode("")
    except ArtifactError as error:
        if error.code != "A125":
            raise
        return False
    return True


def differences(name: str, folder: Path) -> list[str]:
    """What is wrong with the cases of a model, by their names."""
    model = katapi.load(name)
    found = ((case["id"], outcome(model, raw, case)) for raw, case in cases(folder / f"{name}.jsonl.gz"))
    return [f"{case}: {why}" for case, why in found if why]


@pytest.mark.parametrize("model", MODELS)
def test_the_cases_of_this_repository(model: str) -> None:
    assert differences(model, OWN) == []


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/vectors is not there: only the cases in this repository")
@pytest.mark.parametrize("model", IN_SHARED)
def test_all_cases(model: str) -> None:
    assert differences(model, SHARED) == []


def test_each_row_is_of_a_model_that_has_cases_with_it() -> None:
    """A row that no case needs would let later ones pass unseen; the whole vectors show which are needed."""
    assert set(DIFFERENT) <= set(MODELS)
    if not SHARED.exists():
        pytest.skip("../shared/vectors is not there")
    unneeded: list[tuple[str, str]] = []
    for name, rows in DIFFERENT.items():
        seen: set[str] = set()
        for raw, case in cases((SHARED if name in IN_SHARED else OWN) / f"{name}.jsonl.gz"):
            if "text" in case:
                try:
                    differs = katapi.load(name).render(raw).text != case["text"]
                except KatapiError as error:
                    seen.add(error.code)
                else:
                    seen |= set(RULES) if differs else set()
        unneeded += [(name, row) for row in rows if row not in seen]
    assert unneeded == []
