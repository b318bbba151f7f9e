"""One model: the masks of both sides over many conversations, judged by what the model itself wrote."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import katapi
from katapi.artifacts.lock import Lock
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tools.training_masks.kinds import Change, Kind, changes, faults, untold
from tools.training_masks.peer import Conversation, Fact, Peer, Refused, facts, template, tokenizer_json
from tools.training_masks.written import Ids, Judged, Turn, written

T = TypeVar("T")
Masked = tuple[list[int], list[bool]]
KATAPI, TRL = "Katapi", "TRL"
_FURTHER = re.compile(r" \(and \d+ more faults?\)$")


@dataclass(frozen=True)
class Side:
    """What one side makes of a conversation: ids, a mask, and what the model wrote of these ids."""

    ids: list[int]
    mask: list[bool]
    judged: Judged


@dataclass(frozen=True)
class Seen:
    """How often a kind comes, and the shortest conversation with it, with its number of tokens."""

    times: int
    shortest: Conversation
    length: int


Sightings = dict[T, dict[str, Seen]]
"""What was seen of each kind, by side."""


@dataclass
class Counts:
    """Tokens of one side, of the conversations that both sides take."""

    written: int = 0
    untold: int = 0
    too_many: int = 0
    """Marked, and the model did not write them."""
    too_few: int = 0
    """Not marked, and the model wrote them."""

    def add(self, side: Side) -> None:
        """Counts the tokens of a conversation."""
        self.written += side.judged.count(True)
        self.untold += side.judged.count(None)
        for marked, told in zip(side.mask, side.judged, strict=True):
            self.too_many += marked and told is False
            self.too_few += told is True and not marked


@dataclass
class Result:
    """What was found for a model."""

    model: str
    fact: Fact
    comparison: Comparison
    conversations: int = 0
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By what Katapi and TRL say, empty where one of them takes the conversation."""
    ids_equal: int = 0
    mask_equal: int = 0
    counts: dict[str, Counts] = field(default_factory=lambda: {KATAPI: Counts(), TRL: Counts()})
    wrong: Sightings[Kind] = field(default_factory=dict)
    untold: Sightings[str] = field(default_factory=dict)
    """What only one side marks where nothing is told, in conversations with equal ids."""
    changes: Sightings[Change] = field(default_factory=dict)
    """Where TRL's template prints something else than the original."""

    @property
    def compared(self) -> int:
        """Conversations that both sides take."""
        return self.conversations - self.refused.total()


def conversations(path: Path) -> Iterator[Conversation]:
    """The conversations of a file of vectors in which the model has replied, each once."""
    seen: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            case = json.loads(line)
            params = {name: value for name, value in case["params"].items() if name != "add_generation_prompt"}
            key = json.dumps([case["messages"], case.get("tools"), params])
            if key not in seen and any(m["role"] == "assistant" for m in case["messages"]):
                seen.add(key)
                yield Conversation(case["messages"], case.get("tools"), params)


