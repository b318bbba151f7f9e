"""tools/replies: what is made of good replies, and what counts as a fault of a reading.

The comparison itself needs renderers: `make replies`. These are the parts that need it not.
"""

from __future__ import annotations

from itertools import islice

import pytest

import katapi
from tests.vectors.test_chat_models import OWN
from tools.replies.cases import Conversations, Piece, Reply
from tools.replies.judge import Fault, faults
from tools.replies.malformed import Expected, Facts, Kind, Sample, cut_at, samples, spelled
from tools.replies.parsing import of_message
from tools.replies.said import Said, called

CALL = called("f", {"a": 1})
STRANGER = 151659, "<|fim_prefix|>"
IM_END = 151645


def test_a_reading_that_says_what_was_said_has_no_fault() -> None:
    expected = Expected(("hello",), ("why",), (CALL,), (CALL,))
    assert faults(Said(" hello\n", "why", (CALL,)), expected) == set()


@pytest.mark.parametrize(
    ("read", "fault"),
    [
        (Said("hel", "why", (CALL,)), Fault.CONTENT_LOST),
        (Said("hello </tool_call>", "why", (CALL,)), Fault.CONTENT_ADDED),
        (Said("hello", "", (CALL,)), Fault.REASONING_LOST),
        (Said("hello", "why, though", (CALL,)), Fault.REASONING_ADDED),
        (Said("hello", "why"), Fault.LOST),
        (Said("hello", "why", (called("f", {"a": "1"}),)), Fault.ALTERED),
        (Said("hello", "why", (CALL, called("g", {}))), Fault.INVENTED),
        (Said("hello", "why", (CALL, CALL)), Fault.ALTERED),
    ],
)
def test_what_is_wrong_with_a_reading(read: Said, fault: Fault) -> None:
    assert faults(read, Expected(("hello",), ("why",), (CALL,), (CALL,))) == {fault}


def test_a_call_that_is_damaged_may_be_read_or_not() -> None:
    expected = Expected(None, None, (), (CALL,))
    assert faults(Said("anything", "", (CALL,)), expected) == faults(Said(), expected) == set()


def replies() -> tuple[Conversations, list[Reply]]:
    conversations = Conversations(katapi.load("qwen3"), OWN / "qwen3.jsonl.gz")
    return conversations, conversations.replies(30)


def made() -> tuple[Conversations, list[tuple[Reply, Sample]]]:
    conversations, found = replies()
    facts = Facts({IM_END}, Piece(STRANGER[1], STRANGER[0]), spelled(found))
    return conversations, [(reply, sample) for reply in found for sample in samples(reply, facts, None)]


def test_katapi_reads_what_is_made_of_replies_of_qwen3() -> None:
    conversations, found = made()
    kinds: set[Kind] = set()
    for reply, sample in found:
        ids = reply.ids if sample.pieces is None else conversations.ids(sample.pieces)
        read = of_message(conversations.model.parse(ids, reply.prompt if reply.follows else None))
        assert faults(read, sample.expected) == set(), (sample.kind, conversations.model.decode_text(list(ids)))
        kinds.add(sample.kind)
    assert kinds >= {
        Kind.NOTHING,
        Kind.CUT,
        Kind.UNCLOSED,
        Kind.BEHIND,
        Kind.UNKNOWN,
        Kind.SPELLED,
        Kind.TIGHT,
        Kind.LOOSE,
    }


def test_of_a_reply_that_is_cut_off_the_text_before_the_cut_is_asked_for() -> None:
    _, found = replies()
    reply = next(reply for reply in found if reply.says.content and not reply.says.calls and not reply.says.reasoning)
    length = sum(1 if piece.control is not None else len(piece.text) for piece in reply.pieces)
    asked = [cut_at(reply, place).expected.content for place in range(1, length)]
    assert all(one is not None and reply.says.content.startswith(one[0]) for one in asked)
    assert len(set(asked)) > len(reply.says.content) / 2


def test_replies_are_taken_evenly() -> None:
    conversations, found = replies()
    assert 10 < len(found) <= 30
    assert len({id(reply.request) for reply in islice(found, 30)}) == len(found)
    assert conversations.controls[STRANGER[0]] == STRANGER[1]
