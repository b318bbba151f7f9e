"""An execution once more: what a pack holds of a request → the same stages, here and now."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from katapi.packs import format_1
from katapi.packs.pack import Pack
from katapi.packs.redaction import request_value
from katapi.runtime.budget.apply import assemble_within
from katapi.runtime.budget.policy import (
    Allotment,
    Budget,
    CutLeft,
    Grouping,
    Misfit,
    Order,
    Percent,
    Reject,
    Section,
    Share,
    Structure,
    Tokens,
)
from katapi.runtime.errors import MediaError
from katapi.runtime.execution import Execution, execute
from katapi.runtime.images.given import Images, Kept, NotKept
from katapi.runtime.images.part import CarriesImage
from katapi.runtime.images.placing import parts_of
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.places import json_path
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import Path
from katapi.runtime.stages import Stage

_GENERATE: Final = "add_generation_prompt"


def execute_again(pack: Pack, model: Model[RequestModel]) -> Execution | None:
    """What the model makes of the request of a pack; None where the pack does not have the request.

    A typed request, and one that was redacted, goes in as the canonical request says. Completions go in again as
    `record.extensions` tells. A redacted request goes in without its budget, since placeholders have other lengths.
    Raises the `KatapiError` of a request that the model does not take any more, R100 to R119, where it was not given as
    bytes, and X100 to X108 where a conversation cannot go on any more.
    """
    budget = None if pack.redaction else _budget(pack, model)
    request = pack.stages.get(Stage.REQUEST)
    if pack.redaction is None and pack.raw is not None and not _fitted(pack):
        params = pack.stages[Stage.BYTES]["params"]
        assert params is None or isinstance(params, Mapping)
        return execute(model, pack.raw, budget, params=params, images=_images(pack))
    if request is None:
        return None
    value = request_value(request)
    completions = format_1.RequestStage.model_validate(request).extensions
    if completions:
        if pack.redaction is not None:
            return None
        whole = _extended(pack, model, value, completions, budget)
        return Execution(whole.record, whole, None)
    typed = _typed(model, value)
    decided = pack.stages.get(Stage.BUDGET)
    if decided is None or budget is None:
        return execute(model, typed, budget, images=_images(pack))
    stage = format_1.BudgetStage.model_validate(decided)
    if stage.decision is not None and stage.decision.offered is not None:
        typed = _typed(model, stage.decision.offered)
    if stage.required is None or not isinstance(budget, Budget):
        return execute(model, typed, budget, images=_images(pack))
    typed = model._with_images(typed, _images(pack))
    together = [range(start, end) for start, end in stage.together]
    whole = assemble_within(model, typed, budget, model.assemble, stage.required, together)
    return Execution(whole.record, whole, None)


def _fitted(pack: Pack) -> bool:
    """Whether a caller of `fit_context` said what is required."""
    return Stage.BUDGET in pack.stages and pack.stages[Stage.BUDGET]["required"] is not None


def _typed(model: Model[RequestModel], value: JsonObject) -> RequestModel:
    return model.decode_request(json.dumps(value).encode())


def _extended(
    pack: Pack,
    model: Model[RequestModel],
    value: JsonObject,
    completions: list[format_1.Completion],
    budget: Budget | str | None,
) -> ModelInput:
    """The prompt, and each completion with the messages behind it."""
    messages, ids = value["messages"], pack.stages[Stage.IDS]["input_ids"]
    assert isinstance(messages, list | tuple)
    assert isinstance(ids, list | tuple)
    first = {**value, "messages": messages[: completions[0].reply], _GENERATE: True}
    images = _images(pack)
    attached = iter(() if images is None else images.attached)
    films = iter(() if images is None else images.films)
    ways = {_message(_path(image)): way for image in _recorded(pack) if (way := _way(image)) is not None}

    def own(start: int, end: int) -> Images | None:
        """What is given for the images and videos of some of the messages."""
        if images is None:
            return None
        without = [part for path, part in parts if not part.says_where and start <= _message(path) < end]
        pictures = sum(isinstance(part, CarriesImage) for part in without)
        moving = [*islice(films, len(without) - pictures)]
        way = next((way for message, way in ways.items() if start <= message < end), None)
        return replace(images, attached=[*islice(attached, pictures)], films=moving, load=way)

    parts = parts_of(_typed(model, value))
    whole = model.assemble(_typed(model, first), images=own(0, completions[0].reply))
    last = len(completions) - 1
    ends = [*(each.reply for each in completions[1:]), len(messages)]
    for number, (completion, end) in enumerate(zip(completions, ends, strict=True)):
        whole = model.extend(
            whole,
            ids[completion.start : completion.end],
            messages[completion.reply + 1 : end],
            reply=messages[completion.reply],
            generate=bool(value.get(_GENERATE, True)) if number == last else True,
            policy=budget if number == last else None,
            images=own(completion.reply + 1, end),
        )
    return whole


_VIDEO = "video "
"""How the name of an attached film begins."""


def _images(pack: Pack) -> Images | None:
    """The images that came beside the request, as far as the pack has their bytes; None where none did."""
    fault = _not_had(pack.fault)
    ways = {way for image in _recorded(pack) if (way := _way(image)) is not None}
    load = ways.pop() if len(ways) == 1 else pack.load
    if pack.load is None and fault is None and not pack.media and not _recorded(pack):
        return None
    if pack.redaction is not None:
        return Images(load=load)
    beside = [(image, NotKept() if image.data is None else image.data) for image in pack.media]
    attached = [data for image, data in beside if image.kind == "attached" and not image.name.startswith(_VIDEO)]
    films = [data for image, data in beside if image.kind == "attached" and image.name.startswith(_VIDEO)]
    names = Counter((image.kind, image.name) for image in pack.media)
    by_digest = {(image.kind, image.name, image.sha256): data for image, data in beside}
    by_place = {
        json_path(_path(image)): by_digest[key]
        for image in _recorded(pack)
        if (key := (str(image.get("from")), str(image.get("name")), str(image.get("sha256")))) in by_digest
        and names[key[:2]] > 1
    }
    by_name = {(image.kind, image.name): data for image, data in beside}
    return Images(attached=attached, films=films, kept=Kept(by_name, by_place, fault), load=load)


def _not_had(fault: JsonObject | None) -> MediaError | None:
    """What was said then of a file or an address that gave no bytes: neither is asked again."""
    if fault is None or fault["code"] not in ("M102", "M122", "M123", "M124"):
        return None
    message, code, where, help = (str(fault[key]) for key in ("message", "code", "where", "help"))
    return MediaError(message, code=code, where=where, help=help)


def _recorded(pack: Pack) -> list[format_1.Object]:
    stage = pack.stages.get(Stage.IMAGES)
    return [] if stage is None else format_1.ImagesStage.model_validate(stage).images


def _way(image: format_1.Object) -> str | None:
    """The way in which an image came in."""
    record = image.get("record")
    arrival = record.get("arrival") if isinstance(record, Mapping) else None
    way = arrival.get("way") if isinstance(arrival, Mapping) else None
    return way if isinstance(way, str) else None


def _path(image: format_1.Object) -> Path:
    """The part of the request that shows the image."""
    steps = image.get("path")
    return tuple(step for step in steps if isinstance(step, str | int)) if isinstance(steps, list | tuple) else ()


def _message(path: Path) -> int:
    """The message of a part of a request; one of something else belongs to what was there from the beginning."""
    match path:
        case ("messages", int(index), *_):
            return index
        case _:
            return 0


def _budget(pack: Pack, model: Model[RequestModel]) -> Budget | str | None:
    """The budget that was asked for: the model's own of that name, else as the pack has it in full."""
    if pack.policy is None or isinstance(pack.policy, str):
        return pack.policy
    said = format_1.BudgetPolicy.model_validate(pack.policy)
    declared = model.budgets.get(said.id.rpartition("@")[0])
    return declared if said.digest and declared is not None else budget_of(said)


def budget_of(said: format_1.BudgetPolicy) -> Budget:
    """A budget as a pack has it in full."""
    return Budget(
        said.id,
        window=said.window,
        reserve=said.reserve,
        optional=tuple(
            Allotment(
                Section(each.section),
                Order(each.order),
                Misfit(each.misfit),
                Grouping(each.grouping),
                at_least=_share(each.at_least),
                at_most=_share(each.at_most),
            )
            for each in said.optional
        ),
        overflow=Reject() if said.cut_left is None else CutLeft(frozenset(map(Structure, said.cut_left))),
        digest=said.digest,
    )


def _share(said: format_1.Share | None) -> Share | None:
    if said is None:
        return None
    return Tokens(said.tokens) if said.tokens is not None else Percent(said.percent or 0)
