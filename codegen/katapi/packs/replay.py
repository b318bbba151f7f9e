"""Replays a pack: the same request through all stages once more, each compared with what was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from katapi.packs.again import execute_again
from katapi.packs.images import why_images
from katapi.packs.pack import Pack, with_images
from katapi.packs.redacted_stages import checked
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError, KatapiError, ReplayError
from katapi.runtime.execution import Execution
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model
from katapi.runtime.record import Environment, Stages, canonical_json, environment, stage_digest
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
    """A stage of a replay: the `stage`, and what became of it, the `verdict`."""

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
    """A pack replayed: `stages` are those that were reached then or now, in order."""

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


def check_source(pack: Pack) -> None:
    """Raises `ReplayError` Y112 where the pack is not of Katapi, so that there is no request to run once more."""
    if pack.source is not None:
        raise ReplayError(
            f"the pack is of another system, {pack.source}",
            code="Y112",
            help="`katapi diff` compares it with a pack of Katapi",
        )


def replay(pack: Pack, model: Model[RequestModel], images: Iterable[bytes] = ()) -> Replay:
    """What `model` makes of the request of a pack, stage by stage beside what was recorded.

    `images` are the files of images of which the pack has no more than the digest, by which they are told.

    Raises `ReplayError` Y111 where `model` is not the one that the pack is of and Y112 for a pack of another system,
    and `ArtifactError` A101 to A103 and A125 where its vocabulary is not at hand.
    """
    check_source(pack)
    if pack.model != model.name:
        raise ReplayError(
            f"the pack is of the model {pack.model!r}, and this is {model.name!r}",
            code="Y111",
            where="model",
            help="replay it with its own model; `katapi diff` compares two executions",
        )
    changed = tuple(_changed(pack.environment, environment()))
    execution, missing = None, "the pack does not have the request"
    try:
        execution = execute_again(with_images(pack, images), model)
    except ArtifactError:
        raise
    except KatapiError as error:
        missing = _first_line(error)
    now = _Now(model, execution, missing)
    rows: list[StageReplay] = []
    for stage in Stage:
        if stage in pack.stages:
            rows.append(_compared(stage, pack, now, rows, changed))
        elif stage in now.reached and pack.redaction is None:
            why = f"it was not reached then: {pack.fault['code'] if pack.fault is not None else ''}"
            rows.append(StageReplay(stage, Verdict.DIFFERS, None, stage_digest(now.reached[stage]), why))
    if pack.fault is not None and not any(row.stage.value == pack.fault["at"] for row in rows):
        rows.append(_fault_row(pack.fault, now, redacted=pack.redaction is not None))
    return Replay(tuple(rows), changed, execution)


class _Now:
    """What is known of now: of an execution, and of the model where that ended early."""

    def __init__(self, model: Model[RequestModel], execution: Execution | None, missing: str) -> None:
        self.executed = execution is not None
        self.reached: Stages = {} if execution is None else execution.record.stages
        self.fault = None if execution is None else execution.record.fault
        self.missing = missing if self.fault is None else _first_line(self.fault.error)
        template, tokenizer = model.template, model.tokenizer_identity
        parts = model.tokenizer_parts.to_json()
        self.known: Stages = {
            Stage.TEMPLATE: {"id": template.id, "digest": template.digest},
            Stage.TOKENIZER: {"id": tokenizer.id, "digest": tokenizer.digest, "parts": parts},
            **self.reached,
        }


def _compared(stage: Stage, pack: Pack, now: _Now, before: list[StageReplay], changed: tuple[str, ...]) -> StageReplay:
    """One stage that was reached then, and what it is now."""
    old, new, recorded = pack.stages[stage], now.known.get(stage), pack.digests[stage]
    replayed = None if new is None else stage_digest(new)
    if pack.redaction is not None:
        seen = checked(stage, pack, new)
        if seen is not None:
            verdict = {True: Verdict.AGREES, False: Verdict.DIFFERS, None: Verdict.UNCHECKED}[seen.agrees]
            return StageReplay(stage, verdict, recorded, replayed, seen.why)
    if stage is Stage.BYTES and pack.raw is None:
        return StageReplay(stage, Verdict.UNCHECKED, recorded, replayed, "the request was not given as bytes")
    if new is None:
        verdict = Verdict.DIFFERS if now.executed or pack.redaction is None else Verdict.UNCHECKED
        return StageReplay(stage, verdict, recorded, None, f"it is not reached now: {now.missing}")
    if canonical_json(old) == canonical_json(new):
        return StageReplay(stage, Verdict.AGREES, recorded, replayed)
    return StageReplay(stage, Verdict.DIFFERS, recorded, replayed, _why(old, new, before, changed))


def _why(old: JsonObject, new: JsonObject, before: list[StageReplay], changed: tuple[str, ...]) -> str:
    """What differs, and what may have caused it."""
    names = ", ".join(key for key in old if canonical_json(old[key]) != canonical_json(new.get(key)))
    said = f"other: {names or 'the order of keys'}"
    if "images" in old and (of_images := why_images(old["images"], new.get("images"))).said:
        said = of_images.said
        if of_images.explained:
            return said
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


def _fault_row(fault: JsonObject, now: _Now, *, redacted: bool) -> StageReplay:
    """The row of the stage that was not reached then, nor now: the error, then and now."""
    stage, then = Stage(str(fault["at"])), fault["code"]
    found: JsonObject = {} if now.fault is None else now.fault.to_json()
    if all(fault[key] == found.get(key) for key in (("at", "code") if redacted else fault)):
        return StageReplay(stage, Verdict.AGREES, None, None, f"{then}, as it was then")
    if redacted:
        return StageReplay(stage, Verdict.UNCHECKED, None, None, f"{then} then; the contents that gave it are redacted")
    return StageReplay(stage, Verdict.DIFFERS, None, None, f"{then} then, and now: {now.missing}")


def _first_line(error: KatapiError) -> str:
    return str(error).partition("\n")[0]
