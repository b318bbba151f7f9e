"""What holds for any two executions: nothing parts from itself, and what parts first is behind stages that agree."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.divergence.compare import Diff, Same
from katapi.divergence.difference import Kind
from katapi.divergence.known import Comparable, known
from katapi.foreign import of_parts
from katapi.packs.pack import Pack
from katapi.packs.redaction import redacted
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.execution import execute
from katapi.runtime.json_types import JsonObject
from katapi.runtime.record import ExecutionRecord, stage_digest
from katapi.runtime.stages import Stage
from tests.examples import examples
from tests.packs.made import BOOK, QWEN, packs

MADE = packs()


def values(found: Diff) -> list[tuple[Same, str, str, str]]:
    shown = []
    for each in found.stages:
        d = each.difference
        shown.append((each.same, "" if d is None else d.kind.value, d.first if d else "", d.second if d else ""))
    return shown


def check(first: Comparable, second: Comparable) -> Diff:
    """What holds of a comparison; gives it."""
    found, back = katapi.diff(first, second), katapi.diff(second, first)
    assert values(found) == [(same, kind, b, a) for same, kind, a, b in values(back)]
    assert (found.failure, found.possible, found.between) == (back.failure, back.possible, back.between)
    assert [each.stage for each in found.stages] == [*Stage]
    assert all((each.difference is not None) == (each.same is Same.DIFFERENT) for each in found.stages)
    one, other = known(first), known(second)
    for each in found.stages:
        if each.same is Same.DIFFERENT and one.reached(each.stage) and other.reached(each.stage):
            assert stage_digest(one.stages[each.stage]) != stage_digest(other.stages[each.stage])
        if each.same is Same.SAME:
            assert one.digests[each.stage] == other.digests[each.stage]
        if found.first is not None and each.stage is found.first.stage:
            break
        assert each.same is not Same.DIFFERENT
    assert json.loads(json.dumps(found.to_json()))["same"] is found.same
    parted = "" if found.first is None else f"part at the stage {found.first.stage.value}: "
    assert str(found).startswith(f"first and second {parted or 'agree'}")
    return found


CONTENTS = st.text(st.sampled_from("ab e\u0301\u00e9\r\n\u200b<|天空"), max_size=6)
CALLS = st.sampled_from([{"a": 1, "b": "x"}, {"b": "x", "a": 1}, {"a": 1.0, "b": "x"}, {}])


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Requests that are often almost the same, and now and then refused."""
    messages: list[JsonObject] = []
    for role in draw(st.lists(st.sampled_from(["system", "user", "assistant", "tool", "nobody"]), max_size=4)):
        message: dict[str, object] = {"role": role, "content": draw(CONTENTS)}
        if role == "assistant" and draw(st.booleans()):
            call = {"name": "f", "arguments": draw(CALLS)}
            message["tool_calls"] = [{"type": "function", "function": call}]
        messages.append(message)  # type: ignore[arg-type]  # plain JSON
    value: dict[str, object] = {"messages": messages}
    if draw(st.booleans()):
        function = {"name": "f", "description": "", "parameters": draw(CALLS)}
        value["tools"] = [{"type": "function", "function": function}]
    if draw(st.booleans()):
        value["add_generation_prompt"] = draw(st.booleans())
    raw = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))).encode()
    return draw(st.sampled_from([raw, raw, raw, raw.replace(b"a", b"\xff")]))


POLICIES = st.sampled_from([None, None, "agent32k", "tail4k", katapi.Budget("mine@1", window=40, reserve=1)])


@examples(test=100, fuzz=3_000)
@given(requests(), requests(), POLICIES, POLICIES, st.sampled_from(["qwen3", "qwen2.5", "llama3.1"]))
def test_two_requests(one: bytes, other: bytes, policy: str | None, other_policy: str | None, name: str) -> None:
    first, second = execute(QWEN, one, policy), execute(katapi.load(name), other, other_policy)
    assert check(first, first).same
    assert check(second, second).same
    found = check(first, second)
    assert found.same == (known(first).digests == known(second).digests and _fault(first) == _fault(second))
    packed = katapi.read_pack(pack_bytes(pack_of(QWEN, first)))
    assert katapi.diff(packed, second) == found
    assert katapi.diff(packed, first).same


def _fault(execution: katapi.Execution) -> JsonObject | None:
    return None if execution.record.fault is None else execution.record.fault.to_json()


@pytest.mark.parametrize("kind", MADE)
def test_nothing_parts_from_itself(kind: str) -> None:
    found = check(MADE[kind], MADE[kind])
    assert found.same
    assert (found.failure, found.between, found.unknown, found.possible) == (None, None, (), ())
    assert Same.DIFFERENT not in {each.same for each in found.stages}


