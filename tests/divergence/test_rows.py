"""Each row of table 1.10 of the chapter: the fault planted in one of two executions, and named by `katapi.diff`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import katapi
from katapi.divergence.compare import Diff, Same
from katapi.divergence.difference import Kind
from katapi.divergence.failures import pairs_are_whole
from katapi.divergence.known import Comparable
from katapi.packs.pack import Pack, plain_digests
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.budget.policy import CutLeft, Structure
from katapi.runtime.execution import execute
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.record import ExecutionRecord, Identity
from katapi.runtime.segments import ContentSegment, LiteralSegment
from katapi.runtime.stages import Failure, Stage
from tests.packs.made import BOOK, INVALID, QWEN, TOOLS, fixture


def parted(first: Comparable, second: Comparable) -> tuple[Diff, str]:
    """The comparison, and the place of the first difference; from the other side it is the same."""
    found, back = katapi.diff(first, second), katapi.diff(second, first)
    assert (found.failure, found.between) == (back.failure, back.between)
    assert found.first is not None
    assert found.first.difference is not None
    assert back.first is not None
    assert back.first.difference is not None
    one, other = found.first.difference, back.first.difference
    assert (one.kind, one.first, one.second) == (other.kind, other.second, other.first)
    offsets = [each.where.partition(", ")[0].split(" and ") for each in (one, other)]
    assert sorted(offsets[0]) == sorted(offsets[1])
    return found, one.where


def stage_and_kind(found: Diff) -> tuple[Stage, Kind]:
    assert found.first is not None
    assert found.first.difference is not None
    return found.first.stage, found.first.difference.kind


def changed(pack: Pack, stage: Stage, **values: Json) -> Pack:
    """A pack in which something of a stage is another."""
    stages = {**pack.stages, stage: {**pack.stages[stage], **values}}
    return replace(pack, stages=stages, digests=plain_digests(stages))


def edited(**values: Json) -> bytes:
    return json.dumps({**json.loads(TOOLS), **values}).encode()


def messages() -> list[JsonObject]:
    found: list[JsonObject] = json.loads(TOOLS)["messages"]
    return found


# ---- invalid UTF-8 is replaced in different ways


def test_a_client_that_replaced_each_byte_and_one_that_replaced_the_character() -> None:
    raw = b'{"messages": [{"role": "user", "content": "a\xef\xbf\xbd b"}]}'
    found, where = parted(BOOK.assemble(raw).record, BOOK.assemble(raw.replace(b"\xef\xbf\xbd", b"\xef\xbf\xbd" * 2)))
    assert (found.failure, where) == (Failure.INVALID_UTF8, "byte 47, messages[0].content, character 2")
    assert stage_and_kind(found) == (Stage.BYTES, Kind.REPLACED)


def test_bytes_that_are_no_text_and_what_another_put_in_their_place() -> None:
    lenient = replace(BOOK, invalid_utf8="replace")
    found, where = parted(execute(lenient, INVALID), execute(lenient, INVALID.replace(b"\xff", "\ufffd".encode())))
    assert (found.failure, where) == (Failure.INVALID_UTF8, "byte 44")
    assert found.first is not None
    assert found.first.difference is not None
    assert (found.first.difference.first, found.first.difference.second) == ("FF", "EF BF BD")
    assert [each.same for each in found.consequences] == [Same.SAME] * 9


def test_the_same_bytes_refused_and_replaced() -> None:
    lenient = replace(BOOK, invalid_utf8="replace")
    found, where = parted(execute(BOOK, INVALID), execute(lenient, INVALID))
    assert (found.failure, where) == (Failure.INVALID_UTF8, "invalid_utf8")
    assert found.stages[1].difference is not None
    assert found.stages[1].difference.first.startswith("R101 at byte 44: ")
    assert found.stages[2].difference is not None
    assert found.stages[2].difference.first == "not reached: R101"


# ---- the alias of a template points to a new version


def next_version(record: ExecutionRecord, *, printed: bool) -> ExecutionRecord:
    """What the next version of the template would print: two line ends where there is one."""
    segments = tuple(
        LiteralSegment(katapi.Literal(s.text.replace("\n", "\n\n")), s.site)
        if isinstance(s, LiteralSegment) and printed
        else s
        for s in record.segments
    )
    return replace(record, template=Identity("Qwen@2/qwen3", f"sha256:{'0' * 64}"), segments=segments)


@pytest.mark.parametrize("printed", [False, True])
def test_a_template_of_another_version(printed: bool) -> None:
    record = QWEN.assemble(TOOLS).record
    found, where = parted(record, next_version(record, printed=printed))
    assert (found.failure, where) == (Failure.TEMPLATE_VERSION, "id")
    assert stage_and_kind(found) == (Stage.TEMPLATE, Kind.DECLARATION)
    assert [each.stage for each in found.consequences if each.same is Same.DIFFERENT] == [Stage.RENDERED] * printed


def test_a_template_of_which_nothing_is_known_but_what_it_printed() -> None:
    from katapi.foreign import of_text

    prompt = QWEN.assemble(b'{"messages": [{"role": "user", "content": "1 + 1?"}]}')
    other = of_text(QWEN.render(prompt.request).text.replace("assistant\n", "assistant\n\n"))
    found, where = parted(prompt, other)
    assert (found.failure, found.first and found.first.stage) == (None, Stage.RENDERED)
    assert Failure.TEMPLATE_VERSION in found.possible, "another request would have been printed otherwise as well"
    assert where.startswith("segment 7 (literal of line ")
    assert found.between == (None, Stage.RENDERED)


# ---- the fields of a schema are walked in an order that is not stable

SCHEMA: Json = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
TURNED: Json = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}


def with_schema(schema: Json) -> bytes:
    return edited(tools=[{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}])


def test_a_schema_whose_keys_stand_in_another_order() -> None:
    one, other = with_schema(SCHEMA), with_schema(TURNED)
    found, where = parted(QWEN.assemble(one), QWEN.assemble(other))
    assert found.failure is Failure.SCHEMA_ORDER
    assert stage_and_kind(found) == (Stage.BYTES, Kind.KEY_ORDER)
    assert where.endswith(", tools[0].function.parameters.properties")
    typed = [QWEN.assemble(QWEN.decode_request(raw)) for raw in (one, other)]
    found, where = parted(*typed)
    assert (found.failure, where) == (Failure.SCHEMA_ORDER, "tools[0].function.parameters.properties")
    assert found.first is not None
    assert found.first.difference is not None
    assert (found.first.difference.first, found.first.difference.second) == ('"a", "b"', '"b", "a"')
    assert {each.stage for each in found.consequences if each.same is Same.DIFFERENT} >= {Stage.RENDERED, Stage.IDS}


def test_the_same_request_printed_in_another_order() -> None:
    one, other = QWEN.assemble(with_schema(SCHEMA)).record, QWEN.assemble(with_schema(TURNED)).record
    found, where = parted(one, replace(one, segments=other.segments))
    assert found.failure is Failure.SCHEMA_ORDER
    assert stage_and_kind(found) == (Stage.RENDERED, Kind.KEY_ORDER)
    assert where.startswith("segment 4 (content of tools[0]), character ")
    assert where.endswith(", JSON function.parameters.properties")


def test_another_system_that_prints_keys_in_another_order() -> None:
    from katapi.foreign import of_text

    one, other = (QWEN.assemble(with_schema(schema)) for schema in (SCHEMA, TURNED))
    found, where = parted(one, of_text(QWEN.render(other.request).text))
    assert found.failure is Failure.SCHEMA_ORDER
    assert where.endswith(", JSON function.parameters.properties")


def test_an_order_that_the_request_does_not_keep_is_no_failure() -> None:
    raw = b'{"messages": [{"role": "user", "content": "1 + 1?"}]}'
    turned = b'{"messages": [{"content": "1 + 1?", "role": "user"}]}'
    found, where = parted(QWEN.assemble(raw), QWEN.assemble(turned))
    assert (found.failure, where) == (None, "byte 16, messages[0]")
    assert stage_and_kind(found) == (Stage.BYTES, Kind.KEY_ORDER)
    assert {each.same for each in found.consequences} == {Same.SAME}


# ---- the vocabulary of the tokenizer does not match the model


def test_the_tokenizer_of_another_model() -> None:
    other = replace(BOOK, _tokenizer=katapi.load("gpt2")._tokenizer)
    raw = '{"messages": [{"role": "user", "content": "天空"}]}'.encode()
    found, _ = parted(BOOK.assemble(raw), other.assemble(raw))
    assert found.failure is Failure.VOCABULARY
    assert found.between is not None
    assert found.between[0] is Stage.TOKENIZER


def test_a_vocabulary_under_the_same_name() -> None:
    record = QWEN.assemble(TOOLS).record
    parts = replace(record.tokenizer_parts, vocabulary=f"sha256:{'0' * 64}")
    other = replace(
        record, tokenizer=Identity(record.tokenizer.id, f"sha256:{'1' * 64}"), tokenizer_parts=parts
    )  # fmt: skip
    found, where = parted(record, other)
    assert (found.failure, where) == (Failure.VOCABULARY, "digest, parts.vocabulary")


@pytest.mark.parametrize("printed", [False, True])
def test_a_template_is_digested_with_the_vocabulary_that_it_is_declared_over(printed: bool) -> None:
    record = QWEN.assemble(TOOLS).record
    parts = replace(record.tokenizer_parts, vocabulary=f"sha256:{'0' * 64}")
    other = replace(
        next_version(record, printed=printed),
        template=Identity(record.template.id, f"sha256:{'2' * 64}"),
        tokenizer=Identity(record.tokenizer.id, f"sha256:{'1' * 64}"),
        tokenizer_parts=parts,
    )
    found, where = parted(record, other)
    assert (found.failure, where) == (Failure.TEMPLATE_VERSION if printed else Failure.VOCABULARY, "digest")


def test_ids_that_another_vocabulary_gives_to_the_same_text() -> None:
    record = QWEN.assemble(TOOLS).record
    ids = (*record.input_ids[:9], 77, *record.input_ids[10:])
    found, where = parted(record, replace(record, input_ids=ids))
    assert (found.failure, stage_and_kind(found)) == (Failure.VOCABULARY, (Stage.IDS, Kind.TOKEN))
    assert where.startswith("token 9 (of segment 1, literal of line ")


# ---- truncation parts the call of a tool from its result


def test_a_client_that_cut_the_result_off() -> None:
    kept = [message for message in messages() if message["role"] != "tool"]
    one, other = QWEN.assemble(TOOLS), QWEN.assemble(edited(messages=kept))
    found, where = parted(one, other)
    assert found.failure is Failure.CUT_PAIR
    assert where.endswith("messages[2]")


def test_a_budget_that_left_the_result_out() -> None:
    pack = pack_of(QWEN, QWEN.assemble(TOOLS, "agent32k"))
    kept: Json = [message for message in messages() if message["role"] != "tool"]
    request = pack.stages[Stage.REQUEST]
    budget = pack.stages[Stage.BUDGET]
    decision = budget["decision"]
    assert isinstance(decision, dict)
    choices = [
        {**each, "kept": False, "why": "too long"} if 2 in each["at"] and each["section"] == "history" else each
        for each in decision["choices"]
    ]
    offered = {"messages": request["messages"], **dict(request["parameters"])}  # type: ignore[arg-type]  # an object
    other = changed(
        changed(pack, Stage.BUDGET, decision={**decision, "choices": choices, "offered": offered}),
        Stage.REQUEST,
        messages=kept,
    )
    found, where = parted(pack, other)
    assert found.failure is Failure.CUT_PAIR
    assert stage_and_kind(found) == (Stage.BUDGET, Kind.CHOICE)
    assert where.startswith("choice ")
    assert "history" in where


def test_a_cut_through_the_tokens_between_call_and_result() -> None:
    whole = QWEN.assemble(TOOLS)
    room = len(whole.input_ids) - 1
    cuts = [
        QWEN.assemble(TOOLS, katapi.Budget("mine@1", window=window, reserve=1, overflow=CutLeft(frozenset(Structure))))
        for window in range(room, 40, -1)
    ]
    broken = [cut.record.decision is not None and cut.record.decision.cut is not None
              and Structure.CALLS in cut.record.decision.cut.breaks for cut in cuts]  # fmt: skip
    assert True in broken
    found, _ = parted(whole, cuts[broken.index(True)])
    assert found.failure is Failure.CUT_PAIR


CALL: Json = {"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]}
RESULT: Json = {"role": "tool", "tool_call_id": "a", "content": "1"}
ASKED: Json = {"role": "user", "content": "?"}


@pytest.mark.parametrize(
    ("conversation", "whole"),
    [
        ([], True),
        ([ASKED, CALL, RESULT, ASKED], True),
        ([ASKED, CALL], True),
        ([ASKED, CALL, ASKED], False),
        ([RESULT, ASKED], False),
        ([CALL, {"role": "tool", "content": "1"}], True),
        ([CALL, {"role": "tool", "tool_call_id": "b", "content": "1"}], False),
        ([CALL, RESULT, RESULT], False),
    ],
)
def test_whether_calls_have_their_results(conversation: list[Json], whole: bool) -> None:
    assert pairs_are_whole(conversation) is whole


# ---- the padding mask or the position ids are shifted


@pytest.mark.parametrize(
    ("name", "planted", "where"),
    [
        ("attention_mask", [0, *[1] * 11], "attention_mask[0]"),
        ("position_ids", [*range(1, 13)], "position_ids[0], and 11 more by the same 1"),
        ("position_ids", [*range(9), *range(10, 13)], "position_ids[9], and 2 more by the same 1"),
    ],
)
def test_a_shifted_mask_or_position(name: str, planted: list[Json], where: str) -> None:
    pack = fixture()
    found, at = parted(pack, changed(pack, Stage.TENSORS, **{name: planted}))
    assert (found.failure, at) == (Failure.MASK_OR_POSITIONS, where)
    assert stage_and_kind(found) == (Stage.TENSORS, Kind.CELL)


# ---- an image was re-encoded or rotated


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ({"sha256": "ab" * 32, "orientation": 6}, "images[0].orientation"),
        ({"sha256": "cd" * 32, "orientation": 1}, "images[0].sha256"),
    ],
)
def test_an_image_that_was_re_encoded_or_rotated(step: JsonObject, where: str) -> None:
    one = changed(fixture(), Stage.IMAGES, images=[{"sha256": "ab" * 32, "orientation": 1}])
    found, at = parted(one, katapi.read_pack(pack_bytes(changed(one, Stage.IMAGES, images=[step]))))
    assert (found.failure, at) == (Failure.IMAGE, where)


# ---- packs that somebody wrote by hand


@pytest.mark.parametrize("decision", [{}, {"choices": [{}]}, {"choices": [1]}, {"offered": {}}, {"cut": 1}, None])
def test_a_decision_that_no_budget_made_is_compared_all_the_same(decision: Json) -> None:
    pack = pack_of(QWEN, QWEN.assemble(TOOLS, "agent32k"))
    found = katapi.diff(pack, changed(pack, Stage.BUDGET, decision=decision))
    assert not found.same
    assert katapi.diff(*[changed(pack, Stage.BUDGET, decision=decision)] * 2).same


# ---- executions that failed


def test_the_one_that_failed_earlier_shows_its_error() -> None:
    early, late = execute(BOOK, INVALID), execute(BOOK, fixture().raw or b"", katapi.Budget("b@1", window=9, reserve=1))
    found, _ = parted(early, late)
    shown = [each.difference for each in found.stages[1:]]
    assert shown[0] is not None
    assert (shown[0].first[:5], shown[0].second) == ("R101 ", "")
    assert {each.same for each in found.stages[3:]} == {Same.NOT_REACHED}


def test_two_errors_at_one_stage() -> None:
    one, other = (execute(BOOK, b'{"messages": [{"role": "%s"}]}' % role) for role in (b"a", b"user"))
    found, _ = parted(replace(one.record, incoming=other.record.incoming), other)
    assert stage_and_kind(found) == (Stage.REQUEST, Kind.ERROR)
    assert {each.same for each in found.consequences} == {Same.NOT_REACHED}


# ---- none of them


def test_another_question_is_no_failure() -> None:
    found, _ = parted(BOOK.assemble(b'{"messages": []}'), fixture())
    assert found.failure is None
    assert found.possible == ()


def test_content_printed_in_another_way_is_no_new_template() -> None:
    record = QWEN.assemble(TOOLS).record
    segments = tuple(
        s._replace(text=katapi.Content(f"{s.text} ")) if isinstance(s, ContentSegment) else s for s in record.segments
    )
    found, where = parted(record, replace(record, segments=segments))
    assert (found.failure, stage_and_kind(found)) == (None, (Stage.RENDERED, Kind.WHITE_SPACE))
    assert "content of" in where
