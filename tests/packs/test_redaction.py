"""Redaction: no content is left anywhere in the file, and what is no content stays."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.packs.archive import MANIFEST, read_archive
from katapi.packs.pack import Pack, Redaction
from katapi.packs.redaction import HIDDEN, placeholder, text_digest
from katapi.packs.replay import replay
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.execution import execute
from katapi.runtime.json_types import Json
from katapi.runtime.stages import Stage
from tests.packs.made import QWEN, packs
from tests.specs import model_named

BOTH: list[Redaction] = ["digests", "placeholders"]
SECRETS = ["swordfish", "4929123456781234", "天空秘密", "ключ", "hunter2"]
REQUEST = json.dumps(
    {
        "messages": [
            {"role": "system", "content": SECRETS[0]},
            {"role": "user", "content": SECRETS[2]},
            {
                "role": "assistant",
                "content": SECRETS[3],
                "tool_calls": [
                    {"type": "function", "function": {"name": SECRETS[4], "arguments": {"n": int(SECRETS[1])}}},
                    {"type": "function", "function": {"name": "f", "arguments": json.dumps({"n": SECRETS[1]})}},
                ],
            },
            {"role": "tool", "content": SECRETS[4]},
            {"role": "user", "content": "and " + SECRETS[0]},
        ],
        "tools": [{"type": "function", "function": {"name": SECRETS[4], "description": SECRETS[3]}}],
    },
    ensure_ascii=False,
).encode()


def spellings(secret: str) -> list[bytes]:
    return [secret.encode(), json.dumps(secret).strip('"').encode()]


def leaks(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if any(spelled in data for spelled in spellings(secret))]


PLAIN = json.dumps(
    {
        "messages": [
            {"role": "user", "content": SECRETS[0]},
            {"role": "assistant", "content": SECRETS[3]},
            {"role": "user", "content": f"{SECRETS[2]} {SECRETS[1]}"},
        ]
    }
).encode()


@pytest.mark.parametrize("redact", BOTH)
@pytest.mark.parametrize("name", katapi.models())
def test_no_secret_is_left_in_the_file(name: str, redact: Redaction) -> None:
    model = model_named(name)
    for raw in (REQUEST, PLAIN):
        for policy in (None, "agent32k", katapi.Budget("mine@1", window=64, reserve=8)):
            found = execute(model, raw, policy)
            assert leaks(pack_bytes(pack_of(model, found)))
            hidden = pack_of(model, found, redact=redact)
            assert leaks(pack_bytes(hidden)) == []
            assert replay(hidden, model).agrees


@pytest.mark.parametrize("redact", BOTH)
def test_no_id_of_a_content_is_left(redact: Redaction) -> None:
    whole = QWEN.assemble(REQUEST)
    ids = pack_of(QWEN, whole, redact=redact).stages[Stage.IDS]["input_ids"]
    assert isinstance(ids, list)
    for id, then, origin in zip(ids, whole.input_ids.tolist(), whole.origins, strict=True):
        assert id == (HIDDEN if origin.kind in ("content", "mixed") else then)
    assert ids.count(HIDDEN) > 20


@pytest.mark.parametrize("redact", BOTH)
def test_structure_and_lengths_stay(redact: Redaction) -> None:
    whole = QWEN.assemble(REQUEST)
    record, pack = whole.record, pack_of(QWEN, whole, redact=redact)
    for stage in (Stage.TEMPLATE, Stage.TOKENIZER, Stage.RUNS, Stage.TENSORS, Stage.IMAGES):
        assert pack.stages[stage] == record.stages[stage]
    then, now = record.stages[Stage.RENDERED]["segments"], pack.stages[Stage.RENDERED]["segments"]
    assert isinstance(then, list)
    assert isinstance(now, list)
    for one, other in zip(then, now, strict=True):
        if one["kind"] != "content":
            assert one == other
        else:
            assert {**one, "text": ""} == {**other, "text": ""}
            if redact == "placeholders":
                assert len(one["text"].encode()) == len(other["text"].encode())
            else:
                assert other["text"] == text_digest(one["text"])
    messages = pack.stages[Stage.REQUEST]["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "user"]
    assert json.loads(messages[2]["tool_calls"][1]["function"]["arguments"]).keys() == {"n"}


@given(st.text(max_size=30))
def test_a_placeholder_has_the_length_and_the_kinds_of_its_text(text: str) -> None:
    made = placeholder(text)
    assert len(made) == len(text)
    for then, now in zip(text, made, strict=True):
        assert len(then.encode("utf-8", "surrogatepass")) == len(now.encode())
        assert (then.isspace(), then.isalpha()) == (now.isspace(), now.isalpha())
    assert placeholder(made) == made


def test_placeholders_are_these() -> None:
    assert placeholder("Hello, wörld! 42\n天空，😀") == "Xxxxx. xéxxx. 00\n字字…😀"


def test_no_digest_of_a_content_stands_beside_a_placeholder() -> None:
    manifest = json.loads(
        read_archive(pack_bytes(pack_of(QWEN, QWEN.assemble(REQUEST), redact="placeholders")))[MANIFEST]
    )
    digests = {name: entry["digest"] for name, entry in manifest["stages"].items() if entry is not None}
    without = {name for name, digest in digests.items() if digest is None}
    assert without == {"bytes", "request", "rendered", "ids"}


def test_what_a_budget_decided_stays_and_what_it_quotes_goes(hidden: Callable[[str, Redaction], Pack]) -> None:
    for kind in ("within a budget", "cut"):
        then, now = (
            packs()[kind].stages[Stage.BUDGET]["decision"],
            hidden(kind, "placeholders").stages[Stage.BUDGET]["decision"],
        )
        assert isinstance(then, dict)
        assert isinstance(now, dict)
        for key in ("id", "window", "reserve", "input", "choices"):
            assert then[key] == now[key]
        assert then != now
        assert "question" not in json.dumps(now)


def test_words_of_an_error_go_and_its_code_stays() -> None:
    raw = b'{"messages": [{"role": "swordfish"}]}'
    for redact in BOTH:
        pack = pack_of(QWEN, execute(QWEN, raw), redact=redact)
        data = pack_bytes(pack)
        assert leaks(data) == []
        assert pack.raw is None
        told: Json = None if pack.fault is None else pack.fault["code"]
        assert told == "R110"


@pytest.mark.parametrize("redact", BOTH)
def test_a_role_that_no_spec_names_is_a_content(redact: Redaction) -> None:
    model = katapi.load("kimi-k2")
    raw = b'{"messages": [{"role": "swordfish", "content": "a"}, {"role": "user", "content": "b"}]}'
    pack = pack_of(model, model.assemble(raw), redact=redact)
    assert leaks(pack_bytes(pack)) == []
    messages = pack.stages[Stage.REQUEST]["messages"]
    assert isinstance(messages, list)
    assert messages[1]["role"] == "user"
    assert replay(pack, model).agrees
