"""Packs: all eight items of section 1.11, the published schema, and the same record on the way back."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from katapi.packs import format_1
from katapi.packs.archive import MANIFEST, read_archive, write_archive
from katapi.packs.arrays import npy_bytes, read_npy
from katapi.packs.pack import Pack
from katapi.packs.reading import read_pack
from katapi.packs.replay import FIXTURE, FIXTURE_IDS, replay
from katapi.packs.writing import json_file, pack_bytes, pack_of
from katapi.runtime.errors import ArtifactError, ReplayError
from katapi.runtime.execution import execute
from katapi.runtime.json_types import Json
from katapi.runtime.record import canonical_json
from katapi.runtime.stages import Stage
from tests.command import ROOT, python
from tests.examples import examples
from tests.packs.made import BOOK, INVALID, QWEN, TOOLS, fixture, packs
from tests.requests import Requests
from tests.specs import ALL, Spec, model_of, program_of

DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((ROOT / "codegen" / "katapi" / "packs" / "pack-1.schema.json").read_text("utf-8"))


def files_of(pack: Pack) -> dict[str, bytes]:
    return read_archive(pack_bytes(pack))


def same(one: Pack, other: Pack) -> None:
    """Equal, but for the kinds of sequences, which JSON does not tell apart."""
    assert [*one.stages] == [*other.stages]
    for stage in one.stages:
        assert canonical_json(one.stages[stage]) == canonical_json(other.stages[stage])
    assert replace(one, stages={}, policy=None) == replace(other, stages={}, policy=None)
    assert json.loads(json.dumps([one.policy, other.policy]))[0] == other.policy


# ---- the eight items, one by one

PACKED = pack_of(QWEN, QWEN.assemble(TOOLS, "agent32k"), embed_artifacts=True)
FILES = files_of(PACKED)


def stage(name: str) -> dict[str, Json]:
    found: dict[str, Json] = json.loads(FILES[f"stages/{name}.json"])
    return found


def test_item_1_the_version_of_the_request_schema_and_the_canonical_messages() -> None:
    request = stage("request")
    assert (request["id"], request["digest"]) == (QWEN.request_rules.id, QWEN.request_rules.digest)
    assert request["messages"] == QWEN.assemble(TOOLS).record.request["messages"]


def test_item_2_what_was_injected_the_catalogue_of_tools_included() -> None:
    request, given = stage("request"), json.loads(TOOLS)
    assert request["parameters"] == {key: given[key] for key in ("tools", "enable_thinking", "add_generation_prompt")}
    llama = model_of(ROOT / "spec" / "models" / "llama3.kata", "llama3.1")
    now = next(name for name in llama.request_type.model_fields if "date" in name)
    raw = json.dumps({"messages": [{"role": "user", "content": "a"}], now: "26 Jul 2024"}).encode()
    assert llama.assemble(raw).record.stages[Stage.REQUEST]["parameters"] == {now: "26 Jul 2024"}


def test_item_3_the_template_by_id_and_digest() -> None:
    assert stage("template") == {"id": QWEN.template.id, "digest": QWEN.template.digest}


def test_item_4_configuration_vocabulary_merges_and_control_tokens() -> None:
    parts = QWEN.tokenizer_parts
    assert stage("tokenizer")["parts"] == parts.to_json()
    embedded = {artifact.kind: artifact for artifact in PACKED.artifacts}
    assert embedded["artifact"].sha256 == parts.artifact_sha256
    table, controls = embedded["table"].data, embedded["controls"].data
    assert table is not None
    assert controls is not None
    assert bytes.fromhex(str(parts.artifact_sha256)) in table[:40]
    assert json.loads(controls)["151644"] == "<|im_start|>"
    assert b"NFC" in (embedded["configuration"].data or b"")


def test_item_5_the_rendered_segments() -> None:
    segments = stage("rendered")["segments"]
    assert isinstance(segments, list)
    text = "".join(str(s["text"]) for s in segments if isinstance(s, Mapping))
    assert text == QWEN.render(TOOLS).text


def test_item_6_ids_mask_positions_and_length_as_numpy_reads_them() -> None:
    found = QWEN.assemble(TOOLS)
    for name in ("input_ids", "attention_mask", "position_ids"):
        array = np.load(BytesIO(FILES[f"arrays/{name}.npy"]), allow_pickle=False)
        assert np.array_equal(array, getattr(found, name))
        assert array.dtype == np.int64
    assert stage("tensors")["length"] == len(found)
    assert np.array_equal(np.load(BytesIO(FILES["arrays/token_segments.npy"])), found.origins.ranges)


def test_item_7_the_decisions_of_truncation_and_of_images() -> None:
    decision = QWEN.assemble(TOOLS, "agent32k").record.decision
    assert decision is not None
    assert stage("budget")["decision"] == json.loads(json.dumps(decision.to_json()))
    assert stage("budget")["budget"] == json.loads(json.dumps(QWEN.budgets["agent32k"].to_json()))
    assert stage("images") == {"images": []}


def test_item_8_errors_and_substitutions() -> None:
    failed = files_of(pack_of(QWEN, execute(QWEN, INVALID)))
    error = json.loads(failed[MANIFEST])["error"]
    assert (error["code"], error["where"], error["at"]) == ("R101", "byte 44", "request")
    lenient = replace(BOOK, invalid_utf8="replace")
    replaced = files_of(pack_of(lenient, lenient.assemble(INVALID)))
    [substitution] = json.loads(replaced["stages/bytes.json"])["substitutions"]
    assert substitution["where"] == "byte 44"
    assert replaced["request.bytes"] == INVALID


# ---- the format


@pytest.mark.parametrize("kind", packs())
def test_manifest_and_stages_are_as_the_published_schema_says(kind: str) -> None:
    files = files_of(packs()[kind])
    jsonschema.validate(json.loads(files[MANIFEST]), SCHEMA, cls=jsonschema.Draft202012Validator)
    for name, model in format_1.STAGES.items():
        content = files.get(f"stages/{name}.json")
        if content is not None:
            own = {**SCHEMA["$defs"][model.__name__], "$defs": SCHEMA["$defs"]}
            jsonschema.validate(json.loads(content), own, cls=jsonschema.Draft202012Validator)


def test_the_published_schema_is_that_of_the_reader() -> None:
    assert format_1.schema() == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    wrong = {**json.loads(FILES[MANIFEST]), "format": 2}
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(wrong)


@pytest.mark.parametrize("kind", packs())
def test_a_pack_is_read_as_it_was_written(kind: str) -> None:
    pack = packs()[kind]
    data = pack_bytes(pack)
    found = read_pack(data)
    same(found, pack)
    assert pack_bytes(found) == data
    assert json.loads(json.dumps(found.to_json())) == json.loads(json.dumps(pack.to_json()))


def test_the_json_of_a_pack_is_that_of_the_record() -> None:
    record = QWEN.assemble(TOOLS).record
    assert json.dumps(read_pack(pack_bytes(pack_of(QWEN, QWEN.assemble(TOOLS)))).to_json()) == json.dumps(
        record.to_json()
    )


@cache
def requests(spec: Spec) -> st.SearchStrategy[Json]:
    return Requests(program_of(*spec)).requests()


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
@examples(test=4, fuzz=200)
@given(st.data())
def test_what_any_request_gives_is_packed_read_and_replayed(spec: Spec, data: DataObject) -> None:
    model = model_of(*spec)
    raw = json.dumps(data.draw(requests(spec)), ensure_ascii=False).encode()
    policy = data.draw(st.sampled_from([None, *model.budgets]))
    try:
        done = execute(model, raw, policy)
    except ArtifactError:
        return  # a vocabulary that is not on this machine
    assert done.input is None or done.input.digests() == done.record.digests()
    pack = pack_of(model, done)
    found = read_pack(pack_bytes(pack))
    same(found, pack)
    again = replay(found, model)
    assert again.agrees, again.first
    for redact in ("digests", "placeholders"):
        hidden = pack_of(model, execute(model, raw, policy), redact=redact)
        same(read_pack(pack_bytes(hidden)), hidden)
        assert replay(hidden, model).agrees


# ---- what is not as the format says


def changed(**members: object) -> bytes:
    files = files_of(fixture())
    manifest = {**json.loads(files[MANIFEST]), **members}
    return write_archive({**files, MANIFEST: json_file(manifest, sort=True)})


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"format": 2}, "Y102"),
        ({"format": "1"}, "Y102"),
        ({"format": True}, "Y102"),
        ({"format": None}, "Y102"),
        ({"format": 10**4000}, "Y102"),
        ({"stages": {}}, "Y103"),
        ({"model": 5}, "Y103"),
        ({"error": {"at": "nowhere", "stage": "", "code": "", "where": "", "message": "", "help": ""}}, "Y103"),
        ({"request": "stages/none.json"}, "Y103"),
        ({"request": MANIFEST}, "Y103"),
        ({"arrays": {}}, "Y103"),
        ({"arrays": {"input_ids": "request.bytes"}}, "Y103"),
        ({"files": {}}, "Y103"),
        ({"more": 1}, "Y103"),
    ],
)
def test_a_manifest_that_is_not_as_it_should_be(members: dict[str, object], code: str) -> None:
    with pytest.raises(ReplayError) as caught:
        read_pack(changed(**members))
    assert caught.value.code == code


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"a": ' * 100_000])
def test_a_manifest_that_is_no_object(text: bytes) -> None:
    with pytest.raises(ReplayError) as caught:
        read_pack(write_archive({MANIFEST: text}))
    assert caught.value.code == "Y103"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        npy_bytes(np.arange(3))[:-1],
        npy_bytes(np.arange(3)) + b"\0" * 8,
        npy_bytes(np.arange(3)).replace(b"(3,)", b"(4,)"),
        npy_bytes(np.arange(3)).replace(b"<i8", b"|O8"),
        npy_bytes(np.arange(3)).replace(b"False", b"True "),
    ],
)
def test_a_file_that_is_no_array(data: bytes) -> None:
    with pytest.raises(ReplayError):
        read_npy(data, "x")


def test_arrays_are_read_as_they_were_written() -> None:
    for array in (np.arange(0), np.array([-1, 2**62]), np.arange(6).reshape(3, 2), np.zeros((0, 2), dtype=np.int64)):
        assert np.array_equal(read_npy(npy_bytes(array), "x"), array)
        assert read_npy(npy_bytes(array), "x").shape == array.shape
        assert np.array_equal(np.load(BytesIO(npy_bytes(array))), array)


# ---- the same execution, the same bytes

WRITES = f"""
import hashlib, katapi
for name, raw, policy in (("book", {FIXTURE.encode()!r}, "Book"), ("qwen3", {TOOLS!r}, "agent32k")):
    model = katapi.load(name)
    done = katapi.execute(model, raw, policy)
    for embed in (False, True):
        pack = katapi.pack_of(model, done, embed_artifacts=embed)
        print(hashlib.sha256(katapi.pack_bytes(pack)).hexdigest())
