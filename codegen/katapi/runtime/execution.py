"""A request through all stages, with a record whether it comes to its end or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from katapi.runtime.budget.policy import Budget
from katapi.runtime.errors import (
    BudgetError,
    KatapiError,
    MediaError,
    RequestError,
    TemplateError,
    TokenizerError,
)
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.record import ExecutionRecord, Fault, Incoming, environment
from katapi.runtime.request_model import RequestModel, defaults_of
from katapi.runtime.stages import Stage
from katapi.runtime.strict_json import Substitution, decode_text

if TYPE_CHECKING:
    from katapi.runtime.images.given import Images, Medium

R = TypeVar("R", bound=RequestModel)


class Execution(NamedTuple):
    """What became of a request: its `record`, and the `input` that the model receives, or the `error`."""

    record: ExecutionRecord
    input: ModelInput | None
    error: KatapiError | None

    def __repr__(self) -> str:
        # The record and the input hold all contents, which should not come into a log by accident.
        became = f"{0 if self.input is None else len(self.input)} tokens"
        if self.error is not None:
            became = f"{self.error.code} at {self.error.where}".removesuffix(" at ")
        return f"Execution({self.record.model}, {became})"


def execute(
    model: Model[R],
    request: R | bytes,
    policy: str | Budget | None = None,
    *,
    params: JsonObject | None = None,
    images: Images | None = None,
) -> Execution:
    """Assembles a request as `model.assemble` does, and gives a record of it also where that raises a `KatapiError`.

    The record of an execution that failed has the stages before the error, and the error itself as `fault`. An
    `ArtifactError`, which is no fault of the input, is raised: A101 to A103 and A125 where the vocabulary is not at
    hand, and A144 for a tokenizer without a template.
    """
    if images is not None and images.found is None:
        images = replace(images, found={})  # what was got for an execution that fails is in its record
    try:
        whole = model.assemble(request, policy, params=params, images=images)
    except (RequestError, TemplateError, TokenizerError, BudgetError, MediaError) as error:
        return Execution(_failed(model, request, policy, params, images, error), None, error)
    return Execution(whole.record, whole, None)


def _failed(
    model: Model[R],
    request: R | bytes,
    policy: str | Budget | None,
    params: JsonObject | None,
    images: Images | None,
    error: KatapiError,
) -> ExecutionRecord:
    """The record up to an error; the stages before it are gone through once more."""
    at = _stage_of(error, policy)
    raw: bytes | None = None
    typed: R | None = None
    substitutions: tuple[Substitution, ...] = ()
    if not isinstance(request, bytes):
        typed = request
    else:
        raw = request
        if error.code not in ("R101", "R102"):
            substitutions = decode_text(raw, model.invalid_utf8)[1]
        if not isinstance(error, RequestError):
            typed = model.decode_request(raw, params)
    rendered = RenderedInput((), model.template)
    seen: tuple[JsonObject, ...] = ()
    if typed is not None and not isinstance(error, MediaError):
        typed = model._with_images(typed, images)
        seen = _recorded(typed) if at in (Stage.RENDERED, Stage.RUNS) else ()
        rendered = model.render(typed) if at is Stage.RUNS else rendered
        beside = _media(typed)
    else:
        beside = _given(images) if typed is None or images is not None else _media(typed)
    return ExecutionRecord(
        model=model.name,
        environment=environment(),
        incoming=Incoming(raw, params or None, model.invalid_utf8, model.max_depth, substitutions),
        request_rules=model.request_rules,
        request={} if typed is None else typed.model_dump(mode="json", exclude_unset=True),
        defaults={} if typed is None else defaults_of(typed),
        decision=None,
        template=model.template,
        segments=rendered.payload,
        sampled_segments=rendered.sampled,
        tokenizer=model.tokenizer_identity,
        tokenizer_parts=model.tokenizer_parts,
        runs=(),
        input_ids=(),
        attention_mask=(),
        position_ids=(),
        images=seen,
        media=beside,
        load=None if images is None else images.load,
        policy=model.budgets.get(policy, policy) if isinstance(policy, str) else policy,
        fault=Fault(at, error),
    )


def _recorded(request: RequestModel) -> tuple[JsonObject, ...]:
    from katapi.runtime.images.assembled import recorded_of  # few executions fail

    return recorded_of(request)


def _media(request: RequestModel) -> tuple[Medium, ...]:
    from katapi.runtime.images.assembled import media_of  # few executions fail

    return media_of(request)


def _given(images: Images | None) -> tuple[Medium, ...]:
    """The images that were attached to a request which failed, and those that were got for it before it did."""
    if images is None:
        return ()
    from katapi.runtime.images.given import Medium

    films = [(f"video {at}", film) for at, film in enumerate(images.films)]
    return (
        *(Medium("attached", str(at), bytes(data)) for at, data in enumerate(images.attached)),
        *(Medium("attached", name, film) for name, film in films if isinstance(film, bytes)),
        *(Medium(kind, name, data) for (kind, name), data in (images.found or {}).items()),
    )


def _stage_of(error: KatapiError, policy: str | Budget | None) -> Stage:
    """The first stage that an error kept from being reached; what came in is known always.

    A budget renders and encodes in order to decide, so that what goes wrong there keeps it from a decision.
    """
    if isinstance(error, RequestError):
        return Stage.REQUEST
    if policy is not None or isinstance(error, BudgetError):
        return Stage.BUDGET
    if isinstance(error, MediaError):
        return Stage.IMAGES
    return Stage.RENDERED if isinstance(error, TemplateError) else Stage.RUNS
