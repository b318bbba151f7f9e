"""Replays a pack: the same request through all stages once more, each compared with what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from katapi.packs.again import execute_again
from katapi.packs.pack import Pack
from katapi.packs.redacted_stages import checked
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import KatapiError, ReplayError
from katapi.runtime.execution import Execution
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model
from katapi.runtime.record import Environment, Fault, Stages, canonical_json, environment, stage_digest
from katapi.runtime.request_model import RequestModel
from katapi.runtime.stages import Stage

FIXTURE = (
    '{"messages": [{"role": "system", "content": "简洁回答"}, {"role": "user", "content": "天空为什么是蓝色？"}], '
    '"add_generation_prompt": true}'
)
"""The request of the chapter's fixture (section 1.6), for the model `book`."""
FIXTURE_IDS = (1, 2, 7, 3, 4, 8, 9, 10, 11, 12, 5, 6)
"""Its ids, as the chapter gives them."""


class Verdict(Enum):
    """What became of a stage."""

    AGREES = "agrees"
    """It is as it was recorded."""
    DIFFERS = "differs"
    """It is not."""
    UNCHECKED = "cannot be checked"
    """What is left in the pack does not say."""


@dataclass(frozen=True, slots=True)
class StageReplay:
    """A stage of a replay."""

    stage: Stage
    verdict: Verdict
    recorded: str | None
    """The digest that was recorded; None where the stage was not reached, or placeholders stand in it."""
    replayed: str | None
    """The digest of now; None where the stage was not reached."""
    why: str = ""
    """What differs and what may have caused it, or why it cannot be checked."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A pack replayed: each stage that was reached then or now, in order."""

    stages: tuple[StageReplay, ...]
    changed: tuple[str, ...]
    """The versions of what runs that are others than when it was recorded."""
    execution: Execution | None
    """What was executed now; None where the pack does not have the request."""

    @property
    def agrees(self) -> bool:
        """Whether no stage differs."""
        return self.first is None

    @property
    def first(self) -> StageReplay | None:
        """The first stage that differs."""
        return next((each for each in self.stages if each.verdict is Verdict.DIFFERS), None)


def check_fixture(book: Model[RequestModel]) -> None:
    """Raises `ReplayError` Y110 where the model `book` does not give the ids of the chapter's fixture (section 1.6)."""
    found = book.assemble(FIXTURE.encode()).input_ids.tolist()
    if found != [*FIXTURE_IDS]:
        raise ReplayError(
            f"the chapter's fixture gives {found}, not {[*FIXTURE_IDS]}",
            code="Y110",
            where=book.name,
            help="this installation of Katapi is broken: install it anew, or run `katapi build`",
        )


def replay(pack: Pack, model: Model[RequestModel]) -> Replay:
    """What `model` makes of the request of a pack, stage by stage beside what was recorded.

    Raises `ReplayError` Y111 where `model` is not the one that the pack is of.
    """
    if pack.model != model.name:
        raise ReplayError(
            f"the pack is of the model {pack.model!r}, and this is {model.name!r}",
            code="Y111",
            where="model",
            help="replay it with its own model; `katapi diff` compares two executions",
        )
    changed = tuple(_changed(pack.environment, environment()))
    execution: Execution | None = None
    refusal = ""
    try:
        execution = execute_again(pack, model)
    except KatapiError as error:
        refusal = str(error).partition("\n")[0]
    if execution is None and not refusal:
        reason = "the pack does not have the request"
        rows = [StageReplay(s, Verdict.UNCHECKED, d, None, reason) for s, d in pack.digests.items()]
        return Replay(tuple(rows), changed, None)
    now: Stages = {} if execution is None else execution.record.stages
    fault = None if execution is None else execution.record.fault
    rows = []
    for stage in Stage:
        if stage in pack.stages or stage in now:
            rows.append(_compared(stage, pack, now, rows, changed, refusal or _said(fault)))
    return Replay(tuple(_with_faults(rows, pack, fault, refusal)), changed, execution)


def _compared(
    stage: Stage, pack: Pack, now: Stages, before: list[StageReplay], changed: tuple[str, ...], refusal: str
) -> StageReplay:
    """One stage, then and now."""
    old, new = pack.stages.get(stage), now.get(stage)
    recorded, replayed = pack.digests.get(stage), None if new is None else stage_digest(new)
    if old is None:
        assert pack.fault is not None
        return StageReplay(
            stage, Verdict.DIFFERS, None, replayed, f"it was not reached then: {pack.fault['code']}"
        )  # fmt: skip
    if pack.redaction is not None:
        seen = checked(stage, pack, new)
        if seen is not None:
            verdict = {True: Verdict.AGREES, False: Verdict.DIFFERS, None: Verdict.UNCHECKED}[seen.agrees]
            return StageReplay(stage, verdict, recorded, replayed, seen.why)
    if new is None:
        return StageReplay(stage, Verdict.DIFFERS, recorded, None, f"it is not reached now: {refusal}")
    if stage is Stage.BYTES and pack.raw is None:
        return StageReplay(stage, Verdict.UNCHECKED, recorded, replayed, "the request was not given as bytes")
    if canonical_json(old) == canonical_json(new):
        return StageReplay(stage, Verdict.AGREES, recorded, replayed)
    return StageReplay(stage, Verdict.DIFFERS, recorded, replayed, _why(stage, old, new, before, changed))


def _why(stage: Stage, old: JsonObject, new: JsonObject, before: list[StageReplay], changed: tuple[str, ...]) -> str:
    """What differs, and what may have caused it."""
    names = ", ".join(key for key in old if canonical_json(old[key]) != canonical_json(new.get(key)))
    said = f"other: {names or 'the order of keys'}"
    if old.get("digest") != new.get("digest"):
        return f"{said}; it was declared as {_named(old)} then, and is {_named(new)} now"
    earlier = [each.stage.value for each in before if each.verdict is Verdict.DIFFERS]
    if earlier:
        return f"{said}; what comes before it differs: {', '.join(earlier)}"
    if changed:
        return f"{said}; what ran was another version: {', '.join(changed)}"
    return f"{said}; nothing that was recorded explains it: Katapi itself may have been changed, or what it generated"


def _named(stage: JsonObject) -> str:
    return f"{stage.get('id')} ({str(stage.get('digest'))[:19]}…)"


def _changed(then: Environment, now: Environment) -> Iterator[str]:
    """The versions that differ."""
    old, new = then.to_json(), now.to_json()
    for name in old:
        if old[name] != new[name]:
            yield f"{name} {old[name]} then, {new[name]} now"


def _said(fault: Fault | None) -> str:
    return "" if fault is None else str(fault.error).partition("\n")[0]


def _with_faults(rows: list[StageReplay], pack: Pack, fault: Fault | None, refusal: str) -> Iterator[StageReplay]:
    """The rows, and one for the error where both executions end at the same stage, but with another error."""
    yield from rows
    if pack.fault is None:
        return
    at = Stage(str(pack.fault["at"]))
    if any(row.stage is at for row in rows):
        return  # it was reached now, and differs for that
    keys = ("at", "stage", "code") if pack.redaction else ("at", "stage", "code", "where", "message", "help")
    now: Mapping[str, object] = {} if fault is None else fault.to_json()
    same = all(pack.fault[key] == now.get(key) for key in keys)
    why = (
        f"{pack.fault['code']} as it was then"
        if same
        else f"{pack.fault['code']} then, and now: {refusal or _said(fault)}"
    )
    yield StageReplay(at, Verdict.AGREES if same else Verdict.DIFFERS, None, None, why)
