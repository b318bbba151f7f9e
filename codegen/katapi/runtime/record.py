"""What one execution did, stage by stage: what the chapter's reproduction pack asks for (section 1.11)."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pydantic
from numpy.typing import NDArray

from katapi.runtime.budget.decision import PolicyDecision
from katapi.runtime.budget.policy import Budget
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment, Segment
from katapi.runtime.stages import Stage
from katapi.runtime.strict_json import InvalidUtf8, Substitution

if TYPE_CHECKING:  # few requests have images
    from katapi.runtime.images.given import Medium

Stages: TypeAlias = Mapping[Stage, JsonObject]
"""What is known of an execution: the content of each stage as plain JSON, in the order of the stages."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A declaration: `id` is its name and version, `Qwen3@1`, `digest` the SHA-256 of its meaning, `sha256:…`."""

    id: str
    digest: str

    def to_json(self) -> dict[str, Json]:
        """The two as plain JSON, by their names."""
        return {"id": self.id, "digest": self.digest}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerParts:
    """What a tokenizer is made of, each part by the SHA-256 of its meaning, `sha256:…`."""

    configuration: str
    """Normalization, cutting, segmentation and decoding, as they are declared."""
    vocabulary: str
    """The declaration of the vocabulary with the digest of its artifact: tokens, merges or scores."""
    controls: str
    """The table of control tokens: ids and spellings."""
    artifact: str | None = None
    """The name of the artifact in `artifacts.lock`; None where the spec tells all tokens itself."""
    artifact_sha256: str | None = None
    """The SHA-256 of the artifact, 64 hexadecimal digits."""
    unicode: tuple[tuple[str, str], ...] = ()
    """The versions of Unicode that are declared: for what, `patterns` or `normalization`, and which."""

    def to_json(self) -> JsonObject:
        """The parts as plain JSON, by their names."""
        return {
            "configuration": self.configuration,
            "vocabulary": self.vocabulary,
            "controls": self.controls,
            "artifact": self.artifact,
            "artifact_sha256": self.artifact_sha256,
            "unicode": dict(self.unicode),
        }


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations of a model by their identities: `request_rules`, `template`, `tokenizer`, `tokenizer_parts`."""

    model: str
    """The name of the model."""
    request_rules: Identity
    template: Identity
    tokenizer: Identity
    tokenizer_parts: TokenizerParts


@dataclass(frozen=True, slots=True)
class Environment:
    """The versions of what ran: `katapi`, `python`, `pydantic` and `numpy`."""

    katapi: str
    """`0+source` where Katapi runs without having been installed."""
    python: str
    pydantic: str
    numpy: str

    def to_json(self) -> dict[str, Json]:
        """The versions as plain JSON, by their names."""
        return {"katapi": self.katapi, "python": self.python, "pydantic": self.pydantic, "numpy": self.numpy}


class Incoming(NamedTuple):
    """What came in, and how it was read."""

    raw: bytes | None
    """The bytes of the request; None for a typed request, and for a conversation that was extended."""
    params: JsonObject | None
    """The keys that were set in place of those of the bytes."""
    invalid_utf8: InvalidUtf8
    """What becomes of bytes that are not UTF-8."""
    max_depth: int
    """How deep a request may nest."""
    substitutions: tuple[Substitution, ...] = ()
    """What was replaced in order to read its bytes."""

    @property
    def sha256(self) -> str | None:
        """That of the bytes, 64 hexadecimal digits; None where there are none."""
        return None if self.raw is None else hashlib.sha256(self.raw).hexdigest()

    def to_json(self) -> JsonObject:
        """What came in as plain JSON: the bytes by their digest and their number, `size`."""
        return {
            "sha256": self.sha256,
            "size": None if self.raw is None else len(self.raw),
            "params": self.params,
            "invalid_utf8": self.invalid_utf8,
            "max_depth": self.max_depth,
            "substitutions": [{"stage": s.stage, "where": s.where, "what": s.what} for s in self.substitutions],
        }


class Run(NamedTuple):
    """A control token, or a run of text that was encoded as one string.

    `segments` and `ids` are the half-open ranges of both that it covers.
    """

    segments: tuple[int, int]
    ids: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fault:
    """The `error` that ended an execution, and the stage that it kept from being reached, `at`."""

    at: Stage
    error: KatapiError

    def to_json(self) -> JsonObject:
        """The error as plain JSON, with its attributes by their names; `at` is the stage."""
        error = self.error
        return {
            "at": self.at.value,
            "stage": error.stage,
            "code": error.code,
            "where": error.where,
            "message": error.message,
            "help": error.help,
        }


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """One execution: what came in, what was decided, what the model receives; or the error that it ended with."""

    model: str
    """The name of the model."""
    environment: Environment
    """The versions of what ran."""
    incoming: Incoming
    """What came in."""
    request_rules: Identity
    """The request rules that it was read by."""
    request: JsonObject
    """The request as plain JSON, without the keys that it did not set."""
    defaults: JsonObject
    """The values of the parameters that it did not set."""
    decision: PolicyDecision | None
    """What the budget policy found; None where none was named."""
    template: Identity
    """The template that was rendered."""
    segments: tuple[Segment, ...]
    """All that the template printed, in order."""
    sampled_segments: tuple[tuple[int, int], ...]
    """Half-open ranges of indices of segments: what the model itself generates."""
    tokenizer: Identity
    """The tokenizer that was used."""
    tokenizer_parts: TokenizerParts
    """What it is made of."""
    runs: tuple[Run, ...]
    """The runs of text and the control tokens between; none in an input of which tokens were cut off."""
    input_ids: tuple[int, ...]
    """n ids."""
    attention_mask: tuple[int, ...]
    """n times 1: nothing is padded."""
    position_ids: tuple[int, ...]
    """The numbers from 0 to n - 1."""
    extensions: tuple[Extension, ...] = ()
    """The completions in the ids, in order; none in an input that was assembled of its request alone."""
    images: tuple[JsonObject, ...] = ()
    """The images whose bytes were at hand, as plain JSON, in the order of their tokens."""
    media: tuple[Medium, ...] = ()
    """The bytes of images that came beside the request."""
    load: str | None = None
    """The way in which images came in, where one was chosen: that of the last of them."""
    policy: str | Budget | None = None
    """The budget, or the name of one that the model does not have."""
    fault: Fault | None = None
    """Why the execution ended early; None where it came to its end. What would stand behind it is empty."""

    @property
    def request_sha256(self) -> str | None:
        """That of the bytes that were the whole request, 64 hexadecimal digits.

        None for a typed request, and where parameters were set beside.
        """
        return None if self.incoming.params else self.incoming.sha256

    @property
    def substitutions(self) -> tuple[Substitution, ...]:
        """What was replaced in order to read the bytes of the request."""
        return self.incoming.substitutions

    @property
    def stages(self) -> Stages:
        """What is known of each stage, as plain JSON: of an execution that failed, the stages before the error."""
        known: dict[Stage, JsonObject] = {
            Stage.BYTES: self.incoming.to_json(),
            Stage.REQUEST: request_json(self.request_rules, self.request, self.defaults, self.extensions),
            Stage.BUDGET: budget_json(self.decision),
            Stage.IMAGES: {"images": list(self.images)},
            Stage.TEMPLATE: self.template.to_json(),
            Stage.RENDERED: {
                "segments": [segment_json(s) for s in self.segments],
                "sampled": [list(r) for r in self.sampled_segments],
            },
            Stage.TOKENIZER: {**self.tokenizer.to_json(), "parts": self.tokenizer_parts.to_json()},
            Stage.RUNS: {"runs": [[*run.segments, *run.ids] for run in self.runs]},
            Stage.IDS: {"input_ids": self.input_ids},
            Stage.TENSORS: {
                "attention_mask": self.attention_mask,
                "position_ids": self.position_ids,
                "length": len(self.input_ids),
            },
        }
        if self.fault is None:
            return known
        order = [*Stage]
        return {stage: known[stage] for stage in order[: order.index(self.fault.at)]}

    def digests(self) -> dict[Stage, str]:
        """The light form of the record: the digest of each stage that was reached, as `stage_digest` has it.

        Where the record itself is not asked for, `ModelInput.digests` gives the same for less.
        """
        return {stage: stage_digest(content) for stage, content in self.stages.items()}

    def to_json(self) -> JsonObject:
        """The record as plain JSON; beside the fields, `length` is n, and `policy` is what was decided."""
        fault = None if self.fault is None else self.fault.to_json()
        return flat_json(self.model, self.environment.to_json(), self.stages, fault)


def flat_json(model: str, environment: JsonObject, stages: Stages, fault: JsonObject | None) -> dict[str, Json]:
    """What is known of an execution as one JSON object; what its stages do not tell is null.

    `bytes` is what came in, `request` the canonical request and `request_rules` what it was read by, `policy` the
    decision of the budget; of the keys `segments` to `position_ids` each is as the field of `ExecutionRecord`.
    """

    def of(stage: Stage, key: str) -> Json:
        return stages[stage].get(key) if stage in stages else None

    incoming, request = stages.get(Stage.BYTES, {}), stages.get(Stage.REQUEST)
    rules = None if request is None else {"id": request["id"], "digest": request["digest"]}
    value: dict[str, Json] | None = None
    if request is not None:
        parameters = request["parameters"]
        assert isinstance(parameters, Mapping)
        value = {"messages": request["messages"], **parameters}
    return {
        "model": model,
        **environment,
        "request_sha256": None if incoming.get("params") else incoming.get("sha256"),
        "bytes": stages.get(Stage.BYTES),
        "request_rules": rules,
        "request": value,
        "defaults": of(Stage.REQUEST, "defaults"),
        "substitutions": of(Stage.BYTES, "substitutions"),
        "policy": of(Stage.BUDGET, "decision"),
        "images": of(Stage.IMAGES, "images"),
        "template": stages.get(Stage.TEMPLATE),
        "segments": of(Stage.RENDERED, "segments"),
        "sampled_segments": of(Stage.RENDERED, "sampled"),
        "tokenizer": stages.get(Stage.TOKENIZER),
        "runs": of(Stage.RUNS, "runs"),
        "input_ids": of(Stage.IDS, "input_ids"),
        "attention_mask": of(Stage.TENSORS, "attention_mask"),
        "position_ids": of(Stage.TENSORS, "position_ids"),
        "length": of(Stage.TENSORS, "length"),
        "extensions": of(Stage.REQUEST, "extensions"),
        "error": fault,
    }


def request_json(
    rules: Identity, request: JsonObject, defaults: JsonObject, extensions: tuple[Extension, ...]
) -> dict[str, Json]:
    """The stage `request` as plain JSON: `parameters` are all keys of the request but its messages."""
    return {
        **rules.to_json(),
        "messages": request.get("messages", []),
        "parameters": {key: value for key, value in request.items() if key != "messages"},
        "defaults": defaults,
        "extensions": [{"reply": e.reply, "start": e.start, "end": e.end} for e in extensions],
    }


def budget_json(decision: PolicyDecision | None) -> dict[str, Json]:
    """The stage `budget` as plain JSON; all of it is empty where no budget was named."""
    if decision is None:
        return {"budget": None, "required": None, "together": [], "decision": None}
    return {
        "budget": decision.budget.to_json(),
        "required": None if decision.required is None else list(decision.required),
        "together": [[*each] for each in decision.together],
        "decision": decision.to_json(),
    }


def stage_digest(content: JsonObject) -> str:
    """The digest of a stage: `sha256:` and that of its canonical JSON.

    Numbers in a row as long as the input (ids, mask, positions) are written as 64-bit integers, the least significant
    byte first, each array behind a name and its length.
    """
    plain = {key: value for key, value in content.items() if key not in ARRAYS}
    arrays = {key: np.array(content[key], dtype=np.int64) for key in ARRAYS if key in content}
    return digest_of(canonical_json(plain), arrays)


def digest_of(plain: bytes, arrays: Mapping[str, NDArray[np.int64]] = MappingProxyType({})) -> str:
    """The digest of a stage: of its canonical JSON, and of arrays in the order of `ARRAYS`, int64 of shape [n]."""
    made = hashlib.sha256(plain)
    for key, numbers in arrays.items():
        made.update(b"\n%s %d\n" % (key.encode(), len(numbers)))
        made.update(numbers.astype("<i8", copy=False).tobytes())
    return f"sha256:{made.hexdigest()}"


ARRAYS = ("input_ids", "attention_mask", "position_ids")
"""The keys of stages under which numbers in a row stand, one for each token."""


def canonical_json(value: Json) -> bytes:
    """The one spelling of a JSON value: no spaces, ASCII; keys in their order, which a template may print."""
    return _spelled(value).encode("ascii")


_spelled = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def segment_json(segment: Segment) -> dict[str, Json]:
    """A segment as plain JSON: its `kind` and `text`, and `id` and `site`, or `site`, or `path` and `start`."""
    match segment:
        case ControlSegment(token=token, site=site):
            return {"kind": "control", "id": token.id, "text": token.spelling, "site": list(site)}
        case LiteralSegment(text=text, site=site):
            return {"kind": "literal", "text": text, "site": list(site)}
        case ContentSegment(text=text, path=path, start=start):
            return {"kind": "content", "text": text, "path": list(path), "start": start}


@cache
def environment() -> Environment:
    """The versions of what runs."""
    return Environment(katapi_version(), python_version(), pydantic.VERSION, np.__version__)


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