"""


def test_the_same_execution_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    expected = [
        hashlib.sha256(pack_bytes(pack_of(model, model.assemble(raw, policy), embed_artifacts=embed))).hexdigest()
        for model, raw, policy in ((BOOK, FIXTURE.encode(), "Book"), (QWEN, TOOLS, "agent32k"))
        for embed in (False, True)
    ]
    for seed, zone, locale in (
        ("0", "UTC", "C"),
        ("1", "Pacific/Kiritimati", "C.UTF-8"),
        ("77", "America/New_York", "tr_TR.UTF-8"),
    ):
        done = python(
            "-c",
            WRITES,
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "HOME": str(tmp_path)},
        )
        assert (done.status, done.err) == (0, "")
        assert done.out.split() == expected


def test_a_pack_says_nothing_of_the_machine(tmp_path: Path) -> None:
    host = {os.uname().nodename, str(Path.home()), str(ROOT)}
    data = b"".join(FILES.values())
    assert not [word for word in host if len(word) > 5 and word.encode() in data]


# ---- what was recorded once


def test_a_pack_of_format_1_is_read_and_replayed() -> None:
    found = read_pack(DATA / "fixture-1.pack")
    assert found.stages[Stage.IDS]["input_ids"] == [*FIXTURE_IDS]
    done = replay(found, BOOK)
    assert done.agrees, done.first
    with zipfile.ZipFile(DATA / "fixture-1.pack") as archive:
        assert archive.read("request.bytes") == FIXTURE.encode()