class Comparison:
    """Both sides of one model; `head` is the first line of its vectors."""

    def __init__(self, model: str, fact: Fact, head: Mapping[str, str | None], lock: Lock) -> None:
        now, sha256 = head["now"], head["tokenizer_sha256"]
        assert now is not None, "every file of vectors has a clock"
        assert sha256 is not None, "every file of vectors names a tokenizer"
        self._model: Model[RequestModel] = katapi.load(model)
        self._now = now
        self._peer = Peer(tokenizer_json(sha256, lock), head["bos"], head["eos"], datetime.fromisoformat(now))
        self._training = template(fact.training, fact.training_sha256)
        self._templates = [template(fact.original, fact.original_sha256), self._training]
        self._stops = {self._peer.id_of(token) for token in fact.stops}
        self.spelling = self._peer.spelling

    def sides(self, given: Conversation) -> dict[str, Side | str]:
        """What both make of a conversation, or why they refuse it."""
        out: dict[str, Side | str] = {}
        renderers: tuple[tuple[str, Callable[[Conversation], Masked]], ...] = ((KATAPI, self._katapi), (TRL, self._trl))
        for name, render in renderers:
            try:
                ids, mask = render(given)
            except KatapiError as error:
                out[name] = f"{error.code}: {_FURTHER.sub('', error.message)}"
            except Refused as error:
                out[name] = str(error)
            else:
                same = next((s for s in out.values() if isinstance(s, Side) and s.ids == ids), None)
                out[name] = Side(ids, mask, self._judged(ids, given) if same is None else same.judged)
        return out

    def _katapi(self, given: Conversation) -> Masked:
        clock: dict[str, Json] = {"now": self._now} if "now" in self._model.request_type.model_fields else {}
        tools: dict[str, Json] = {} if given.tools is None else {"tools": given.tools}
        request = {"messages": given.messages, **tools, **given.params, **clock, "add_generation_prompt": False}
        found = self._model.assemble(json.dumps(request, ensure_ascii=False).encode())
        return found.input_ids.tolist(), found.sampled.tolist()

    def _trl(self, given: Conversation) -> Masked:
        return self._peer.masked(self._training, given)

    def _judged(self, ids: Ids, given: Conversation) -> Judged:
        """What the model wrote of these ids, by the original template if it prints them, else by TRL's."""
        for chat_template in self._templates:
            printed = cache(partial(self._printed, chat_template, given))
            if printed(len(given.messages), False) == ids:
                replies = [i for i, message in enumerate(given.messages) if message["role"] == "assistant"]
                return written(ids, [_turn(printed, reply) for reply in replies], self._stops)
        return [None] * len(ids)

    def _printed(self, chat_template: str, given: Conversation, count: int, generate: bool) -> Ids | None:
        """The ids of the first messages, None where the template refuses them."""
        part = Conversation(given.messages[:count], given.tools, given.params)
        try:
            return self._peer.ids(chat_template, part, generate=generate)
        except Refused:
            return None


def _turn(printed: Callable[[int, bool], Ids | None], reply: int) -> Turn | None:
    before, prompt, after = printed(reply, False), printed(reply, True), printed(reply + 1, False)
    return None if before is None or prompt is None or after is None else Turn(before, prompt, after)


def examined(model: str, path: Path, lock: Lock) -> Result:
    """What is found for a model on a file of vectors. Raises NotFound and ArtifactError."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        head: dict[str, str | None] = json.loads(next(lines))
    fact = facts()[model]
    result = Result(model, fact, Comparison(model, fact, head, lock))
    for given in conversations(path):
        _compare(result, given)
    return result


def _compare(result: Result, given: Conversation) -> None:
    """Adds a conversation to a result."""
    result.conversations += 1
    sides = result.comparison.sides(given)
    ours, theirs = sides[KATAPI], sides[TRL]
    if isinstance(ours, str) or isinstance(theirs, str):
        result.refused[ours if isinstance(ours, str) else "", theirs if isinstance(theirs, str) else ""] += 1
        return
    spelling = result.comparison.spelling
    for name, side in ((KATAPI, ours), (TRL, theirs)):
        result.counts[name].add(side)
        _add(result.wrong, name, faults(side.mask, side.judged, side.ids, spelling), given, len(side.ids))
    if ours.ids != theirs.ids:
        _add(result.changes, TRL, changes(ours.ids, theirs.ids, spelling), given, len(ours.ids))
        return
    result.ids_equal += 1
    result.mask_equal += ours.mask == theirs.mask
    for name, one, other in ((KATAPI, ours, theirs), (TRL, theirs, ours)):
        _add(result.untold, name, untold(one.mask, other.mask, one.judged, one.ids, spelling), given, len(one.ids))


def _add(into: Sightings[T], name: str, kinds: Iterable[T], given: Conversation, length: int) -> None:
    for kind, times in Counter(kinds).items():
        sides = into.setdefault(kind, {})
        old = sides.get(name, Seen(0, given, length))
        shortest, least = (given, length) if length < old.length else (old.shortest, old.length)
        sides[name] = Seen(old.times + times, shortest, least)
