"""The chapter's `fit_context`: a budget without a declaration (section 1.7)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from katapi.runtime.budget.apply import assemble_within
from katapi.runtime.budget.policy import Allotment, Budget, Misfit, Order, Section
from katapi.runtime.counts import count_of
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.messages import INSTRUCTING, messages_of, roles_of
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel

if TYPE_CHECKING:
    from katapi.runtime.images.given import Images

R = TypeVar("R", bound=RequestModel)

History: TypeAlias = Sequence[JsonObject | Sequence[JsonObject]]
"""Messages in the order of the conversation; those in a list of their own are kept or left out together."""


def fit_context(
    model: Model[R],
    required: RequestModel | bytes | JsonObject | Sequence[JsonObject],
    history: History,
    optional_docs: Sequence[Json],
    max_input_tokens: int,
    *,
    images: Images | None = None,
) -> ModelInput:
    """What is required, and so much of a history and of documents as fits into a number of tokens.

    `required` is a request, or its messages: instructions, the current message of the user, tools and parameters; all
    of it is kept. The history stands behind the instructions that its messages begin with. It is tried from the newest
    to the oldest, a call of a tool with all its results as one, then the documents from the highest score on, or as
    they are given; what does not fit is left out, and what is tried next may fit. The record's `decision` has each
    choice; its indices count in the whole request, the history and the documents included. `images` are those of the
    whole request, as `Model.assemble` has them.

    Raises `BudgetError` B100 where what is required is too long, what `Model.assemble` raises for the request, and
    TypeError or ValueError for an argument that is none of these.
    """
    budget = _budget(count_of(max_input_tokens, "max_input_tokens"))
    if not isinstance(model, Model):
        raise TypeError(f"model is what katapi.load gives, not a {type(model).__name__}")
    for name, given in (("history", history), ("optional_docs", optional_docs)):
        if isinstance(given, str | bytes) or not isinstance(given, Sequence):
            raise TypeError(f"{name} is a list, not a {type(given).__name__}")
    own = _request(model, required)
    roles = roles_of(messages_of(own))
    start = next((at for at, role in enumerate(roles) if role not in INSTRUCTING), len(roles))
    groups = _groups(history)
    request = _with(model, own, start, [one for group in groups for one in group], optional_docs)
    request = model._with_images(request, images)
    bounds = [*accumulate(map(len, groups), initial=start)]
    kept = [*range(start), *range(bounds[-1], len(messages_of(request)))]
    together = [range(begin, end) for begin, end in pairwise(bounds)]
    return assemble_within(model, request, budget, model.assemble, kept, together)


def _groups(history: object) -> list[list[JsonObject]]:
    """What is kept or left out together; where something is no message, the decoder says so."""
    if isinstance(history, str | bytes | Mapping | RequestModel) or not isinstance(history, Iterable):
        raise TypeError(f"a history is a list of messages, not a {type(history).__name__}")
    groups: list[list[JsonObject]] = []
    for one in history:
        if isinstance(one, Mapping):
            groups.append([dict(one)])
        elif isinstance(one, list | tuple):
            groups.append([*one])
        else:
            kind = type(one).__name__
            raise TypeError(f"a history has messages as JSON objects, or lists of such, not a {kind}")
    return groups


def _request(model: Model[R], required: RequestModel | bytes | JsonObject | Sequence[JsonObject]) -> R:
    if isinstance(required, bytes):
        return model.decode_request(required)
    if isinstance(required, model.request_type):
        return required
    if isinstance(required, Mapping):
        return model.decode_request(json.dumps(required).encode())
    if isinstance(required, RequestModel) or not isinstance(required, list | tuple):
        raise TypeError(f"required is a request of {model.name} or its messages, not a {type(required).__name__}")
    return model.decode_request(json.dumps({"messages": required}).encode())


def _with(model: Model[R], own: R, start: int, history: Sequence[JsonObject], documents: Sequence[Json]) -> R:
    """A request with a history in its messages, and with documents behind its own."""
    whole = own.model_dump(mode="json", exclude_unset=True)
    whole["messages"][start:start] = history
    if documents:
        whole["documents"] = [*(whole.get("documents") or ()), *documents]
    return model.decode_request(json.dumps(whole).encode())


def _budget(room: int) -> Budget:
    return Budget(
        "fit_context@1",
        window=room,
        reserve=0,
        optional=(
            Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP),
            Allotment(Section.DOCUMENTS, Order.BY_SCORE, Misfit.SKIP),
        ),
    )
