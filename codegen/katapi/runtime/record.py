"""What one execution did, stage by stage: what the chapter's reproduction pack asks for (section 1.11)."""

from __future__ import annotations

import platform

from katapi.runtime.budget.decision import Cut, PolicyDecision
from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment, Segment
from katapi.runtime.strict_json import Substitution


@dataclass(frozen=True, slots=True)
class Identity:
    """A declaration: `id` is its name and version, `Qwen3@1`, `digest` the SHA-256 of its meaning, `sha256:…`."""

    id: str
    digest: str


@dataclass(frozen=True, slots=True)
class Extension:
    """A completion in the ids of an input: what `Model.extend` was given of it.

    With the request and the ids of its record, it says all that is needed to do the same again: the prompt is the
    request up to the message `reply` and the ids up to `start`, and the new messages are those between this reply and
    the next.
    """

    reply: int
    """The index of the message that the completion is in the request."""
    start: int
    """The index of its first id in the ids of the input."""
    end: int
    """The index behind its last id."""


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """One execution: what came in, what was decided, what the model receives."""

    model: str
    """The name of the model."""
    katapi: str
    """The version of Katapi."""
    python: str
    """The version of Python."""
    request_sha256: str | None
    """That of the bytes that were the whole request; None for a typed request, and where parameters were set beside.

    64 hexadecimal digits.
    """
    request: JsonObject
    """The request as plain JSON, without the keys that it did not set."""
    substitutions: tuple[Substitution, ...]
    """What was replaced in order to read its bytes."""
    template: Identity
    """The template that was rendered."""
    tokenizer: Identity
    """The tokenizer that was used."""
    segments: tuple[Segment, ...]
    """All that the template printed, in order."""
    sampled_segments: tuple[tuple[int, int], ...]
    """Half-open ranges of indices of segments: what the model itself generates."""
    decision: PolicyDecision | None
    """What the budget policy found; None where none was named."""
    input_ids: tuple[int, ...]
    """n ids."""
    attention_mask: tuple[int, ...]
    """n times 1: nothing is padded."""
    position_ids: tuple[int, ...]
    """The numbers from 0 to n - 1."""
    extensions: tuple[Extension, ...] = ()
    """The completions in the ids, in order; none in an input that was assembled of its request alone."""

    def to_json(self) -> JsonObject:
        """The record as plain JSON; beside the fields, `length` is n, and `policy` is what was decided."""
        decision = self.decision
        return {
            "model": self.model,
            "katapi": self.katapi,
            "python": self.python,
            "request_sha256": self.request_sha256,
            "request": self.request,
            "substitutions": [{"stage": s.stage, "where": s.where, "what": s.what} for s in self.substitutions],
            "template": {"id": self.template.id, "digest": self.template.digest},
            "tokenizer": {"id": self.tokenizer.id, "digest": self.tokenizer.digest},
            "segments": [segment_json(s) for s in self.segments],
            "sampled_segments": [list(r) for r in self.sampled_segments],
            "policy": None
            if decision is None
            else {
                "id": decision.policy,
                "window": decision.window,
                "reserve": decision.reserve,
                "input": decision.input,
                **({} if decision.cut is None else {"cut": cut_json(decision.cut)}),
            },
            "input_ids": list(self.input_ids),
            "attention_mask": list(self.attention_mask),
            "position_ids": list(self.position_ids),
            "length": len(self.input_ids),
            "extensions": [{"reply": e.reply, "start": e.start, "end": e.end} for e in self.extensions],
        }


def cut_json(cut: Cut) -> dict[str, Json]:
    """What was cut off as plain JSON."""
    breaks: list[Json] = [structure.value for structure in cut.breaks]
    return {"tokens": cut.tokens, "breaks": breaks, "message": cut.message, "begins": cut.begins}


def segment_json(segment: Segment) -> dict[str, Json]:
    """A segment as plain JSON: its `kind` and `text`, and `id` and `site`, or `site`, or `path` and `start`."""
    match segment:
        case ControlSegment(token=token, site=site):
            return {"kind": "control", "id": token.id, "text": token.spelling, "site": list(site)}
        case LiteralSegment(text=text, site=site):
            return {"kind": "literal", "text": text, "site": list(site)}
        case ContentSegment(text=text, path=path, start=start):
            return {"kind": "content", "text": text, "path": list(path), "start": start}


def katapi_version() -> str:
    """The version of Katapi that runs; `0+source` where it runs without having been installed."""
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms, and only a record asks

    try:
        return version("katapi")
    except PackageNotFoundError:
        return "0+source"


def python_version() -> str:
    """The Python that runs."""
    return platform.python_version()
