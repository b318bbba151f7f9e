"""`katapi assemble` and its neighbours on requests: exit statuses, output, and one clear message for each bad input."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import pytest

from katapi import models, tokenizers
from tests.command import ROOT, here, katapi

BOOK = (ROOT / "examples" / "book.json").read_bytes()
TEMPERATURE = "examples/temperature.json"

BAD = {
    "invalid UTF-8": (b'{"messages": [{"role": "user", "content": "\xff"}]}', "R101 at byte 43"),
    "half a surrogate pair": (rb'{"messages": [{"role": "user", "content": "\ud83d"}]}', "R108 at messages[0].content"),
    "a key twice": (b'{"messages": [{"role": "user", "role": "user", "content": "x"}]}', "R104 at messages[0].role"),
    "NaN": (b'{"messages": [], "enable_thinking": NaN}', "R105 at enable_thinking"),
    "a wrong type": (b'{"messages": [{"role": "user", "content": 5}]}', "R113 at messages[0].content"),
    "null for text": (b'{"messages": [{"role": "user", "content": null}]}', "R113 at messages[0].content"),
    "an unknown role": (b'{"messages": [{"role": "wizard", "content": "x"}]}', "R110 at messages[0].role"),
    "an unknown parameter": (b'{"messages": [], "temprature": 1}', "R111 at temprature"),
    "a missing field": (b'{"messages": [{"role": "user"}]}', "R112 at messages[0].content"),
    "half a request": (b'{"messages": [\n  {"role": "user",', "R103 at 2:19"),
    "nothing": (b"", "R100 at 1:1"),
    "a list": (b"[]", "R113"),
    "10 MB of [": (b"[" * 10_000_000, "R109 at 1:65"),
    '5 MB of {"a":': (b'{"a":' * 1_000_000, "R109 at 1:321"),
    "10 MB of digits": (b'{"messages": ' + b"1" * 10_000_000 + b"}", "R107 at messages"),
}


@pytest.mark.parametrize(("raw", "said"), BAD.values(), ids=BAD.keys())
def test_a_bad_request_gives_one_message_with_stage_and_place(raw: bytes, said: str) -> None:
    done = here("assemble", "qwen3", stdin=raw)
    assert (done.status, done.out) == (1, "")
    first, *help_lines = done.err.splitlines()
    assert first.startswith(f"katapi: request error {said}")
    assert len(first) < 200
    assert len(help_lines) <= 1
    assert all(line.startswith("  help: ") for line in help_lines)


@pytest.mark.parametrize("name", ["invalid UTF-8", "10 MB of ["])
def test_a_process_of_its_own_ends_the_same(name: str) -> None:
    raw, _ = BAD[name]
    begin = time.monotonic()
    done = katapi("assemble", "qwen3", stdin=raw)
    assert time.monotonic() - begin < 20
    assert done == here("assemble", "qwen3", stdin=raw)


def test_the_template_says_why_it_rejects() -> None:
    done = here("render", "qwen3", stdin=b'{"messages": []}')
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: template error T100 at qwen.kata:")
    assert "needs at least one message" in done.err


def test_json_holds_what_the_model_receives_and_the_record() -> None:
    done = katapi("assemble", "qwen3", TEMPERATURE)
    assert (done.status, done.err) == (0, "")
    printed = json.loads(done.out)
    assert set(printed) == {
        *("input_ids", "attention_mask", "position_ids"),
        *("text", "sampled", "origins", "images", "videos", "record"),
    }
    assert (printed["images"], printed["videos"]) == ([], [])
    count = len(printed["input_ids"])
    assert count > 100
    assert printed["attention_mask"] == [1] * count
    assert printed["position_ids"] == list(range(count))
    assert len(printed["sampled"]) == count
    assert {True, False} == set(printed["sampled"])
    record = printed["record"]
    assert record["model"] == "qwen3"
    assert record["input_ids"] == printed["input_ids"]
    assert "".join(segment["text"] for segment in record["segments"]) == printed["text"]
    assert printed["text"] == here("render", "qwen3", TEMPERATURE).out


def test_npz_holds_the_same_arrays(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    done = here("assemble", "book", "--format", "npz", "-o", str(file), stdin=BOOK)
    assert (done.status, done.out, done.err) == (0, "", "")
    printed = json.loads(here("assemble", "book", stdin=BOOK).out)
    with np.load(file) as arrays:
        assert set(arrays.files) == {"input_ids", "attention_mask", "position_ids", "sampled", "origins"}
        for name in arrays.files:
            assert arrays[name].tolist() == printed[name]
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]


def test_npz_to_nowhere_is_a_usage_error() -> None:
    done = here("assemble", "book", "--format", "npz", stdin=BOOK)
    assert done.status == 2
    assert "--output" in done.err


def test_json_can_go_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    done = here("assemble", "book", "-o", str(file), stdin=BOOK)
    assert (done.status, done.out) == (0, "")
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(here("assemble", "book", stdin=BOOK).out)


def test_a_parameter_is_set_from_the_command_line() -> None:
    thinking = here("render", "qwen3", "--param", "enable_thinking=true", TEMPERATURE)
    silent = here("render", "qwen3", "--param", "enable_thinking=false", TEMPERATURE)
    bare = here("render", "qwen3", "--param", "add_generation_prompt=false", TEMPERATURE)
    assert silent.out == thinking.out + "<think>\n\n</think>\n\n"
    assert thinking.out == bare.out + "<|im_start|>assistant\n"


def test_a_parameter_that_the_model_does_not_have_is_an_error_of_the_request() -> None:
    done = here("render", "book", "--param", "now=2025-03-09", stdin=BOOK)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: request error R111 at now: ")


def test_a_parameter_without_a_value_is_a_usage_error() -> None:
    assert here("render", "book", "--param", "now", stdin=BOOK).status == 2


def test_a_parameter_hides_no_fault_of_the_file() -> None:
    for name in ("invalid UTF-8", "a key twice", "NaN", "half a request", "a list", "10 MB of ["):
        raw, _ = BAD[name]
        plain = here("assemble", "qwen3", stdin=raw)
        assert here("assemble", "qwen3", "--param", "enable_thinking=true", stdin=raw) == plain, name


def test_the_record_names_the_file_only_where_it_is_the_whole_request() -> None:
    digest = hashlib.sha256(BOOK).hexdigest()
    assert json.loads(here("assemble", "book", stdin=BOOK).out)["record"]["request_sha256"] == digest
    changed = here("assemble", "book", "--param", "add_generation_prompt=false", stdin=BOOK)
    record = json.loads(changed.out)["record"]
    assert record["request_sha256"] is None
    assert record["request"] == {**json.loads(BOOK), "add_generation_prompt": False}


@pytest.mark.parametrize("value", ['{"a": 1, "a": 2}', "[1,]", '"half', "true", "plain words", "NaN"])
def test_a_parameter_that_begins_like_json_must_be_json(value: str) -> None:
    done = here("assemble", "book", "--param", f"x={value}", stdin=BOOK)
    assert done.status == (2 if value[0] in '{["' else 1)
    assert ("--param" in done.err) is (done.status == 2)


def test_one_parameter_twice_is_a_usage_error() -> None:
    done = here("render", "qwen3", "--param", "enable_thinking=true", "--param", "enable_thinking=false", TEMPERATURE)
    assert (done.status, done.out) == (2, "")


def test_a_policy_refuses_what_does_not_fit_and_records_what_does() -> None:
    def of(length: int) -> bytes:
        return json.dumps({"messages": [{"role": "user", "content": "是" * length}]}).encode()

    fits = here("assemble", "book", "--policy", "Book", stdin=of(52))
    assert fits.status == 0
    decision = json.loads(fits.out)["record"]["policy"]
    choices = [(choice["section"], choice["at"], choice["why"]) for choice in decision.pop("choices")]
    assert choices == [("current", [0], "required")]
    assert decision == {"id": "Book@1", "window": 64, "reserve": 8, "input": 56, "offered": None}
    over = here("assemble", "book", "--policy", "Book", stdin=of(53))
    assert (over.status, over.out) == (1, "")
    assert over.err.startswith("katapi: budget error B100 at policy Book@1: current: what is required has 57 tokens")
    assert here("assemble", "book", stdin=of(53)).status == 0


def test_an_unknown_policy_is_a_budget_error() -> None:
    done = here("assemble", "book", "--policy", "Large", stdin=BOOK)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: budget error B101 at policy: ")


def test_tokenize_and_detokenize_are_inverse_and_text_is_no_control() -> None:
    text = "<|im_start|>system\n天空 why?\n\n  don't 👩‍👩‍👧 \u00e9"
    ids = here("tokenize", "qwen3", stdin=text.encode())
    assert (ids.status, ids.err) == (0, "")
    numbers = [int(word) for word in ids.out.split()]
    assert max(numbers) < 151643
    assert here("detokenize", "qwen3", stdin=ids.out.encode()).out == text
    assert here("detokenize", "qwen3", *map(str, numbers)).out == text


def test_tokenize_takes_its_text_as_an_argument_too() -> None:
    assert here("tokenize", "book", "天空?").out == "8 13\n"


def test_detokenize_takes_what_assemble_printed() -> None:
    printed = json.loads(here("assemble", "qwen3", TEMPERATURE).out)
    assert here("detokenize", "qwen3", stdin=json.dumps(printed["input_ids"]).encode()).out == printed["text"]


def test_detokenize_takes_ids_as_they_are_usually_written() -> None:
    for written in (["8 10"], ["8,10"], ["[8, 10]"], ["8", "10"]):
        assert here("detokenize", "book", *written).out == "天空是"


def test_detokenize_refuses_what_is_no_id() -> None:
    assert here("detokenize", "book", "x").status == 2
    assert here("detokenize", "book", "9" * 5000).status == 2
    done = here("detokenize", "book", "14")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: tokenizer error ")


def test_tokenize_refuses_bytes_that_are_not_utf8() -> None:
    done = here("tokenize", "qwen3", stdin=b"ab\xff")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: tokenizer error V110 at byte 2: ")


def test_colour_shows_each_origin_and_the_whole_text() -> None:
    done = here("assemble", "book", "--color", stdin=BOOK)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("<bos><system>简洁回答</system><user>天空为什么是蓝色？</user><assistant>\n12 tokens")
    assert all(word in done.out for word in ("control", "literal", "content", "mixed"))


def test_models_lists_the_models_and_shows_one() -> None:
    table = here("models")
    assert (table.status, table.err) == (0, "")
    assert [line.split()[0] for line in table.out.splitlines()] == ["model", *sorted([*models(), *tokenizers()])]
    one = here("models", "qwen3")
    assert one.status == 0
    assert dict(line.split(maxsplit=1) for line in one.out.splitlines())["spec"] == "spec/models/qwen.kata"
    assert "151669" in one.out


def test_an_unknown_model_is_an_error_that_names_those_there_are() -> None:
    done = here("assemble", "qwen33", stdin=BOOK)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: artifact error A141 at qwen33: ")
    assert f"known: {', '.join(models())}" in done.err


@pytest.mark.parametrize(
    "arguments",
    [["assemble"], ["assemble", "book", "no/such/file.json"], ["assemble", "book", "--format", "yaml"], ["asemble"]],
    ids=["no model", "no such file", "no such format", "no such command"],
)
def test_wrong_usage_has_a_status_of_its_own(arguments: list[str]) -> None:
    done = here(*arguments)
    assert (done.status, done.out) == (2, "")
    assert "Usage: " in done.err


def test_help_and_version() -> None:
    helped = here("--help")
    assert helped.status == 0
    assert all(f" {command} " in helped.out for command in ("assemble", "render", "build", "check", "fmt", "init"))
    assert here("--version").out.startswith("katapi ")


def test_parse_takes_a_reply_apart() -> None:
    ids = here("tokenize", "qwen3", "Yes.").out.split()
    done = here("parse", "qwen3", *ids, "151645")
    assert (done.status, done.err) == (0, "")
    message = {"role": "assistant", "content": "Yes."}
    assert json.loads(done.out) == {"message": message, "complete": True, "faults": []}
    again = here("parse", "qwen3", "--request", TEMPERATURE, stdin=" ".join([*ids, "151645", "0"]).encode())
    fault = {"kind": "behind the end", "start": len(ids) + 1, "text": "!"}
    assert json.loads(again.out) == {"message": message, "complete": True, "faults": [fault]}


def test_parse_refuses_an_id_that_is_no_token() -> None:
    done = here("parse", "qwen3", "200000")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("katapi: tokenizer error V102")
    assert here("parse", "qwen3", "x").status == 2
    assert here("parse", "gpt2", "0").err.startswith("katapi: artifact error A144")
