"""Whether the parts of a pack fit together: what no form of a single file says.

Ranges count no further than what they are of, the runs cover all segments and all ids, each token is of segments of its
run, and a budget decided on the request that is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from katapi.packs import format_1
from katapi.packs.again import budget_of
from katapi.packs.redaction import HIDDEN
from katapi.runtime.errors import ReplayError
from katapi.runtime.json_types import JsonObject
from katapi.runtime.stages import Stage

Arrays = Mapping[str, NDArray[np.int64]]
"""Arrays by their names."""

_COVERED = "token_segments"
"""The array that has for each token the half-open range of segments that it covers."""


def not_so(where: str, what: str) -> ReplayError:
    """The `ReplayError` Y103 of a pack that is not as its format says."""
    return ReplayError(
        f"the pack is not as its format says: {what}", code="Y103", where=where, help="record the execution anew"
    )


def check_arrays(stages: Mapping[Stage, JsonObject], covered: NDArray[np.int64] | None) -> None:
    """All arrays have as many entries as there are tokens; `covered` is int64 of shape [n, 2].

    Raises `ReplayError` Y103 where they have not.
    """
    if covered is not None and covered.shape[1:] != (2,):
        raise not_so(f"arrays/{_COVERED}.npy", "it is not of the shape [n, 2]")
    tensors = stages.get(Stage.TENSORS, {})
    found = [stages.get(Stage.IDS, {}).get("input_ids"), tensors.get("attention_mask"), tensors.get("position_ids")]
    lengths = [len(each) for each in found if isinstance(each, list)] + ([] if covered is None else [len(covered)])
    count = tensors.get("length", lengths[0] if lengths else 0)
    if any(length != count for length in lengths):
        raise not_so("stages/tensors.json", f"it gives {count} tokens, and the arrays have {lengths}")


def check_budget(said: format_1.BudgetPolicy, where: str) -> None:
    """Such a budget can be declared: it reserves no more than its window, for one. Raises `ReplayError` Y103."""
    try:
        budget_of(said)
    except (TypeError, ValueError) as error:
        raise not_so(where, f"it has a budget that there cannot be: {error}") from None


def check_media(stage: format_1.ImagesStage, media: Sequence[format_1.Medium]) -> None:
    """The images that came beside the request are among those that are there. Raises `ReplayError` Y103."""
    known = {(each.kind, each.name, each.sha256) for each in media}
    for image in stage.images:
        said = tuple(image.get(key) for key in ("from", "name", "sha256"))
        if said[0] in ("attached", "file", "address") and said not in known:
            raise not_so("stages/images.json", "it has an image that is none of those beside the request")


def check_recorded(parts: Mapping[Stage, format_1.Part], arrays: Arrays, raw: bytes | None, *, redacted: bool) -> None:
    """The stages of an execution of Katapi fit together, and its arrays and bytes fit to them.

    Raises `ReplayError` Y103 where they do not.
    """
    messages = segments = 0
    match parts.get(Stage.BYTES):
        case format_1.BytesStage(sha256=sha256, size=size) if not redacted:
            known = (None, None) if raw is None else (hashlib.sha256(raw).hexdigest(), len(raw))
            if (sha256, size) != known:
                raise not_so("stages/bytes.json", "it is not of the bytes of the request that are there")
        case _:
            pass
    ids = len(arrays["input_ids"]) if Stage.IDS in parts else 0
    match parts.get(Stage.REQUEST):
        case format_1.RequestStage() as request:
            messages = len(request.messages)
            for each in request.extensions:
                _check_range(Stage.REQUEST, "messages", messages, each.reply, each.reply + 1)
                _check_range(Stage.REQUEST, "ids", ids, each.start, each.end)
        case _:
            pass
    match parts.get(Stage.BUDGET):
        case format_1.BudgetStage() as budget:
            _check_decision(budget, messages, ids if Stage.IDS in parts else None)
        case _:
            pass
    match parts.get(Stage.RENDERED):
        case format_1.RenderedStage() as rendered:
            segments = len(rendered.segments)
            for start, end in rendered.sampled:
                _check_range(Stage.RENDERED, "segments", segments, start, end)
        case _:
            pass
    match parts.get(Stage.RUNS):
        case format_1.RunsStage(runs=runs):
            for start, end, first, behind in runs:
                _check_range(Stage.RUNS, "segments", segments, start, end)
                _check_range(Stage.RUNS, "ids", ids, first, behind)
            if Stage.IDS in parts:
                _check_tokens(segments, np.array(runs, dtype=np.int64).reshape(-1, 4), arrays, redacted=redacted)
        case _:
            pass


def _check_decision(stage: format_1.BudgetStage, messages: int, ids: int | None) -> None:
    """A budget decided on the request: `messages` are those that are left, `ids` the tokens, where it came to them."""
    where, decision = f"stages/{Stage.BUDGET.value}.json", stage.decision
    if stage.budget is None or decision is None:
        if (stage.budget is None) != (decision is None):
            raise not_so(where, "a budget and a decision are only both there or neither")
        offered = messages
    else:
        check_budget(stage.budget, where)
        said, asked = (decision.id, decision.window, decision.reserve), stage.budget
        if said != (asked.id, asked.window, asked.reserve):
            raise not_so(where, f"the decision is of the budget {said}, which is not the one that is there")
        if ids not in (None, decision.input):
            raise not_so(where, f"the decision leaves {decision.input} tokens, and there are {ids}")
        listed = messages if decision.offered is None else decision.offered.get("messages")
        if not isinstance(listed, int | list):
            raise not_so(where, "the request that came in has no list of messages")
        offered = listed if isinstance(listed, int) else len(listed)
        lists = [choice for choice in decision.choices if choice.section not in ("tools", "documents")]
        for at in (at for choice in lists for at in choice.at):
            _check_range(Stage.BUDGET, "messages", offered, at, at + 1)
        left_out = {at for choice in lists if not choice.kept for at in choice.at}
        if offered - len(left_out) != messages:
            raise not_so(where, f"of {offered} messages it leaves {len(left_out)} out, and {messages} are there")
    for start, end in [*((at, at + 1) for at in stage.required or ()), *stage.together]:
        _check_range(Stage.BUDGET, "messages", offered, start, end)


def _check_tokens(segments: int, runs: NDArray[np.int64], arrays: Arrays, *, redacted: bool) -> None:
    """The runs cover all segments and ids in order, if there are any; each token is of segments of its run."""
    ids, covered = arrays["input_ids"], arrays.get(_COVERED)
    if covered is None:
        raise not_so(f"arrays/{_COVERED}.npy", "nothing says which segments the tokens are of")
    if len(ids) and int(ids.min()) < (HIDDEN if redacted else 0):
        raise not_so("arrays/input_ids.npy", f"the id {ids.min()} is below 0")
    lowest, highest = np.zeros(len(ids), dtype=np.int64), np.full(len(ids), segments)
    if len(runs):
        starts, ends = runs[:, [0, 2]], runs[:, [1, 3]]
        whole = np.array([[segments, len(ids)]])
        if not np.array_equal(np.concatenate((starts, whole)), np.concatenate((np.zeros_like(whole), ends))):
            raise not_so("stages/runs.json", "the runs do not cover all segments and all ids, one behind the other")
        counts = runs[:, 3] - runs[:, 2]
        lowest, highest = np.repeat(runs[:, 0], counts), np.repeat(runs[:, 1], counts)
    start, end = covered[:, 0], covered[:, 1]
    wrong = np.flatnonzero((start < lowest) | (end < start) | (highest < end))
    if len(wrong):
        at = int(wrong[0])
        raise not_so(f"arrays/{_COVERED}.npy", f"token {at} is not of segments {start[at]} to {end[at]}")


def _check_range(stage: Stage, what: str, count: int, start: int, end: int) -> None:
    if not start <= end <= count:
        raise not_so(f"stages/{stage.value}.json", f"{start} to {end} is no range of its {count} {what}")
