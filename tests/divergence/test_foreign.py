"""Executions of other systems: what they tell is compared, what they do not tell is unknown."""

from __future__ import annotations

import json
import sys
from collections import UserDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import katapi
from katapi.divergence.compare import Same
from katapi.divergence.difference import Kind
from katapi.foreign import of_folder, of_ids, of_parts, of_text, of_transformers, of_vllm
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.stages import Failure, Stage
from tests.packs.made import QWEN

MESSAGES: list[dict[str, Json]] = [{"role": "user", "content": "1 + 1?"}]
PROMPT = QWEN.assemble(json.dumps({"messages": MESSAGES}).encode())
TEXT = QWEN.render(PROMPT.request).text
KNOWN_OF_TRANSFORMERS = [Stage.RENDERED, Stage.IDS, Stage.TENSORS]


def known_stages(found: katapi.Diff) -> list[Stage]:
    return [each.stage for each in found.stages if each.same is not Same.UNKNOWN]


@dataclass
class Stand:
    """What `of_transformers` asks of a tokenizer: `apply_chat_template`, here of Katapi, or as it is told."""

    text: object = None
    encoded: object = None
    error: Exception | None = None
    calls: list[Mapping[str, object]] = field(default_factory=list)

    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, object]],
        tools: Sequence[Mapping[str, object]] | None,
        *,
        tokenize: bool,
        **kwargs: object,
    ) -> object:
        self.calls.append({"messages": conversation, "tools": tools, "tokenize": tokenize, **kwargs})
        if self.error is not None:
            raise self.error
        given = {key: value for key, value in kwargs.items() if key != "return_dict"}
        asked = {"messages": conversation, **({} if tools is None else {"tools": tools}), **given}
        whole = QWEN.assemble(json.dumps(asked).encode())
        if not tokenize:
            return self.text or QWEN.render(whole.request).text
        ids = whole.input_ids.tolist()
        return self.encoded or UserDict({"input_ids": ids, "attention_mask": [1] * len(ids)})


def test_a_tokenizer_that_does_what_katapi_does() -> None:
    stand = Stand()
    pack = of_transformers(stand, MESSAGES, add_generation_prompt=True, enable_thinking=True)
    assert [call["tokenize"] for call in stand.calls] == [False, True]
    assert stand.calls[1]["return_dict"] is True
    found = katapi.diff(PROMPT, pack)
    assert found.same
    assert known_stages(found) == KNOWN_OF_TRANSFORMERS
    assert pack.source is not None
    assert pack.source.startswith("transformers")


def test_a_tokenizer_that_prints_another_text() -> None:
    pack = of_transformers(Stand(text=TEXT.replace("1?", "1\u00a0?")), MESSAGES)
    found = katapi.diff(PROMPT, pack)
    assert (found.between, found.failure) == ((None, Stage.RENDERED), None)
    assert found.first is not None
    assert found.first.difference is not None
    assert found.first.difference.kind is Kind.SPACE or found.first.difference.kind is Kind.WHITE_SPACE
    assert found.first.difference.where.startswith("segment 3 (content of messages[0].content), character ")
    assert found.unknown == (Stage.BYTES, Stage.REQUEST, Stage.BUDGET, Stage.IMAGES, Stage.TEMPLATE)


def test_a_tokenizer_that_encodes_the_same_text_in_another_way() -> None:
    ids = [0, *PROMPT.input_ids.tolist()]
    encoded = {"input_ids": ids, "attention_mask": [1] * len(ids)}
    found = katapi.diff(PROMPT, of_transformers(Stand(encoded=encoded), MESSAGES))
    assert found.between == (Stage.RENDERED, Stage.IDS)
    assert found.unknown == (Stage.TOKENIZER, Stage.RUNS)
    assert found.failure is Failure.VOCABULARY
    assert found.first is not None
    assert found.first.difference is not None
    assert (found.first.difference.kind, found.first.difference.where) == (
        Kind.MISSING,
        "token 0 (of segment 0, control <|im_start|>)",
    )
    assert (found.first.difference.first, found.first.difference.second) == ("", "0")


def test_a_tokenizer_that_pads() -> None:
    count = len(PROMPT.input_ids)
    encoded = {"input_ids": np.array(PROMPT.input_ids), "attention_mask": np.array([0, *[1] * (count - 1)])}
    found = katapi.diff(PROMPT, of_transformers(Stand(encoded=encoded), MESSAGES))
    assert (found.between, found.failure) == ((Stage.IDS, Stage.TENSORS), Failure.MASK_OR_POSITIONS)


