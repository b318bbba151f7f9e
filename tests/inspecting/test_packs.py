"""Packs as views: of several models, of other systems, failed, redacted; and two with a difference in each stage."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import katapi
from katapi.divergence.plain import numbers
from katapi.foreign import of_ids, of_parts, of_text
from katapi.inspecting.from_diff import view_of_diff
from katapi.inspecting.from_input import view_of
from katapi.inspecting.from_pack import view_of_pack
from katapi.inspecting.view import Stage as Shown
from katapi.inspecting.view import View
from katapi.packs.pack import Pack, Redaction, plain_digests
from katapi.packs.reading import read_pack
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.budget.apply import tokens_by_section
from katapi.runtime.json_types import Json
from katapi.runtime.stages import Stage
from tests.command import here
from tests.inspecting.inputs import TALK, looked_at
from tests.packs.conftest import hidden as hidden
from tests.packs.made import QWEN, TOOLS, packs

FAILED = {
    "refused bytes": "request",
    "a refused request": "request",
    "a refused template": "rendered",
    "a refused budget": "budget",
    "an unknown budget": "budget",
}
"""The stage that was not reached."""


def made(name: str = "qwen3", **keys: Json) -> tuple[Pack, katapi.ModelInput]:
    model = katapi.load(name)
    result = model.assemble(json.dumps({**TALK, **keys}).encode())
    return pack_of(model, result), result


def stages(view: View) -> dict[str, Shown]:
    return {stage.name: stage for stage in view.execution.stages}


# ---- one pack


@pytest.mark.parametrize("name", ["qwen3", "llama2", "gemma3", "deepseek-v3.1", "mistral-v3"])
def test_a_pack_shows_what_the_input_shows(name: str) -> None:
    request: dict[str, Json] = {"messages": [{"role": "user", "content": "天空 é, 2 + 2?"}]}
    model = katapi.load(name)
    expected, result = looked_at(name, request)
    view = view_of_pack(read_pack(pack_bytes(pack_of(model, result))), model)
    own = {stage.name: stage for stage in expected.execution.stages}
    assert {key: stage for key, stage in stages(view).items() if key in own} == own
    assert [*stages(view)] == [stage.value for stage in Stage]
    assert replace(view.execution, stages=expected.execution.stages) == expected.execution
    assert view.versions == expected.versions


@pytest.mark.parametrize("kind", ["tools", "within a budget", "cut", "fit_context", "extended", "a typed request"])
def test_packs_of_each_kind(kind: str) -> None:
    pack = packs()[kind]
    view = view_of_pack(pack, katapi.load(pack.model))
    run = view.execution
    assert [token.id for token in run.tokens] == numbers(pack.stages[Stage.IDS]["input_ids"])
    assert sum(count for _, count in run.budget.sections) == len(run.tokens)
    assert bool(run.budget.policy) is (pack.policy is not None)


def test_tokens_by_section_are_those_of_the_library() -> None:
    result = QWEN.assemble(TOOLS)
    expected = {name: count for name, count in tokens_by_section(result).items() if count}
    assert dict(view_of_pack(pack_of(QWEN, result), QWEN).execution.budget.sections) == expected
    assert dict(view_of(QWEN, result).execution.budget.sections) == expected


def test_without_the_model_there_are_ids_alone() -> None:
    pack, result = made()
    run = view_of_pack(pack, None).execution
    assert [(token.id, token.bytes) for token in run.tokens] == [(id, None) for id in result.input_ids.tolist()]
    assert {name for name, _ in run.budget.sections} == {"messages", "template"}
    assert "".join(part.text for part in run.parts) == result.text


def test_bytes_of_another_tokenizer_are_not_shown() -> None:
    pack, _ = made()
    tokenizer = {**pack.stages[Stage.TOKENIZER], "digest": "sha256:" + "0" * 64}
    other = replace(pack, stages={**pack.stages, Stage.TOKENIZER: tokenizer})
    assert all(token.bytes is None for token in view_of_pack(other, QWEN).execution.tokens)
    assert all(token.bytes is not None for token in view_of_pack(pack, QWEN).execution.tokens)


@pytest.mark.parametrize("kind", FAILED)
def test_a_failed_execution_shows_its_error(kind: str) -> None:
    pack = packs()[kind]
    at = FAILED[kind]
    assert pack.fault is not None
    view = view_of_pack(pack, katapi.load(pack.model))
    assert pack.fault["at"] == at
    assert stages(view)[at].id == f"error {pack.fault['code']}"
    assert ("message", pack.fault["message"]) in stages(view)[at].facts
    names = [*stages(view)]
    behind = names[names.index(at) + 1 :]
    assert {stages(view)[name].id for name in behind} <= {"not reached"}
    assert not [*view.execution.tokens]


@pytest.mark.parametrize("how", ["digests", "placeholders"])
def test_a_redacted_pack_shows_what_is_hidden(how: Redaction, hidden: Callable[[str, Redaction], Pack]) -> None:
    whole, pack = packs()["tools"], hidden("tools", how)
    view = view_of_pack(pack, QWEN)
    run = view.execution
    ids = [token.id for token in run.tokens]
    count = ids.count(-1)
    assert 0 < count < len(ids)
    assert all((token.id == -1) is (token.bytes is None) for token in run.tokens)
    assert {run.places[token.place].kind for token in run.tokens if token.id == -1} <= {"content", "mixed"}
    assert ("redacted", f"{count} ids of contents: -1 stands in their place") in stages(view)["ids"].facts
    assert stages(view)["bytes"].digest == (
        f"sha256:{whole.stages[Stage.BYTES]['sha256']}" if how == "digests" else None
    )
    question = json.loads(TOOLS)["messages"][0]["content"]
    assert question not in "".join(part.text for part in run.parts)


def test_a_foreign_text_has_segments_of_kind_unknown() -> None:
    view = view_of_pack(of_text("<|im_start|>user\nhi", model="qwen3"), QWEN)
    assert [(part.kind, part.text) for part in view.execution.parts] == [("unknown", "<|im_start|>user\nhi")]
    assert {name for name, stage in stages(view).items() if stage.id != "unknown"} == {"rendered"}
    assert view.execution.tokens == ()


def test_foreign_ids_have_bytes_where_the_model_has_them() -> None:
    ids = [151644, 872, 10**9]
    run = view_of_pack(of_ids(ids, model="qwen3"), QWEN).execution
    assert [token.id for token in run.tokens] == ids
    assert [token.bytes for token in run.tokens] == [b"<|im_start|>", b"user", None]
    assert {run.places[token.place].kind for token in run.tokens} == {"unknown"}
    assert not any(token.sampled for token in run.tokens)
    assert run.budget.sections == (("unknown", 3),)
    assert not run.budget.known


@pytest.mark.parametrize(
    "covered", [((0, 2**62),) * 9, ((-5, 1),) * 9, ((3, 1),) * 9, ((0, 1),)], ids=["far", "before", "turned", "few"]
)
def test_segments_that_there_are_not(covered: tuple[tuple[int, int], ...]) -> None:
    pack, result = made()
    view = view_of_pack(replace(pack, token_segments=covered * (len(result) // 9) + covered[: len(result) % 9]), QWEN)
    assert [token.id for token in view.execution.tokens] == result.input_ids.tolist()
    assert {place.parts for place in view.execution.places} == {(0, 0)}
    assert {place.kind for place in view.execution.places} == {"unknown"}


def test_a_decision_that_says_nothing() -> None:
    pack = changed(packs()["within a budget"], Stage.BUDGET, decision={})
    assert view_of_pack(pack, QWEN).execution.budget.window == 0


# ---- two packs


def changed(pack: Pack, stage: Stage, **values: Json) -> Pack:
    found = {**pack.stages, stage: {**pack.stages[stage], **values}}
    return replace(pack, stages=found, digests=plain_digests(found))


PACK, RESULT = made()
OTHER_DIGEST = "sha256:" + "0" * 64
IDS = RESULT.input_ids.tolist()
CHANGED: dict[Stage, tuple[dict[str, Json], int]] = {
    Stage.BYTES: ({"invalid_utf8": "replace"}, 0),
    Stage.REQUEST: ({"parameters": {"enable_thinking": True}}, 0),
    Stage.BUDGET: ({"required": [0]}, 0),
    Stage.IMAGES: ({"images": [{"step": "rotated"}]}, 0),
    Stage.TEMPLATE: ({"id": "Qwen3@2"}, 0),
    Stage.RENDERED: ({"sampled": []}, 0),
    Stage.TOKENIZER: ({"digest": OTHER_DIGEST}, 0),
    Stage.RUNS: ({"runs": [[0, 1, 0, 1]]}, 0),
    Stage.IDS: ({"input_ids": [*IDS[:7], 5, *IDS[8:]]}, 7),
    Stage.TENSORS: ({"attention_mask": [*[1] * 4, 0, *[1] * (len(IDS) - 5)]}, 4),
}


@pytest.mark.parametrize("stage", [*Stage], ids=lambda stage: stage.value)
def test_a_difference_that_was_planted_in_a_stage(stage: Stage) -> None:
    values, at = CHANGED[stage]
    other = changed(PACK, stage, **values)
    view = view_of_diff((PACK, other), {"qwen3": QWEN}, ("a.pack", "b.pack"))
    found = katapi.diff(PACK, other).first
    assert found is not None
    assert found.difference is not None
    assert view.difference is not None
    assert view.difference.stage == stage.value
    assert stage.value in stages(view)
    assert view.difference.what.startswith(found.difference.kind.value)
    assert found.difference.where in view.difference.what
    assert view.difference.tokens == (at, at)
    assert view.other is not None
    assert (view.execution.label, view.other.label) == ("a.pack", "b.pack")


def test_characters_are_named_and_what_follows_is_told() -> None:
    question = "What is 2 +\u00a02?\nTell me, 天空 é."
    messages = TALK["messages"]
    assert isinstance(messages, list)
    other, result = made(messages=[messages[0], {"role": "user", "content": question}, *messages[2:]])
    view = view_of_diff((PACK, other), {"qwen3": QWEN}, ("a.pack", "b.pack"))
    assert view.difference is not None
    assert view.difference.stage == "bytes"
    assert "messages[1].content, character 11: a.pack has" in view.difference.what
    assert "U+00A0 NO-BREAK SPACE" in view.difference.what
    parted = next(at for at, (a, b) in enumerate(zip(IDS, result.input_ids.tolist(), strict=False)) if a != b)
    assert view.difference.tokens == (parted, parted)
    assert [line.partition(":")[0] for line in view.difference.follows] == [
        "request", "rendered", "ids", "the same again"
    ]  # fmt: skip


def test_two_that_are_alike() -> None:
    view = view_of_diff((PACK, PACK), {})
    assert (view.difference, view.alike) == (None, "The two are alike.")
    partly = view_of_diff((PACK, of_ids(IDS)), {})
    assert partly.difference is None
    assert partly.alike.startswith("Nothing that is known of both differs; alike: ids; unknown: bytes, ")
    assert "no stage is known of both" in view_of_diff((of_text("a"), of_ids([1])), {}).alike


def test_of_another_system_the_first_token_that_differs_is_shown() -> None:
    theirs = of_parts("vLLM", input_ids=[*IDS[:9], 1, *IDS[10:]])
    difference = view_of_diff((PACK, theirs), {"qwen3": QWEN}).difference
    assert difference is not None
    assert (difference.stage, difference.tokens) == ("ids", (9, 9))
    assert difference.follows[0].startswith("it may have arisen before; not known of both: bytes, request")


def test_of_a_text_alone_the_segment_that_differs_is_shown() -> None:
    text = QWEN.render(RESULT.request).text
    at = text.index("sky" if "sky" in text else "<|im_end|>")
    theirs = of_text(f"{text[:at]}!{text[at:]}")
    for turned in (False, True):
        pair = (theirs, PACK) if turned else (PACK, theirs)
        difference = view_of_diff(pair, {"qwen3": QWEN}).difference
        assert difference is not None
        assert difference.stage == "rendered"
        tokens = difference.tokens[::-1] if turned else difference.tokens
        assert tokens[1] == 0
        assert 0 < len(QWEN.decode_text(IDS[: tokens[0]])) <= at


def test_that_the_model_received_the_same_is_told() -> None:
    raw = json.dumps({**TALK})
    one, other = (pack_of(QWEN, QWEN.assemble(each.encode())) for each in (raw, f"{raw} "))
    said = "what the model received is the same"
    difference = view_of_diff((one, other), {}).difference
    assert difference is not None
    assert said in difference.follows
    longer = made(messages=[{"role": "user", "content": "?"}])[0]
    parted = view_of_diff((one, longer), {}).difference
    assert parted is not None
    assert said not in parted.follows


def test_contents_that_spell_a_control_token_are_told() -> None:
    prompt = QWEN.assemble(b'{"messages": [{"role": "user", "content": "<|im_end|>"}]}')
    theirs = of_ids([*prompt.input_ids[:4], 151645, 0, 151645, 151645])
    difference = view_of_diff((pack_of(QWEN, prompt), theirs), {}, ("a.pack", "b.pack")).difference
    assert difference is not None
    said = "messages[0].content spells <|im_end|>: text in a.pack; b.pack has 2 more of that token"
    assert said in difference.follows


def test_one_that_failed_beside_one_that_did_not() -> None:
    view = view_of_diff((packs()["tools"], packs()["a refused request"]), {"qwen3": QWEN})
    assert view.difference is not None
    assert view.other is not None
    assert view.difference.stage == "bytes"
    error, behind = view.difference.follows
    assert error.startswith("request: an error: first came further; second R113 at messages: ")
    assert behind.startswith("not reached by one of them: budget, images, ")
    assert view.difference.tokens[1] == 0
    assert view.other.tokens == ()


# ---- the command


def test_the_command_shows_one_pack_and_two(tmp_path: Path) -> None:
    one, other = tmp_path / "a.pack", tmp_path / "b.pack"
    one.write_bytes(pack_bytes(PACK))
    other.write_bytes(pack_bytes(made(enable_thinking=True)[0]))
    for files, count in (([one], 1), ([one, other], 2)):
        target = tmp_path / f"{count}.html"
        done = here("inspect", *map(str, files), "-o", str(target))
        assert (done.status, done.out, done.err) == (0, "", "")
        found = re.search("<script[^>]*application/json[^>]*>(.*?)</script>", target.read_text("utf-8"), re.DOTALL)
        assert found is not None
        data = json.loads(found[1])
        assert [run["label"] for run in data["executions"]] == (["a.pack", "b.pack"] if count == 2 else [""])
        assert (data["difference"] is None) is (count == 1)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("bad.pack",), 1, "Y10"),
        (("good.pack", "bad.pack"), 1, "Y10"),
        (("none.pack",), 1, "Y100"),
        (("good.pack", "request.json"), 2, "another pack"),
        (("qwen3", "good.pack"), 2, "names its model"),
        (("request.json",), 2, "a request goes behind its model: `katapi inspect MODEL request.json`"),
        (("good.pack", "--policy", "chat8k"), 2, "its budget"),
    ],
)
def test_what_is_wrong_with_packs(tmp_path: Path, arguments: tuple[str, ...], status: int, said: str) -> None:
    data = pack_bytes(PACK)
    (tmp_path / "good.pack").write_bytes(data)
    (tmp_path / "request.json").write_text("{}")
    (tmp_path / "bad.pack").write_bytes(data[: len(data) // 2])
    done = here("inspect", *arguments, "-o", "page.html", cwd=tmp_path)
    assert done.status == status
    assert said in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "page.html").exists()
