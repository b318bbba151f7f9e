"""A pack as a view: an execution that was recorded, also one that failed, was redacted, or is another system's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from katapi.divergence.plain import items, numbers, objects
from katapi.inspecting.budgets import budget_view, reasons_left_out, shared_out
from katapi.inspecting.images import images_of
from katapi.inspecting.origins import parts_of, paths_of, places_of
from katapi.inspecting.stages import stages_of
from katapi.inspecting.values import written
from katapi.inspecting.view import Execution, Fact, Message, Place, Token, View
from katapi.packs.pack import Pack
from katapi.packs.redaction import HIDDEN, request_value
from katapi.runtime.errors import KatapiError, TokenizerError
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.record import Environment
from katapi.runtime.request_model import RequestModel
from katapi.runtime.stages import Stage


def view_of_pack(pack: Pack, model: Model[RequestModel] | None) -> View:
    """What a page shows of a pack.

    `model` is that of its name, None where it is not at hand: then tokens have no bytes. They have none either where
    the tokenizer of the model is another now than the one that was recorded.
    """
    return View(versions(pack.environment), execution_of_pack(pack, model))


def versions(environment: Environment) -> tuple[Fact, ...]:
    """The versions of what ran."""
    return tuple(Fact(name, str(version)) for name, version in environment.to_json().items())


def execution_of_pack(pack: Pack, model: Model[RequestModel] | None, label: str = "") -> Execution:
    """The execution in a pack; `label` is what it is called beside another."""
    return shown(pack, model, _typed(pack, model), label=label, every_stage=True)


def shown(
    pack: Pack,
    model: Model[RequestModel] | None,
    request: RequestModel | None,
    *,
    label: str,
    every_stage: bool,
) -> Execution:
    """An execution as a page shows it; `request` is what was rendered, None where it cannot be read."""
    stages, spec = pack.stages, "template" if model is None else model.source
    decision = stages.get(Stage.BUDGET, {}).get("decision")
    rendered = stages.get(Stage.RENDERED, {})
    segments = objects(rendered.get("segments"))
    regions = [numbers(region) for region in items(rendered.get("sampled"))]
    sampled = {index for start, end in regions for index in range(start, end)}
    ids = numbers(stages.get(Stage.IDS, {}).get("input_ids"))
    covered = _ranges(pack, len(ids), len(segments))
    places, indices = places_of(segments, covered, spec)
    images = images_of(stages, covered)
    shown_at = {token: image.steps for image in images if image.steps for token in range(*image.tokens or (0, 0))}
    counts = Counter((at, shown_at.get(token)) for token, at in enumerate(indices))
    shares = shared_out(
        (((image,) if image else paths_of(segments, places[at].parts), count) for (at, image), count in counts.items()),
        request,
    )
    tokens = _tokens(pack, model, ids, places, indices, sampled)
    return Execution(
        model=pack.model or pack.source or "unknown",
        label=label,
        stages=tuple(stages_of(pack, sum(token.sampled for token in tokens), every=every_stage)),
        messages=tuple(_messages(pack, decision)),
        parts=tuple(parts_of(segments, sampled, spec)),
        places=places,
        tokens=tokens,
        budget=replace(budget_view(shares, decision), known=Stage.BUDGET in stages),
        images=images,
    )


def _ranges(pack: Pack, tokens: int, segments: int) -> list[tuple[int, int]]:
    """For each token the segments that it covers: none where that is not known, or the pack is not right about it."""
    covered = pack.token_segments
    if covered is None or len(covered) != tokens:
        return [(0, 0)] * tokens
    return [each if 0 <= each[0] <= each[1] <= segments else (0, 0) for each in covered]


def _typed(pack: Pack, model: Model[RequestModel] | None) -> RequestModel | None:
    """The request that was rendered; None where it is not known, or the model does not take it."""
    if model is None or Stage.REQUEST not in pack.stages:
        return None
    try:
        return model.decode_request(json.dumps(request_value(pack.stages[Stage.REQUEST])).encode())
    except KatapiError:
        return None


# ---- messages


def _messages(pack: Pack, decision: Json) -> Iterator[Message]:
    """The messages that came in; those that were kept are numbered as the rendered request has them."""
    offered = decision.get("offered") if isinstance(decision, Mapping) else None
    request = offered if isinstance(offered, Mapping) else pack.stages.get(Stage.REQUEST, {})
    left_out = reasons_left_out(decision)
    kept = 0
    for at, message in enumerate(items(request.get("messages"))):
        role, fields = "", tuple[Fact, ...]()
        if isinstance(message, Mapping):
            role = str(message.get("role", ""))
            fields = tuple(Fact(name, written(value)) for name, value in message.items() if name != "role")
        if at in left_out:
            yield Message(role, fields, None, left_out[at])
        else:
            yield Message(role, fields, kept)
            kept += 1


# ---- tokens


def _tokens(
    pack: Pack,
    model: Model[RequestModel] | None,
    ids: Sequence[int],
    places: Sequence[Place],
    indices: Sequence[int],
    sampled: set[int],
) -> tuple[Token, ...]:
    """The tokens with their bytes, which together are what the decoder gives for all ids."""
    generated = [all(part in sampled for part in range(*place.parts)) and place.kind != "unknown" for place in places]
    rows = zip(ids, _bytes(ids, _decoding(pack, model)), indices, strict=True)
    return tuple(Token(id, bytes, place, generated[place]) for id, bytes, place in rows)


def _decoding(pack: Pack, model: Model[RequestModel] | None) -> Model[RequestModel] | None:
    """The model, where its tokenizer is the one that was recorded, or none was."""
    recorded = pack.stages.get(Stage.TOKENIZER)
    if model is None or (recorded is not None and recorded["digest"] != model.tokenizer_identity.digest):
        return None
    return model


def _bytes(ids: Sequence[int], model: Model[RequestModel] | None) -> list[bytes | None]:
    """The bytes of each id; None for one that is redacted, or that the model does not have."""
    if model is None:
        return [None] * len(ids)
    decoder = model.decoder()
    found: list[bytes | None] = []
    for id in ids:
        try:
            found.append(None if id == HIDDEN else decoder.push(id))
        except TokenizerError:
            found.append(None)
    rest = decoder.finish()
    if found and found[-1] is not None:
        found[-1] += rest
    return found
