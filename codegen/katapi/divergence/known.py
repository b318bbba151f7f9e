"""What is known of an execution, in the one form that is compared: of a record, an input, an execution or a pack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from katapi.packs.pack import Pack, plain_digests
from katapi.packs.redaction import request_value
from katapi.runtime.dataclass import dataclass
from katapi.runtime.execution import Execution
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model_input import ModelInput
from katapi.runtime.record import Environment, ExecutionRecord, Stages, stage_digest
from katapi.runtime.stages import Stage

Comparable: TypeAlias = ExecutionRecord | ModelInput | Execution | Pack
"""What can be compared."""


@dataclass(frozen=True, slots=True)
class Known:
    """One execution: each stage that was recorded, and its digest."""

    model: str
    """The name of the model; empty where that is not known."""
    environment: Environment
    """The versions of what ran, or of what made the pack of a foreign execution."""
    stages: Stages
    """The content of each stage that is known."""
    digests: Mapping[Stage, str | None]
    """Its digest; None where it was redacted and the digest does not tell what is compared."""
    raw: bytes | None
    """The bytes of the request as they came in."""
    fault: JsonObject | None
    """Why it ended early."""
    redaction: str | None
    """What stands in the place of contents."""

    def reached(self, stage: Stage) -> bool:
        """Whether the execution came to this stage, for all that is known."""
        order = [*Stage]
        return self.fault is None or order.index(stage) < order.index(Stage(str(self.fault["at"])))


def known(execution: Comparable) -> Known:
    """What is known of an execution.

    At the stage `request` the request stands as it came in, also where a budget left something out: that, and the
    request that is left, are what the stage `budget` decided. A request that was not given as bytes has no stage
    `bytes`.
    """
    if isinstance(execution, Pack):
        return _known(
            execution.model,
            execution.environment,
            execution.stages,
            execution.digests,
            execution.raw if execution.redaction is None else None,
            execution.fault,
            execution.redaction,
        )
    record = execution if isinstance(execution, ExecutionRecord) else execution.record
    fault = None if record.fault is None else record.fault.to_json()
    stages = record.stages
    return _known(record.model, record.environment, stages, plain_digests(stages), record.incoming.raw, fault, None)


def _known(
    model: str,
    environment: Environment,
    stages: Stages,
    digests: Mapping[Stage, str | None],
    raw: bytes | None,
    fault: JsonObject | None,
    redaction: str | None,
) -> Known:
    stages, digests = dict(stages), dict(digests)
    if Stage.BYTES in stages and stages[Stage.BYTES]["size"] is None:
        del stages[Stage.BYTES]
    budget = stages.get(Stage.BUDGET)
    decision = None if budget is None else budget["decision"]
    offered = decision.get("offered") if isinstance(decision, Mapping) else None
    if budget is not None and isinstance(offered, Mapping) and Stage.REQUEST in stages:
        kept = stages[Stage.REQUEST]
        parameters = {key: value for key, value in offered.items() if key != "messages"}
        stages[Stage.REQUEST] = {**kept, "messages": offered.get("messages"), "parameters": parameters}
        stages[Stage.BUDGET] = {**budget, "left": request_value(kept)}
        for stage in (Stage.REQUEST, Stage.BUDGET):
            digests[stage] = stage_digest(stages[stage]) if redaction is None else None
    return Known(model, environment, stages, digests, raw, fault, redaction)