@pytest.mark.parametrize("kind", MADE)
def test_any_two_packs_can_be_compared(kind: str) -> None:
    for other in MADE.values():
        found = check(MADE[kind], other)
        assert found.same == (found.first is None)


@pytest.mark.parametrize("kind", ["the fixture", "tools", "within a budget", "extended"])
def test_a_redacted_pack_is_compared_as_far_as_its_digests_and_placeholders_tell(kind: str) -> None:
    pack = MADE[kind]
    model = katapi.load(pack.model)
    digests, placeholders = redacted(pack, model, "digests"), redacted(pack, model, "placeholders")
    for one, other in ((pack, digests), (pack, placeholders), (digests, placeholders), (digests, digests)):
        found = katapi.diff(one, other)
        assert found.same
        assert Same.SAME in {each.same for each in found.stages}
    assert check_hidden(pack, digests)[Stage.IDS] is Same.SAME
    assert check_hidden(pack, placeholders)[Stage.IDS] is Same.UNKNOWN
    other = MADE["tools" if kind == "the fixture" else "the fixture"]
    found = katapi.diff(digests, redacted(other, katapi.load(other.model), "digests"))
    assert found.between == (None, Stage.REQUEST if kind == "extended" else Stage.BYTES)
    assert found.first is not None
    assert found.first.difference is not None


def test_contents_that_differ_behind_digests_and_placeholders() -> None:
    raw = '{"messages": [{"role": "user", "content": "café"}]}'
    one, other = (pack_of(QWEN, QWEN.assemble(each.encode())) for each in (raw, raw.replace("é", "e\u0301")))
    found = check(redacted(one, QWEN, "digests"), redacted(other, QWEN, "digests"))
    places = {each.stage: each.difference.where for each in found.stages if each.difference is not None}
    assert places == {Stage.BYTES: "sha256", Stage.REQUEST: "messages[0].content", Stage.RENDERED: "segment 3"}
    other = pack_of(QWEN, QWEN.assemble(raw.replace("é", "e").encode()))
    found = katapi.diff(redacted(one, QWEN, "digests"), redacted(other, QWEN, "digests"))
    assert found.stages[-2].difference is not None
    assert found.stages[-2].difference.kind is Kind.HIDDEN
    found = check(redacted(one, QWEN, "placeholders"), redacted(other, QWEN, "placeholders"))
    assert found.between == (None, Stage.BYTES)
    assert found.stages[1].difference is not None
    assert found.stages[1].difference.where == "messages[0].content, character 3"


def check_hidden(one: Pack, other: Pack) -> dict[Stage, Same]:
    return {each.stage: each.same for each in katapi.diff(one, other).stages}


def test_a_request_that_was_not_given_as_bytes_has_no_bytes_to_compare() -> None:
    raw = b'{"messages": [{"role": "user", "content": "1 + 1?"}]}'
    found = check(QWEN.assemble(raw), QWEN.assemble(QWEN.decode_request(raw)))
    assert found.same
    assert found.stages[0].same is Same.UNKNOWN


def test_what_a_budget_leaves_out_is_no_other_request() -> None:
    one, other = (MADE[kind] for kind in ("within a budget", "cut"))
    found = check(one, other)
    assert found.between == (Stage.REQUEST, Stage.BUDGET)
    assert found.first is not None
    assert found.first.difference is not None
    assert found.first.difference.where.startswith("budget.")


def test_other_versions_are_named_and_no_difference() -> None:
    record: ExecutionRecord = BOOK.assemble(b'{"messages": []}').record
    found = katapi.diff(record, replace(record, environment=replace(record.environment, numpy="1.0")))
    assert found.same
    assert found.versions == (("numpy", record.environment.numpy, "1.0"),)


IDS = st.lists(st.integers(0, 3), max_size=6)


@examples(test=100, fuzz=3_000)
@given(st.none() | CONTENTS, st.none() | IDS, st.none() | CONTENTS, st.none() | IDS)
def test_what_other_systems_tell(
    text: str | None, ids: list[int] | None, other_text: str | None, other_ids: list[int] | None
) -> None:
    one, other = (of_parts("x", text=t, input_ids=i) for t, i in ((text, ids), (other_text, other_ids)))
    assert katapi.diff(one, one).same
    found = katapi.diff(one, other)
    apart = {
        Stage.RENDERED: None not in (text, other_text) and text != other_text,
        Stage.IDS: None not in (ids, other_ids) and ids != other_ids,
    }
    assert [each.stage for each in found.stages if each.same is Same.DIFFERENT] == [s for s in apart if apart[s]]
    back = katapi.read_pack(pack_bytes(other))
    assert back == other
    assert katapi.diff(one, back) == found
