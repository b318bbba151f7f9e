"""The replies of one model, read by both sides."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from katapi.runtime.json_types import JsonObject
from katapi.runtime.reply.message import AssistantMessage
from tools.replies.cases import Conversations, Piece, Reply
from tools.replies.judge import Fault, faults
from tools.replies.malformed import Facts, Kind, Sample, samples, spelled
from tools.replies.peer import Peer
from tools.replies.said import Said, called, message_of, said

KATAPI, PEER = "Katapi", "renderers"
SECONDS = 5.0
"""How long a side may take for a reply."""


@dataclass(frozen=True)
class Reading:
    """What one side makes of a sample."""

    said: Said | None
    """None where it raises."""
    error: str
    faults: frozenset[Fault]


@dataclass(frozen=True)
class Compared:
    """A sample and both readings."""

    reply: Reply
    sample: Sample
    ids: tuple[int, ...]
    readings: dict[str, Reading]

    @property
    def verdict(self) -> str:
        """What Katapi's reading is beside that of renderers."""
        ours, theirs = self.readings[KATAPI].faults, self.readings[PEER].faults
        if ours == theirs:
            return "same"
        if ours < theirs:
            return "better"
        return "worse" if theirs < ours else "other"


class Parsing:
    """Both sides of one model."""

    def __init__(self, conversations: Conversations, peer: Peer) -> None:
        self._conversations = conversations
        self._model = conversations.model
        self._peer = peer
        self._controls = conversations.controls

    def compared(self, replies: Sequence[Reply], malformed: int) -> Iterator[Compared]:
        """All replies as they are, and what is made of `malformed` of them, of those with calls first."""
        chosen = _spread(replies, malformed)
        facts = Facts(self._peer.stops, self._stranger(replies), spelled(replies))
        for reply in replies:
            double = self._doubled(reply) if reply in chosen else None
            for sample in samples(reply, facts, double):
                if sample.kind is Kind.NOTHING or reply in chosen:
                    yield self._compare(reply, sample)

    def _compare(self, reply: Reply, sample: Sample) -> Compared:
        ids = reply.ids if sample.pieces is None else tuple(self._conversations.ids(sample.pieces))
        readings = {
            KATAPI: self._read(reply, sample, lambda: self._ours(reply, ids)),
            PEER: self._read(reply, sample, lambda: self._theirs(reply, ids)),
        }
        return Compared(reply, sample, ids, readings)

    def _read(self, reply: Reply, sample: Sample, read: Callable[[], Said]) -> Reading:
        began = time.process_time()
        try:
            what = read()
        except Exception as error:  # noqa: BLE001  # an exception of any kind is a fault
            return Reading(None, f"{type(error).__name__}: {error}", frozenset({Fault.RAISES}))
        found = faults(what, sample.expected)
        if time.process_time() - began > SECONDS:
            found |= {Fault.SLOW}
        if sample.kind is Kind.NOTHING and not found and not self._prints(reply, what):
            found |= {Fault.SPACE}
        return Reading(what, "", found)

    def _prints(self, reply: Reply, what: Said) -> bool:
        """Whether the template prints for what was read what it printed for the message."""
        own = said(reply.message)
        reasoning = what.reasoning if reply.says.reasoning else own.reasoning
        read = message_of(what._replace(reasoning=reasoning), reply.message)
        like = message_of(own, reply.message)
        return self._conversations.printed(reply.request, read) == self._conversations.printed(reply.request, like)

    def _ours(self, reply: Reply, ids: Sequence[int]) -> Said:
        return of_message(self._model.parse(ids, reply.prompt if reply.follows else None))

    def _theirs(self, reply: Reply, ids: Sequence[int]) -> Said:
        prompt = reply.prompt.input_ids.tolist() if reply.follows else None
        return self._peer.parse(ids, prompt, reply.tools, reply.request)

    def _stranger(self, replies: Sequence[Reply]) -> Piece:
        """A control token that stands in no reply and no prompt, and at which nothing stops."""
        used = {
            token
            for reply in replies
            for token in (*reply.ids, *reply.prompt.input_ids.tolist())
            if token in self._controls
        }
        words = ("bos", "begin", "end", "eos", "pad", "start", "s>", "turn", "tool", "think", "channel", "call")
        found = [
            (any(word in spelling.lower() for word in words), token)
            for token, spelling in self._controls.items()
            if token not in used and token not in self._peer.stops
        ]
        token = min(found)[1]
        return Piece(self._controls[token], token)

    def _doubled(self, reply: Reply) -> Reply | None:
        """A reply that makes its call twice."""
        calls = reply.message.get("tool_calls")
        if not isinstance(calls, list | tuple) or len(calls) != 1 or not isinstance(calls[0], Mapping):
            return None
        messages = reply.request["messages"]
        assert isinstance(messages, list)
        second = {**calls[0], "id": f"{calls[0]['id']}2"} if "id" in calls[0] else calls[0]
        message: JsonObject = {**reply.message, "tool_calls": [calls[0], second]}
        return self._conversations.reply({**reply.request, "messages": [*messages[:-1], message]})


def of_message(message: AssistantMessage) -> Said:
    """What Katapi read."""
    calls = tuple(called(call.name, dict(call.arguments), call.id) for call in message.tool_calls)
    rest = "\n".join(fault.text for fault in message.faults)
    return Said(message.content, message.reasoning or "", calls, rest)


def _spread(replies: Sequence[Reply], most: int) -> list[Reply]:
    """Some of the replies, half of them with calls where there are as many."""
    with_calls = [reply for reply in replies if reply.says.calls]
    without = [reply for reply in replies if not reply.says.calls]
    half = max(most // 2, most - len(without))
    return _some(with_calls, half) + _some(without, most - min(half, len(with_calls)))


def _some(replies: list[Reply], most: int) -> list[Reply]:
    return replies[:: max(1, -(-len(replies) // max(1, most)))][:most]
