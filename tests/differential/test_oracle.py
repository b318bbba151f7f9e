"""For every spec and every request, the generated code does what the oracle does: payload, ids, origins, errors."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from katapi.artifacts.cache import Cache
from katapi.artifacts.fetch import artifact_bytes, at_hand
from katapi.artifacts.lock import read_lock
from katapi.emit.tokenizer import table_file
from katapi.oracle.render import PlainSegment, plain
from katapi.oracle.render import render as oracle_render
from katapi.oracle.request import canonical
from katapi.oracle.tokenize import tokenize
from katapi.runtime.artifacts.any_file import read_vocabulary
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ContentSegment, Rendering
from katapi.runtime.tokenization.table import load_table
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.testing import single_bytes
from tests.examples import examples
from tests.requests import Requests
from tests.specs import ALL, ROOT, Spec, model_of, program_of

Outcome = tuple[object, ...]


@cache
def strategy(spec: Spec) -> st.SearchStrategy[Json]:
    """Requests for a spec."""
    return Requests(program_of(*spec)).requests()


@cache
def data_of(spec: Spec) -> VocabularyData | None:
    """The tokens of a spec's vocabulary, straight from its artifact; from its table where the artifact is not at hand.

    Single bytes, as for `model_of`, where such a table would be in the cache of this machine, and is not.
    """
    program = program_of(*spec)
    artifact = program.vocabulary.artifact
    if artifact is None:
        return None
    lock, cache = read_lock(ROOT / "spec" / "artifacts.lock"), Cache.of_user()
    row = lock[artifact.name]
    if row.cached and not cache.path(row.sha256).is_file():
        table = cache.table_path(row.sha256)
        return load_table(table) if table.is_file() else single_bytes(program.configuration())
    if not at_hand(row, cache):
        return load_table(ROOT / "generated" / "katapi_models" / table_file(row))
    file = artifact_bytes(row.name, lock)
    controls = [token.id for token in program.configuration().added_tokens]
    return read_vocabulary(file, where=artifact.name, passed_over=controls)


def placed(rendering: Rendering) -> list[tuple[PlainSegment, str | None]]:
    """The segments as plain tuples, each with the file that shares what wrote it."""
    files = [None if isinstance(s, ContentSegment) else s.site.file for s in rendering.segments]
    return list(zip(plain(rendering), files, strict=True))


def by_oracle(spec: Spec, value: Json) -> Outcome:
    """What the oracle makes of a request."""
    program = program_of(*spec)
    try:
        rendering = oracle_render(program, canonical(program, value))
    except KatapiError as error:
        return type(error).__name__, error.code, error.where
    ids, origins = tokenize(program, rendering, data_of(spec))
    return placed(rendering), list(rendering.sampled), ids, [tuple(o) for o in origins]


def by_generated(spec: Spec, value: Json) -> Outcome:
    """What the generated code makes of the same request, from its bytes."""
    try:
        result = model_of(*spec).assemble(json.dumps(value).encode())
    except KatapiError as error:
        return type(error).__name__, error.code, error.where
    payload = result.rendered.payload
    # The oracle names the segments a token touches; empty ones are touched by nothing.
    origins = [
        tuple(i for i in range(first, end) if payload[i].text)
        for first, end in np.asarray(result.origins.ranges).tolist()
    ]
    rendering = Rendering(list(payload), list(result.rendered.sampled))
    return placed(rendering), list(result.rendered.sampled), result.input_ids.tolist(), origins


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
@examples(test=25, fuzz=1_000)
@given(data=st.data())
def test_generated_code_does_what_the_oracle_does(spec: Spec, data: DataObject) -> None:
    value = data.draw(strategy(spec))
    assert by_generated(spec, value) == by_oracle(spec, value)