@pytest.mark.parametrize("left", [True, False])
def test_padding_that_the_mask_leaves_out_is_no_other_vocabulary(left: bool) -> None:
    ids, ones = PROMPT.input_ids.tolist(), [1] * len(PROMPT)
    padded, mask = ([0, 0, *ids], [0, 0, *ones]) if left else ([*ids, 0, 0], [*ones, 0, 0])
    found = katapi.diff(PROMPT, of_parts("x", text=TEXT, input_ids=padded, attention_mask=mask))
    assert found.between == (Stage.RENDERED, Stage.IDS)
    assert found.first is not None
    assert found.first.difference is not None
    difference = found.first.difference
    assert (difference.kind, difference.where) == (Kind.PADDING, "token 0" if left else f"token {len(ids)}")
    assert (difference.first, difference.second) == ("", "2 that the mask leaves out")
    assert (found.failure, found.possible) == (None, ())
    unmasked = katapi.diff(PROMPT, of_parts("x", text=TEXT, input_ids=padded, attention_mask=[1] * len(padded)))
    assert unmasked.failure is Failure.VOCABULARY


def test_a_template_that_refuses_what_katapi_takes() -> None:
    jinja2 = pytest.importorskip("jinja2")
    pack = of_transformers(Stand(error=jinja2.TemplateError("Conversation roles must alternate")), MESSAGES)
    found = katapi.diff(PROMPT, katapi.read_pack(pack_bytes(pack)))
    assert found.first is not None
    assert found.first.stage is Stage.RENDERED
    assert found.first.difference is not None
    assert found.first.difference.kind is Kind.ERROR
    assert found.first.difference.second == "TemplateError: Conversation roles must alternate"


def test_an_error_of_another_kind_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        of_transformers(Stand(error=ZeroDivisionError()), MESSAGES)


@pytest.mark.parametrize(
    "stand",
    [
        Stand(text=["a", "b"]),
        Stand(encoded=[1, 2]),
        Stand(encoded={"ids": [1]}),
        Stand(encoded={"input_ids": [[1, 2]]}),
        Stand(encoded={"input_ids": [1, 2], "attention_mask": [1]}),
    ],
)
def test_what_is_no_input_of_one_conversation(stand: Stand) -> None:
    with pytest.raises(katapi.ReplayError) as caught:
        of_transformers(stand, MESSAGES)
    assert caught.value.code == "Y120"


# ---- texts, ids, vLLM


def test_a_rendered_text() -> None:
    found = katapi.diff(PROMPT, of_text(TEXT))
    assert (found.same, known_stages(found)) == (True, [Stage.RENDERED])
    found = katapi.diff(of_text(TEXT), of_text(f"{TEXT} "))
    assert found.first is not None
    assert found.first.difference is not None
    assert found.first.difference.where == f"character {len(TEXT)}, byte {len(TEXT)}"


@pytest.mark.parametrize(
    ("text", "segment", "first", "second"),
    [
        (f"<|endoftext|>{TEXT}", "segment 0 (control <|im_start|>), character 0, byte 0", "", '"<|endoftext|>"'),
        (
            TEXT.replace("<|im_start|>user\n1 + 1?<|im_end|>\n", ""),
            "segment 0 (control <|im_start|>), character 0, byte 0",
            '"<|im_start|>user\\n1 + 1?<|im_end|>\\n"',
            "",
        ),
        (TEXT.replace("1 + 1", "1 + 1" * 20), "", "", f'"{("1 + 1" * 19)[:59]}…", 95 characters'),
        (TEXT.replace("1 + 1", "2 + 2"), "", '"1 + 1"', '"2 + 2"'),
    ],
)
def test_a_stretch_that_one_text_has_more_is_told_as_a_whole(text: str, segment: str, first: str, second: str) -> None:
    for turned in (False, True):
        found = katapi.diff(of_text(text), PROMPT) if turned else katapi.diff(PROMPT, of_text(text))
        assert found.first is not None
        difference = found.first.difference
        assert difference is not None
        assert difference.kind is Kind.TEXT
        assert difference.where.startswith(segment)
        shown = difference.first, difference.second
        assert (shown[::-1] if turned else shown) == (first, second)


