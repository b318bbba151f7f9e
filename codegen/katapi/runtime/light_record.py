"""The light form of a record: the digest of each stage of an execution, without a record being made.

It is cheap enough to be logged for each request. What a model declares is digested once, arrays as they are, and what
was printed is spelled straight from the segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.json_types import JsonObject
from katapi.runtime.record import (
    Declarations,
    budget_json,
    canonical_json,
    digest_of,
    request_json,
    stage_digest,
)
from katapi.runtime.request_model import defaults_of
from katapi.runtime.segments import ContentSegment, ControlSegment, Segment, Site
from katapi.runtime.stages import Stage

if TYPE_CHECKING:
    from katapi.runtime.model_input import ModelInput, RenderedInput


def light_digests(
    made: ModelInput,
    images: Sequence[JsonObject],
    runs: Iterable[tuple[int, int, int, int]],
    arrays: Mapping[str, NDArray[np.int64]],
) -> dict[Stage, str]:
    """The digest of each stage of what was `made`, as `ExecutionRecord.digests` gives them.

    `images` are those of the record. `runs` are half-open ranges of segments and of ids, `arrays` ids, mask and
    positions by their names, int64 of shape [n].
    """
    declared, decision = made._declared, made._decision
    constant = _constant(declared)
    request = made.request.model_dump(mode="json", exclude_unset=True)
    tensors = {name: numbers for name, numbers in arrays.items() if name != "input_ids"}
    count = len(arrays["input_ids"])
    return {
        Stage.BYTES: stage_digest(made._incoming.to_json()),
        Stage.REQUEST: stage_digest(
            request_json(declared.request_rules, request, defaults_of(made.request), made._extensions)
        ),
        Stage.BUDGET: constant[Stage.BUDGET] if decision is None else stage_digest(budget_json(decision)),
        Stage.IMAGES: stage_digest({"images": [*images]}) if images else constant[Stage.IMAGES],
        Stage.TEMPLATE: constant[Stage.TEMPLATE],
        Stage.RENDERED: digest_of(_rendered(made.rendered)),
        Stage.TOKENIZER: constant[Stage.TOKENIZER],
        Stage.RUNS: digest_of(canonical_json({"runs": [[*run] for run in runs]})),
        Stage.IDS: digest_of(b"{}", {"input_ids": arrays["input_ids"]}),
        Stage.TENSORS: digest_of(canonical_json({"length": count}), tensors),
    }


@lru_cache(maxsize=64)
def _constant(declared: Declarations) -> Mapping[Stage, str]:
    """The digests of what is declared, and of the stages in which nothing happened."""
    return {
        Stage.BUDGET: stage_digest(budget_json(None)),
        Stage.IMAGES: stage_digest({"images": []}),
        Stage.TEMPLATE: stage_digest(declared.template.to_json()),
        Stage.TOKENIZER: stage_digest({**declared.tokenizer.to_json(), "parts": declared.tokenizer_parts.to_json()}),
    }


def _rendered(rendered: RenderedInput) -> bytes:
    """The canonical JSON of what was printed."""
    segments = ",".join(map(spelled, rendered.payload))
    sampled = ",".join(f"[{start},{end}]" for start, end in rendered.sampled)
    return f'{{"segments":[{segments}],"sampled":[{sampled}]}}'.encode("ascii")


def spelled(segment: Segment) -> str:
    """The canonical JSON of a segment, as `canonical_json(segment_json(segment))` has it, in half the time."""
    if isinstance(segment, ContentSegment):
        path = ",".join([_text(step) if isinstance(step, str) else str(step) for step in segment.path])
        start = "null" if segment.start is None else segment.start
        return f'{{"kind":"content","text":{_text(segment.text)},"path":[{path}],"start":{start}}}'
    if isinstance(segment, ControlSegment):
        token = segment.token
        return f'{{"kind":"control","id":{token.id},"text":{_text(token.spelling)},"site":{_site(segment.site)}}}'
    return f'{{"kind":"literal","text":{_text(segment.text)},"site":{_site(segment.site)}}}'


_text = encode_basestring_ascii


def _site(site: Site) -> str:
    line, column, file = site
    return f"[{line},{column},{'null' if file is None else _text(file)}]"
