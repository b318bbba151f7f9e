"""The replies of conversations: the prompt of each, what was sampled behind it, and what it says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ContentSegment, ControlSegment, Segment
from tools.replies.said import REASONING, Said, message_of, said


class Piece(NamedTuple):
    """A control token, or a stretch of text of one origin."""

    text: str
    control: int | None
    path: tuple[str | int, ...] = ()
    """The place in the message that a text comes from; empty for what the template writes."""

    @property
    def call(self) -> int | None:
        """The index of the call that a text is of."""
        index = self.path[1] if len(self.path) > 1 and self.path[0] == "tool_calls" else None
        return index if isinstance(index, int) else None


@dataclass(frozen=True, eq=False)
class Reply:
    """A reply of a conversation."""

    request: JsonObject
    """The conversation with the reply as its last message."""
    message: JsonObject
    prompt: ModelInput
    follows: bool
    """Whether the template prints the reply behind the prompt; else it is read as the reply to a default prompt."""
    pieces: tuple[Piece, ...]
    ids: tuple[int, ...]
    """What was sampled."""
    says: Said
    """What the message says, as far as the template prints it."""
    new: tuple[JsonObject, ...] = ()
    """What stands between the reply and the next one."""
    whole: ModelInput | None = None
    """The conversation up to the next reply, with its prompt."""
    tail: tuple[int, ...] = ()
    """What of the whole stands behind what was sampled."""

    @property
    def tools(self) -> list[Json] | None:
        """The tools of the request."""
        tools = self.request.get("tools")
        return list(tools) if isinstance(tools, list | tuple) else None


class Conversations:
    """The conversations of one model."""

    def __init__(self, model: Model[RequestModel], path: Path) -> None:
        self.model = model
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            self.head: dict[str, str | None] = json.loads(next(lines))
            self._cases = [json.loads(line) for line in lines]

    @cached_property
    def controls(self) -> dict[int, str]:
        """All control tokens of the vocabulary, by id."""
        for case in self._cases:
            request = {"messages": case["messages"], **case["params"], **self._clock}
            try:
                printed = self.model.render(json.dumps(request).encode())
            except KatapiError:
                continue
            for segment in printed.payload:
                if isinstance(segment, ControlSegment):
                    return {token.id: token.spelling for token in type(segment.token)}
        return {}

    @property
    def _clock(self) -> dict[str, Json]:
        return {"now": self.head["now"]} if "now" in self.model.request_type.model_fields else {}

    def replies(self, most: int) -> list[Reply]:
        """The replies that the template takes, each once; at most so many, taken evenly."""
        seen: dict[str, tuple[JsonObject, list[JsonObject]]] = {}
        for case in self._cases:
            params = {name: value for name, value in case["params"].items() if name != "add_generation_prompt"}
            tools = {"tools": case["tools"]} if case.get("tools") else {}
            messages = case["messages"]
            places = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
            for at, following in zip(places, [*places[1:], len(messages)], strict=False):
                request = {"messages": messages[: at + 1], **tools, **params, **self._clock}
                new = messages[at + 1 : following]
                seen.setdefault(json.dumps([request, new]), (request, new))
        chosen = list(seen.values())[:: -(-len(seen) // most)]
        return [found for request, new in chosen if (found := self.reply(request, new)) is not None]

    def reply(self, request: JsonObject, new: Sequence[JsonObject] = ()) -> Reply | None:
        """The last message of a request as a reply; None where the template refuses it, or prints nothing for it."""
        messages = request["messages"]
        assert isinstance(messages, list)
        try:
            prompt = self._assembled(request, messages[:-1], prompted=True)
            ending = self._assembled(request, messages, prompted=False)
        except KatapiError:
            return None
        at = len(messages) - 1
        (flags,) = np.nonzero(ending.loss_mask([at]))
        if not len(flags):
            return None
        pieces, follows = _pieces(prompt, ending, at)
        ids: Sequence[int] = self.ids(pieces)
        all_ids, before = ending.input_ids.tolist(), prompt.input_ids.tolist()
        if follows and all_ids[: len(before)] == before:
            ids = all_ids[len(before) : int(flags[-1]) + 1]
        whole, tail = self._going_on(request, messages, new, ids)
        message = messages[-1]
        says = self._as_printed(request, message, ending)
        return Reply(
            request, message, prompt, follows, tuple(pieces), tuple(ids), says, tuple(new), whole, tail
        )  # fmt: skip

    def ids(self, pieces: Sequence[Piece]) -> list[int]:
        """The ids of pieces, each run of text encoded as one."""
        out: list[int] = []
        run = ""
        for piece in [*pieces, Piece("", -1)]:
            if piece.control is None:
                run += piece.text
                continue
            out += self.model.tokenizer.encode(run, first=False) if run else []
            run = ""
            out.append(piece.control)
        return out[:-1]

    def printed(self, request: JsonObject, message: JsonObject) -> str | None:
        """What the template prints for a conversation with another last message; None where it refuses."""
        messages = request["messages"]
        assert isinstance(messages, list)
        try:
            return self._assembled(request, [*messages[:-1], message], prompted=False).text
        except KatapiError:
            return None

    def _going_on(
        self, request: JsonObject, messages: list[Json], new: Sequence[JsonObject], reply: Sequence[int]
    ) -> tuple[ModelInput | None, tuple[int, ...]]:
        """The conversation with the new messages, and what stands in it behind the `reply`.

        A header of the next message that would have ended the reply is no part of it.
        """
        if not new:
            return None, ()
        try:
            whole = self._assembled(request, [*messages, *new], prompted=True)
        except KatapiError:
            return None, ()
        (flags,) = np.nonzero(whole.loss_mask([len(messages) - 1]))
        if not len(flags):
            return None, ()
        ids = whole.input_ids.tolist()
        last = int(flags[-1])
        printed = int(whole.origins.ranges[last][0])
        if (printed, printed + 1) in whole.rendered.sampled and ids[last] not in reply:
            last -= 1
        return whole, tuple(ids[last + 1 :])

    def _as_printed(self, request: JsonObject, message: JsonObject, ending: ModelInput) -> Said:
        """What a message says: without the reasoning where the template prints none of it, or with that of its content.

        Some templates take a content apart that holds the reasoning between tags.
        """
        says = said(message)
        thought, tag, content = says.content.rpartition("</think>")
        if tag and not says.reasoning:
            apart = says._replace(content=content.strip("\n"), reasoning=thought.rpartition("<think>")[2].strip("\n"))
            if self.printed(request, message_of(apart, message)) == self.printed(request, message_of(says, message)):
                return apart
        if says.reasoning:
            without = {name: value for name, value in message.items() if name not in REASONING}
            if self.printed(request, without) == ending.text:
                says = says._replace(reasoning="")
        return says

    def _assembled(self, request: JsonObject, messages: Sequence[Json], *, prompted: bool) -> ModelInput:
        whole = {**request, "messages": messages, "add_generation_prompt": prompted}
        return self.model.assemble(json.dumps(whole, ensure_ascii=False).encode())


def _pieces(prompt: ModelInput, ending: ModelInput, at: int) -> tuple[list[Piece], bool]:
    """What stands behind a prompt, up to the end of what is sampled; else what is sampled, and False."""
    segments = ending.rendered.payload
    ranges = ending.rendered.sampled
    last = ranges[-1][1]
    before = _symbols(prompt.rendered.payload)
    taken = 0
    out: list[Piece] = []
    for segment in segments[:last]:
        if isinstance(segment, ControlSegment):
            if taken < len(before):
                if before[taken] != segment.token.id:
                    return _sampled(ending, at), False
                taken += 1
            else:
                out.append(Piece(segment.text, segment.token.id))
            continue
        count = min(len(segment.text), len(before) - taken)
        if [*segment.text[:count]] != before[taken : taken + count]:
            return _sampled(ending, at), False
        taken += count
        if segment.text[count:]:
            out.append(Piece(segment.text[count:], None, _path(segment, at)))
    return (out, True) if taken == len(before) and out else (_sampled(ending, at), False)


def _sampled(ending: ModelInput, at: int) -> list[Piece]:
    """What is sampled of the last message."""
    segments = ending.rendered.payload
    out: list[Piece] = []
    owned = ending.loss_mask([at])
    ranges = ending.origins.ranges[owned]
    start, end = int(ranges[0][0]), int(ranges[-1][1])
    for segment in segments[start:end]:
        if isinstance(segment, ControlSegment):
            out.append(Piece(segment.text, segment.token.id))
        elif segment.text:
            out.append(Piece(segment.text, None, _path(segment, at)))
    return out


def _path(segment: Segment, at: int) -> tuple[str | int, ...]:
    if isinstance(segment, ContentSegment) and segment.path[:2] == ("messages", at):
        return segment.path[2:]
    return ()


def _symbols(segments: Sequence[Segment]) -> list[str | int]:
    out: list[str | int] = []
    for segment in segments:
        out += [segment.token.id] if isinstance(segment, ControlSegment) else segment.text
    return out