def test_contents_that_spell_a_control_token() -> None:
    messages: list[dict[str, Json]] = [{"role": "user", "content": "What is <|im_end|>?"}]
    prompt = QWEN.assemble(json.dumps({"messages": messages}).encode())
    text = QWEN.render(prompt.request).text
    ids = prompt.input_ids.tolist()
    theirs = of_parts("vLLM", text=text, input_ids=[*ids[:5], 151645, *ids[6:]])
    for turned, found in enumerate((katapi.diff(prompt, theirs), katapi.diff(theirs, prompt))):
        assert [each.to_json() for each in found.spelled] == [
            {"token": "<|im_end|>", "where": "messages[0].content", "text_in": turned, "more": 1}
        ]
        assert found.between == (Stage.RENDERED, Stage.IDS)
        assert (found.failure, found.possible) == (None, ())
    assert katapi.diff(prompt, of_parts("vLLM", text=text, input_ids=[*ids, 0])).spelled == ()
    assert katapi.diff(PROMPT, of_ids([*PROMPT.input_ids, 151645])).spelled == ()
    assert katapi.diff(prompt, prompt).spelled == ()


def test_the_ids_of_a_server() -> None:
    found = katapi.diff(PROMPT, of_ids(PROMPT.input_ids))
    assert (found.same, known_stages(found)) == (True, [Stage.IDS])
    found = katapi.diff(PROMPT, of_ids(PROMPT.input_ids[1:]))
    assert (found.between, found.failure) == ((None, Stage.IDS), None)
    assert set(found.possible) == {*Failure} - {Failure.MASK_OR_POSITIONS}


def test_between_two_known_stages_is_where_the_first_difference_lies() -> None:
    ids = PROMPT.input_ids.tolist()
    other = of_parts("a server", model="qwen3", text=TEXT, input_ids=[*ids[:-1], 7], position_ids=range(len(ids)))
    found = katapi.diff(PROMPT, other)
    assert found.between == (Stage.RENDERED, Stage.IDS)
    assert known_stages(found) == KNOWN_OF_TRANSFORMERS
    assert found.stages[-1].same is Same.SAME


def vllm(**values: Json) -> bytes:
    ids = PROMPT.input_ids.tolist()
    return json.dumps({"count": len(ids), "max_model_len": 40960, "tokens": ids, "token_strs": None, **values}).encode()


def test_a_reply_of_vllm() -> None:
    for reply in (vllm(), json.loads(vllm())):
        pack = of_vllm(reply, model="qwen3")
        assert (pack.model, pack.source) == ("qwen3", "vLLM")
        assert katapi.diff(PROMPT, pack).same


def answer(text: str | None) -> JsonObject:
    """An answer of `/v1/chat/completions` that was asked for the ids of its prompt; `text` is what it tells of it."""
    message: Json = {"role": "assistant", "content": "2"}
    logprobs: Json = {"content": [{"token": "2", "logprob": 0.0, "top_logprobs": [{"token": "2", "bytes": [50]}]}]}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "logprobs": logprobs, "token_ids": [17]}],
        "prompt_token_ids": PROMPT.input_ids.tolist(),
        **({} if text is None else {"prompt_text": text}),
    }


def test_an_answer_of_vllm_that_tells_what_it_was_given() -> None:
    found = katapi.diff(PROMPT, of_vllm(json.dumps(answer(None)).encode()))
    assert (found.same, known_stages(found)) == (True, [Stage.IDS])
    found = katapi.diff(PROMPT, of_vllm(answer(TEXT)))
    assert (found.same, known_stages(found)) == (True, [Stage.RENDERED, Stage.IDS])
    assert katapi.diff(PROMPT, of_vllm(answer(TEXT + " "))).between == (None, Stage.RENDERED)
    completion: JsonObject = {"choices": [{"text": "2", "prompt_token_ids": PROMPT.input_ids.tolist()}]}
    assert katapi.diff(PROMPT, of_vllm(completion)).same


@pytest.mark.parametrize(
    ("reply", "where"),
    [
        (b"", "1:1"),
        (b"[1]", ""),
        (b'{"error": {"message": "no"}}', "tokens"),
        (vllm(count=3), "count"),
        (vllm(count=1, tokens=["a"]), "tokens"),
        (vllm(count=1, tokens=[True]), "tokens"),
        (b'{"count": 0, "count": 0, "tokens": []}', "count"),
        (b'{"prompt_token_ids": null, "choices": []}', "tokens"),
        (b'{"choices": [{"prompt_token_ids": [1]}, {"prompt_token_ids": [2]}]}', "tokens"),
        (b'{"prompt_token_ids": [1, "2"]}', "prompt_token_ids"),
    ],
)
def test_what_is_no_reply_of_vllm(reply: bytes, where: str) -> None:
    with pytest.raises(katapi.ReplayError) as caught:
        of_vllm(reply)
    assert (caught.value.code, caught.value.where) == ("Y121", where)


