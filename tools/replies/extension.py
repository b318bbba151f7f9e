"""The conversations of one model, gone on with by both sides behind what was sampled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from katapi.runtime.errors import KatapiError
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tools.replies.cases import Reply
from tools.replies.parsing import KATAPI, PEER
from tools.replies.peer import Peer


class Ending(Enum):
    """How a completion ends."""

    CLOSED = "with the closing token"
    OPEN = "without the closing token"


@dataclass(frozen=True)
class Next:
    """What one side makes of a completion."""

    ids: tuple[int, ...] | None
    """None where it refuses."""
    why: str
    """What it says when it refuses."""


@dataclass(frozen=True)
class Extended:
    """A completion, and the next prompt of both sides."""

    reply: Reply
    ending: Ending
    stable: bool
    """Whether the whole conversation begins with the ids of the prompt and of the completion."""
    expected: tuple[int, ...]
    """All ids of the past, and behind them what the template prints there."""
    sides: dict[str, Next]

    def right(self, side: str) -> bool:
        """Whether a side gives what is expected."""
        return self.sides[side].ids == self.expected

    @property
    def verdict(self) -> str:
        """What Katapi's result is beside that of renderers."""
        ours, theirs = self.right(KATAPI), self.right(PEER)
        if ours == theirs:
            return "same"
        return "better" if ours else "worse"

    @property
    def roles(self) -> str:
        """The roles of the new messages, each once in a row."""
        roles = [str(message["role"]) for message in self.reply.new]
        return ", ".join(role for at, role in enumerate(roles) if not at or roles[at - 1] != role)


def extensions(model: Model[RequestModel], peer: Peer, replies: Sequence[Reply]) -> Iterator[Extended]:
    """All replies behind which the conversation goes on and whose prompt they follow."""
    for reply in replies:
        if reply.whole is None or not reply.follows:
            continue
        for ending in Ending:
            extended = _extended(model, peer, reply, ending)
            if extended is not None:
                yield extended


def _extended(model: Model[RequestModel], peer: Peer, reply: Reply, ending: Ending) -> Extended | None:
    assert reply.whole is not None
    before = tuple(reply.prompt.input_ids.tolist())
    ids = reply.ids
    if ending is Ending.OPEN:
        if reply.pieces[-1].control is None or reply.pieces[-1].control not in peer.stops:
            return None
        ids = ids[:-1]
    past = (*before, *reply.ids)
    whole = tuple(reply.whole.input_ids.tolist())
    sides = {
        KATAPI: _next(lambda: tuple(model.extend(reply.prompt, ids, reply.new).input_ids.tolist())),
        PEER: _next(lambda: _bridged(peer, reply, before, ids)),
    }
    return Extended(reply, ending, whole[: len(past)] == past, (*past, *reply.tail), sides)


def _bridged(peer: Peer, reply: Reply, before: Sequence[int], ids: Sequence[int]) -> tuple[int, ...] | None:
    found = peer.extend(before, ids, reply.new, reply.tools, reply.request)
    return None if found is None else tuple(found)


def _next(make: Callable[[], tuple[int, ...] | None]) -> Next:
    try:
        ids = make()
    except KatapiError as error:
        return Next(None, f"{error.code}: {error.message}")
    except Exception as error:  # noqa: BLE001  # an exception of any kind is told
        return Next(None, f"{type(error).__name__}: {error}")
    return Next(ids, "" if ids is not None else "None")
