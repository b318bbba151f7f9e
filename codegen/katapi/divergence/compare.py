"""Two executions, stage by stage: where they part first, what it led to, and which row of table 1.10 it is."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from katapi.divergence.difference import Difference, Kind, of_both
from katapi.divergence.failures import failure_of
from katapi.divergence.known import Comparable, Known, known
from katapi.divergence.printed import is_foreign
from katapi.divergence.spelled import Spelled, spelled
from katapi.divergence.stages import stage_difference
from katapi.divergence.words import in_words
from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.stages import Failure, Stage


class Same(Enum):
    """What is known of a stage of two executions."""

    SAME = "same"
    """It is the same in both."""
    DIFFERENT = "different"
    """It is another in each, or one of them ended before it."""
    UNKNOWN = "unknown"
    """It was not recorded of both, or is redacted."""
    NOT_REACHED = "not reached"
    """Both ended before it."""


@dataclass(frozen=True, slots=True)
class StageDiff:
    """A stage of two executions: `stage`, and whether it is the `same`."""

    stage: Stage
    same: Same
    difference: Difference | None = None
    """The smallest difference; None unless the stage is different."""

    def to_json(self) -> dict[str, Json]:
        """The stage as plain JSON, with the fields by their names."""
        found = None if self.difference is None else self.difference.to_json()
        return {"stage": self.stage.value, "same": self.same.value, "difference": found}


@dataclass(frozen=True, slots=True)
class Diff:
    """Two executions, stage by stage."""

    stages: tuple[StageDiff, ...]
    """Each stage, in order."""
    models: tuple[str, str]
    """The names of the models; empty where that is not known."""
    versions: tuple[tuple[str, str, str], ...]
    """What of the versions that ran is another: its name, the first, the second."""
    failure: Failure | None
    """The row of table 1.10 that the first difference is."""
    spelled: tuple[Spelled, ...] = ()
    """Contents that spell a control token, where the ids differ and one of them has more of that token."""

    @property
    def first(self) -> StageDiff | None:
        """The first stage that is known to be different."""
        return next((each for each in self.stages if each.same is Same.DIFFERENT), None)

    @property
    def same(self) -> bool:
        """Whether no stage is known to be different."""
        return self.first is None

    @property
    def between(self) -> tuple[Stage | None, Stage] | None:
        """The last stage before the first difference that is known to be the same, and the stage of that difference.

        What made the executions part is behind the one, and at the latest in the other: where stages between are
        unknown, it may be any of them. None where nothing is different.
        """
        agreed: Stage | None = None
        for each in self.stages:
            if each.same is Same.DIFFERENT:
                return agreed, each.stage
            if each.same is Same.SAME:
                agreed = each.stage
        return None

    @property
    def unknown(self) -> tuple[Stage, ...]:
        """The stages before the first difference, and behind all that is known to be the same, that are unknown."""
        found = self.between
        if found is None:
            return ()
        order = [*Stage]
        start = 0 if found[0] is None else order.index(found[0]) + 1
        return tuple(order[start : order.index(found[1])])

    @property
    def possible(self) -> tuple[Failure, ...]:
        """The rows of table 1.10 that it can be: `failure`, or those of the unknown stages and of the first.

        None where the first difference is padding: all that comes before it is as good as the same.
        """
        first = self.first
        if first is None or (first.difference is not None and first.difference.kind is Kind.PADDING):
            return ()
        if self.failure is not None or not self.unknown or (first.stage is Stage.IDS and self.spelled):
            return () if self.failure is None else (self.failure,)
        stages = (*self.unknown, first.stage)
        return tuple(failure for failure in Failure if any(failure in stage.failures for stage in stages))

    @property
    def consequences(self) -> tuple[StageDiff, ...]:
        """The stages behind the first difference."""
        first = self.first
        return () if first is None else self.stages[self.stages.index(first) + 1 :]

    def __str__(self) -> str:
        return "\n".join(in_words(self))

    def to_json(self) -> dict[str, Json]:
        """The comparison as plain JSON: `first` is the name of a stage, `stages` has all of them."""
        first, between = self.first, self.between
        return {
            "same": self.same,
            "models": [*self.models],
            "versions": [[*each] for each in self.versions],
            "first": None if first is None else first.stage.value,
            "after": None if between is None or between[0] is None else between[0].value,
            "unknown": [stage.value for stage in self.unknown],
            "failure": None if self.failure is None else self.failure.name,
            "spelled": [each.to_json() for each in self.spelled],
            "possible": [failure.name for failure in self.possible],
            "stages": [each.to_json() for each in self.stages],
        }


def diff(first: Comparable, second: Comparable) -> Diff:
    """Where two executions part: records, inputs, executions or packs, also of other systems.

    A stage is the same where its digest is; what another system does not tell of a stage is not compared.
    """
    one, other = known(first), known(second)
    stages = tuple(_stages(one, other))
    parted = next((each for each in stages if each.same is Same.DIFFERENT), None)
    found = spelled(one, other) if parted is not None else ()
    failure = None
    if parted is not None and parted.difference is not None and not (parted.stage is Stage.IDS and found):
        failure = failure_of(parted.stage, parted.difference, one, other)
    old, new = one.environment.to_json(), other.environment.to_json()
    versions = tuple((name, str(old[name]), str(new[name])) for name in old if old[name] != new[name])
    return Diff(stages, (one.model, other.model), versions, failure, found)


def _stages(one: Known, other: Known) -> Iterator[StageDiff]:
    ended = False
    for stage in Stage:
        reached = one.reached(stage), other.reached(stage)
        if reached == (False, False):
            error = None if ended else _errors(one, other)
            ended = True
            yield StageDiff(stage, Same.NOT_REACHED if error is None else Same.DIFFERENT, error)
        elif False in reached:
            shown = [_why_not(side, stage) for side in (one, other)]
            yield StageDiff(stage, Same.DIFFERENT, Difference(Kind.ERROR, "", shown[0], shown[1]))
        elif stage not in one.stages or stage not in other.stages:
            yield StageDiff(stage, Same.UNKNOWN)
        else:
            yield _stage(stage, one, other)


def _stage(stage: Stage, one: Known, other: Known) -> StageDiff:
    """A stage that is known of both."""
    alike = one.redaction == other.redaction
    if _is_partial(stage, one) or _is_partial(stage, other):
        found = stage_difference(stage, one, other) if alike else None
        return StageDiff(stage, Same.DIFFERENT if found else Same.SAME if alike else Same.UNKNOWN, found)
    digests = one.digests[stage], other.digests[stage]
    if None not in digests and digests[0] == digests[1]:
        return StageDiff(stage, Same.SAME)
    found = stage_difference(stage, one, other) if alike else None
    if found is None and None in digests:
        return StageDiff(stage, Same.UNKNOWN)
    return StageDiff(stage, Same.DIFFERENT, found or of_both(Kind.HIDDEN, "", map(_short, digests)))


def _is_partial(stage: Stage, side: Known) -> bool:
    """Whether something of a stage is not told."""
    content = side.stages[stage]
    if stage is Stage.TENSORS:
        return "position_ids" not in content or "attention_mask" not in content
    return stage is Stage.RENDERED and is_foreign(content)


def _errors(one: Known, other: Known) -> Difference | None:
    """Another error where both ended at one stage."""
    keys = ("at", "stage", "code", "where") if one.redaction == other.redaction is None else ("at", "stage", "code")
    faults = [{} if side.fault is None else {key: side.fault[key] for key in keys} for side in (one, other)]
    if faults[0] == faults[1] or faults[0]["at"] != faults[1]["at"]:
        return None
    return Difference(Kind.ERROR, "", _error(one), _error(other))


def _error(side: Known) -> str:
    fault: JsonObject = side.fault or {}
    place = f" at {fault['where']}" if fault.get("where") else ""
    return f"{fault.get('code')}{place}: {fault.get('message')}".removesuffix(": ")


def _why_not(side: Known, stage: Stage) -> str:
    """The error that kept a stage from being reached; empty for one that was."""
    if side.fault is None or side.reached(stage):
        return ""
    return _error(side) if side.fault["at"] == stage.value else f"not reached: {side.fault['code']}"


def _short(digest: str | None) -> str:
    return "" if digest is None else f"{digest[:19]}…"