@pytest.mark.parametrize("ids", ["ab", [1.5], [2**70], [None], [[1]], 5])
def test_what_is_no_row_of_ids(ids: list[int]) -> None:
    with pytest.raises(katapi.ReplayError) as caught:
        of_ids(ids)
    assert (caught.value.code, caught.value.where) == ("Y120", "input_ids")


# ---- a folder for transformers


@dataclass
class Loader:
    """The `AutoTokenizer` of a transformers that is not installed."""

    made: Stand
    asked: list[tuple[str, bool, bool]] = field(default_factory=list)

    def from_pretrained(self, folder: str, *, local_files_only: bool, trust_remote_code: bool) -> Stand:
        self.asked.append((folder, local_files_only, trust_remote_code))
        return self.made


def installed(monkeypatch: pytest.MonkeyPatch, made: Stand) -> Loader:
    loader = Loader(made)
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=loader))
    return loader


def test_a_request_goes_to_the_tokenizer_in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand = Stand()
    loader = installed(monkeypatch, stand)
    request = json.dumps({"messages": MESSAGES, "add_generation_prompt": True, "enable_thinking": True}).encode()
    pack = of_folder(tmp_path, request, model="qwen3")
    assert loader.asked == [(str(tmp_path), True, False)]
    assert (pack.model, stand.calls[0]["tools"], stand.calls[0]["enable_thinking"]) == ("qwen3", None, True)
    assert katapi.diff(PROMPT, pack).same


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        (b"", "1:1"),
        (b"[]", "messages"),
        (b'{"messages": 1}', "messages"),
        (b'{"messages": [1]}', "messages"),
        (b'{"messages": [], "tools": {}}', "tools"),
        (b'{"messages": [], "tokenize": true}', ""),
    ],
)
def test_what_is_no_request_for_transformers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request_: bytes, where: str
) -> None:
    installed(monkeypatch, Stand())
    with pytest.raises(katapi.ReplayError) as caught:
        of_folder(tmp_path, request_)
    assert (caught.value.code, caught.value.where) == ("Y123", where)
    assert caught.value.help


def test_a_transformers_that_is_not_there_or_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    request = b'{"messages": []}'
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(katapi.ReplayError, match="transformers cannot be imported"):
        of_folder(tmp_path, request)
    with pytest.raises(katapi.ReplayError, match="is no folder"):
        of_folder(tmp_path / "nothing", request)
    installed(monkeypatch, Stand(error=OSError("no tokenizer.json\nin it")))
    with pytest.raises(katapi.ReplayError, match="transformers ended with OSError: no tokenizer") as caught:
        of_folder(tmp_path, request)
    assert caught.value.code == "Y123"


# ---- packs


def test_a_pack_of_another_system_is_written_and_read() -> None:
    for pack in (of_text("a"), of_ids([]), of_parts("x", input_ids=[1], attention_mask=[1]), of_parts("nothing")):
        assert katapi.read_pack(pack_bytes(pack)) == pack
    assert of_text("a").to_json()["segments"] == [{"kind": "unknown", "text": "a"}]
    assert of_parts("x", attention_mask=[1]).to_json()["position_ids"] is None


def test_a_pack_of_another_system_is_not_replayed() -> None:
    with pytest.raises(katapi.ReplayError) as caught:
        katapi.replay(of_ids([1], model="qwen3"), QWEN)
    assert caught.value.code == "Y112"


def test_a_pack_of_katapi_has_all_stages_and_that_of_another_system_none_of_its_own() -> None:
    from dataclasses import replace

    pack = pack_of(QWEN, PROMPT)
    refused = of_transformers(Stand(error=pytest.importorskip("jinja2").TemplateError("no")), MESSAGES)
    beyond = replace(refused, stages=of_ids([1]).stages, digests=of_ids([1]).digests)
    for wrong in (replace(of_text("a"), source=None), replace(pack, source="x"), beyond):
        with pytest.raises(katapi.ReplayError) as caught:
            katapi.read_pack(pack_bytes(wrong))
        assert caught.value.code == "Y103"
