"""Replays: what agrees, the first stage that does not, and what may have caused it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import katapi
from katapi.packs.pack import Pack
from katapi.packs.reading import read_pack
from katapi.packs.replay import FIXTURE, FIXTURE_IDS, Verdict, check_fixture, replay
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.errors import ReplayError
from katapi.runtime.execution import execute
from katapi.runtime.record import Environment, Identity, stage_digest
from katapi.runtime.stages import Stage
from tests.packs.made import BOOK, INVALID, QWEN, TOOLS, fixture, packs


@pytest.mark.parametrize("kind", packs())
def test_a_pack_of_each_kind_is_replayed(kind: str) -> None:
    pack = packs()[kind]
    model = katapi.load(pack.model)
    done = replay(read_pack(pack_bytes(pack)), model)
    assert done.agrees, done.first
    assert replay(pack, model).stages == done.stages
    unchecked = [row.stage for row in done.stages if row.verdict is Verdict.UNCHECKED]
    assert unchecked == ([Stage.BYTES] if pack.raw is None else [])
    order = [*Stage]
    count = len(order) if pack.fault is None else order.index(Stage(str(pack.fault["at"]))) + 1
    assert [row.stage for row in done.stages] == order[:count]


def changed(pack: Pack, stage: Stage, **members: object) -> Pack:
    """A pack that recorded something else at a stage."""
    content = {**pack.stages[stage], **members}
    return replace(
        pack,
        stages={**pack.stages, stage: content},  # type: ignore[dict-item]  # plain JSON
        digests={**pack.digests, stage: stage_digest(content)},  # type: ignore[arg-type]  # plain JSON
    )


@pytest.mark.parametrize(
    ("stage", "members"),
    [
        (Stage.BYTES, {"max_depth": 3}),
        (Stage.REQUEST, {"defaults": {"x": 1}}),
        (Stage.BUDGET, {"required": [1]}),
        (Stage.IMAGES, {"images": [{}]}),
        (Stage.TEMPLATE, {"digest": "sha256:" + "0" * 64}),
        (Stage.RENDERED, {"sampled": [[0, 1]]}),
        (Stage.TOKENIZER, {"id": "Other@1"}),
        (Stage.RUNS, {"runs": []}),
        (Stage.IDS, {"input_ids": [1, 2, 7, 3, 4, 8, 9, 10, 11, 12, 5, 7]}),
        (Stage.TENSORS, {"position_ids": [*range(1, 13)]}),
    ],
)
def test_the_stage_that_was_recorded_otherwise_is_the_one_that_differs(
    stage: Stage, members: dict[str, object]
) -> None:
    if stage is Stage.BUDGET:
        pack = pack_of(BOOK, BOOK.assemble(FIXTURE.encode(), "Book"))
        members = {"together": [[0, 1]]}
    else:
        pack = fixture()
    done = replay(read_pack(pack_bytes(changed(pack, stage, **members))), BOOK)
    assert [row.stage for row in done.stages if row.verdict is Verdict.DIFFERS] == [stage]
    assert done.first is not None
    assert f"other: {next(iter(members))}" in done.first.why
    assert not done.agrees


def why(pack: Pack, model: katapi.Model[katapi.runtime.request_model.RequestModel]) -> tuple[Stage, str]:
    first = replay(pack, model).first
    assert first is not None
    return first.stage, first.why


def test_another_template_tokenizer_or_request_rules_are_named() -> None:
    other = Identity("Book@2", "sha256:" + "1" * 64)
    stage, said = why(fixture(), replace(BOOK, template=other))
    assert stage is Stage.TEMPLATE
    assert "declared as Book@1" in said
    assert "is Book@2" in said
    stage, said = why(fixture(), replace(BOOK, tokenizer_identity=other))
    assert (stage, "is Book@2" in said) == (Stage.TOKENIZER, True)
    stage, said = why(fixture(), replace(BOOK, request_rules=other))
    assert (stage, "is Book@2" in said) == (Stage.REQUEST, True)


def test_what_follows_from_an_earlier_stage_says_so() -> None:
    pack = changed(changed(fixture(), Stage.RENDERED, sampled=[[0, 1]]), Stage.TENSORS, position_ids=[*range(1, 13)])
    rows = {row.stage: row for row in replay(pack, BOOK).stages}
    assert "what comes before it differs: rendered" in rows[Stage.TENSORS].why
    assert "nothing that was recorded explains it" in rows[Stage.RENDERED].why


def test_another_version_of_what_runs_is_named() -> None:
    then = Environment("0.0.9", "3.11.0", "2.11.0", "2.0.0")
    pack = replace(fixture(), environment=then)
    done = replay(pack, BOOK)
    assert done.agrees
    assert [change.split()[0] for change in done.changed] == ["katapi", "python", "pydantic", "numpy"]
    assert done.changed[0].startswith("katapi 0.0.9 then, ")
    _, said = why(changed(pack, Stage.RUNS, runs=[]), BOOK)
    assert "what ran was another version: katapi 0.0.9 then" in said


def test_another_decode_policy_is_the_first_to_part() -> None:
    """The first row of table 1.10."""
    lenient = replace(BOOK, invalid_utf8="replace")
    stage, said = why(pack_of(lenient, lenient.assemble(INVALID)), BOOK)
    assert (stage, "invalid_utf8" in said) == (Stage.BYTES, True)
    stage, said = why(pack_of(BOOK, execute(BOOK, INVALID)), lenient)
    assert (stage, "invalid_utf8" in said) == (Stage.BYTES, True)


def test_another_vocabulary_is_the_first_to_part() -> None:
    """The fourth row of table 1.10."""
    other = replace(BOOK, _tokenizer=katapi.load("gpt2")._tokenizer)
    rows = [row for row in replay(fixture(), other).stages if row.verdict is Verdict.DIFFERS]
    assert [row.stage for row in rows] == [Stage.RUNS, Stage.IDS, Stage.TENSORS]


def test_an_execution_that_fails_now_or_failed_then() -> None:
    failed = pack_of(BOOK, execute(BOOK, INVALID))
    lenient = replace(BOOK, invalid_utf8="replace")
    now = {row.stage: row for row in replay(failed, lenient).stages}
    assert "it was not reached then: R101" in now[Stage.IDS].why
    worked = pack_of(lenient, lenient.assemble(INVALID))
    rows = {row.stage: row for row in replay(worked, BOOK).stages}
    assert "it is not reached now: request error R101" in rows[Stage.IDS].why
    assert rows[Stage.TEMPLATE].verdict is Verdict.AGREES
    other = replace(failed, fault={**failed.fault, "code": "R102"})  # type: ignore[dict-item]  # it has an error
    first = replay(other, BOOK).first
    assert first is not None
    assert first.why.startswith("R102 then, and now: request error R101")


def test_a_typed_request_that_the_model_takes_no_more() -> None:
    typed = pack_of(QWEN, QWEN.assemble(QWEN.decode_request(TOOLS)))
    pack = changed(typed, Stage.REQUEST, parameters={"nobody": 1})
    first = replay(pack, QWEN).first
    assert first is not None
    assert (first.stage, "R111" in first.why) == (Stage.REQUEST, True)


def test_a_budget_that_was_declared_anew_is_the_stage_that_differs() -> None:
    pack = pack_of(QWEN, QWEN.assemble(TOOLS, "chat8k"))
    wider = replace(QWEN.budgets["chat8k"], window=9000, digest="sha256:" + "2" * 64)
    stage, said = why(pack, replace(QWEN, budgets={**QWEN.budgets, "chat8k": wider}))
    assert stage is Stage.BUDGET
    assert "other: budget, decision" in said


def test_the_fixture_of_the_chapter_comes_first() -> None:
    check_fixture(BOOK)
    assert (
        BOOK.assemble(FIXTURE.encode()).input_ids.tolist() == [1, 2, 7, 3, 4, 8, 9, 10, 11, 12, 5, 6] == [*FIXTURE_IDS]
    )
    with pytest.raises(ReplayError) as caught:
        check_fixture(replace(BOOK, _render=lambda _: []))
    assert caught.value.code == "Y110"


@pytest.mark.parametrize("redact", ["digests", "placeholders"])
@pytest.mark.parametrize("kind", packs())
def test_redacted_packs_of_each_kind_agree_in_what_is_left(
    kind: str, redact: katapi.packs.pack.Redaction, hidden: Callable[[str, katapi.packs.pack.Redaction], Pack]
) -> None:
    pack = hidden(kind, redact)
    done = replay(read_pack(pack_bytes(pack)), katapi.load(pack.model))
    assert done.agrees, done.first
    verdicts = {row.stage: row.verdict for row in done.stages}
    assert verdicts[Stage.BYTES] is Verdict.UNCHECKED
    if kind in ("the fixture", "tools", "parameters beside", "a typed request"):
        assert {stage for stage, verdict in verdicts.items() if verdict is Verdict.UNCHECKED} == {Stage.BYTES}


def test_a_redacted_pack_notices_what_can_be_noticed() -> None:
    pack = fixture("placeholders")
    for stage, members in (
        (Stage.TEMPLATE, {"digest": "sha256:" + "0" * 64}),
        (Stage.TOKENIZER, {"id": "Other@1"}),
        (Stage.IDS, {"input_ids": [1, 2, -1, 3, 4, -1, -1, -1, -1, -1, 5, 5]}),
        (Stage.TENSORS, {"position_ids": [0, *range(11)]}),
    ):
        found = replay(changed(pack, stage, **members), BOOK)
        assert found.first is not None
        assert found.first.stage is stage


def test_a_pack_of_another_model() -> None:
    with pytest.raises(ReplayError) as caught:
        replay(fixture(), QWEN)
    assert caught.value.code == "Y111"
