"""A `ModelInput` as a view: what the page shows of an execution that has just been made."""

from __future__ import annotations

from katapi.inspecting.from_pack import shown, versions
from katapi.inspecting.view import Execution, View
from katapi.packs.pack import Pack, plain_digests
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel


def view_of(model: Model[RequestModel], result: ModelInput) -> View:
    """What a page shows of an input that `model` assembled."""
    return View(versions(result.record.environment), execution_of(model, result))


def execution_of(model: Model[RequestModel], result: ModelInput, label: str = "") -> Execution:
    """The execution that gave an input; `label` is what it is called beside another."""
    record = result.record
    stages = record.stages
    known = Pack(
        model=record.model,
        environment=record.environment,
        stages=stages,
        digests=plain_digests(stages),
        raw=record.incoming.raw,
        policy=None,
        fault=None,
        token_segments=tuple((int(start), int(end)) for start, end in result.origins.ranges.tolist()),
        artifacts=(),
        redaction=None,
    )
    return shown(known, model, result.request, label=label, every_stage=False)
