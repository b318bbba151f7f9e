"""Packs that somebody wrote by hand, with every digest right: a pack is read or refused, and replayed or refused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

import katapi
from katapi.packs.pack import Pack, plain_digests
from katapi.packs.reading import read_pack
from katapi.packs.redaction import redacted
from katapi.packs.replay import replay
from katapi.packs.writing import pack_bytes
from katapi.runtime.errors import KatapiError, ReplayError
from katapi.runtime.json_types import Json
from katapi.runtime.stages import Stage
from tests.examples import examples
from tests.packs.made import BOOK, fixture, packs

KINDS = ["tools", "a typed request", "cut", "fit_context", "extended", "a refused budget"]
VALUES: list[Json] = [None, True, 0, 1, -1, 7, 10**30, 0.5, "", "user", [], [0], [[0, 9]], {}, {"messages": []}]


def places(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to each value inside of one."""
    inner: list[tuple[str | int, Json]] = []
    if isinstance(value, Mapping):
        inner = [*value.items()]
    elif isinstance(value, list | tuple):
        inner = [*enumerate(value[:12])]
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


def put(value: Json, path: tuple[str | int, ...], new: Json) -> Json:
    """The same with another value at one place."""
    if not path:
        return new
    key, *rest = path
    if isinstance(value, Mapping):
        return {**value, str(key): put(value[str(key)], tuple(rest), new)}
    assert isinstance(value, list | tuple)
    assert isinstance(key, int)
    return [*value[:key], put(value[key], tuple(rest), new), *value[key + 1 :]]


@pytest.mark.parametrize("hidden", [False, True], ids=["plain", "redacted"])
@pytest.mark.parametrize("kind", KINDS)
@examples(test=40, fuzz=3000)
@given(st.data())
def test_whatever_stands_in_a_stage_the_answer_is_a_replay_or_an_error(
    kind: str, hidden: bool, data: DataObject
) -> None:
    pack = packs()[kind]
    model = katapi.load(pack.model)
    if hidden:
        pack = redacted(pack, model, "placeholders")
    stage = data.draw(st.sampled_from([*pack.stages]))
    content = pack.stages[stage]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places(content)))
        changed = put(content, place, data.draw(st.sampled_from(VALUES)))
        content = changed if isinstance(changed, Mapping) else content
    stages = {**pack.stages, stage: content}
    try:
        forged = replace(pack, stages=stages, digests=plain_digests(stages))
        written = pack_bytes(forged)
    except (TypeError, ValueError, OverflowError, KeyError, IndexError):
        return  # what cannot be written in the form of a pack
    with suppress(KatapiError):
        replay(read_pack(written), model)


def forged(pack: Pack, stage: Stage, **members: Json) -> Pack:
    """The pack with other members of a stage, every digest right."""
    stages = {**pack.stages, stage: {**pack.stages[stage], **members}}
    return replace(pack, stages=stages, digests=plain_digests(stages))


def refused(pack: Pack) -> ReplayError:
    """The error with which a pack is refused."""
    with pytest.raises(ReplayError) as caught:
        read_pack(pack_bytes(pack))
    assert caught.value.code == "Y103"
    assert caught.value.stage
    assert caught.value.where
    assert caught.value.help
    return caught.value


@pytest.mark.parametrize(
    ("stage", "members"),
    [
        (Stage.BYTES, {"size": 9}),
        (Stage.BYTES, {"sha256": "0" * 64}),
        (Stage.REQUEST, {"extensions": [{"reply": 9, "start": 0, "end": 1}]}),
        (Stage.REQUEST, {"extensions": [{"reply": 0, "start": 0, "end": 99}]}),
        (Stage.REQUEST, {"extensions": [{"reply": 0, "start": 2, "end": 1}]}),
        (Stage.BUDGET, {"required": [2]}),
        (Stage.BUDGET, {"together": [[0, 3]]}),
        (Stage.BUDGET, {"decision": {}}),
        (Stage.RUNS, {"runs": [[0, 99, 0, 1]]}),
        (Stage.RUNS, {"runs": [[0, 1, 0, 1]]}),
        (Stage.RUNS, {"runs": [[0, 7, 0, 12], [7, 8, 12, 12]]}),
        (Stage.RENDERED, {"sampled": [[3, 99]]}),
        (Stage.IDS, {"input_ids": [-1] * 12}),
        (Stage.TENSORS, {"length": 11}),
    ],
)
def test_stages_that_do_not_fit_together_are_refused(stage: Stage, members: dict[str, Json]) -> None:
    refused(forged(fixture(), stage, **members))
    assert replay(fixture(), BOOK).agrees


@pytest.mark.parametrize("ranges", [[(0, 99)] * 12, [(1, 0)] * 12, [(3, 4)] * 12, None])
def test_tokens_that_are_of_no_segment_of_their_run_are_refused(ranges: list[tuple[int, int]] | None) -> None:
    refused(replace(fixture(), token_segments=None if ranges is None else tuple(ranges)))


def changed(budget: Mapping[str, Json], **members: Json) -> dict[str, Json]:
    """The stage with other members of its decision, or of the budget itself."""
    decision, policy = budget["decision"], budget["budget"]
    assert isinstance(decision, Mapping)
    assert isinstance(policy, Mapping)
    inner = {key: value for key, value in members.items() if key in decision}
    outer = {key: value for key, value in members.items() if key in policy and key != "id"}
    return {**budget, "decision": {**decision, **inner}, "budget": {**policy, **outer}}


CHOICE: dict[str, Json] = {"section": "history", "at": [0], "kept": True, "why": "fits", "before": 1, "after": 2}


@pytest.mark.parametrize(
    "members",
    [
        {"id": "nobody@1"},
        {"window": 5, "reserve": 6},
        {"reserve": 10**30, "window": 10**30},
        {"input": 5},
        {"choices": [CHOICE]},
        {"choices": [{**CHOICE, "at": [60]}]},
        {"choices": [{**CHOICE, "section": "weather"}]},
        {"choices": [{**CHOICE, "why": "because"}]},
        {"choices": [{"section": "history"}]},
        {"offered": {}},
        {"offered": {"messages": {}}},
        {"optional": []},
    ],
)
def test_a_decision_that_no_budget_made_is_refused(members: dict[str, Json]) -> None:
    pack = packs()["within a budget"]
    made = changed(pack.stages[Stage.BUDGET], **members)
    if members.keys() == {"optional"}:  # another budget all the same, and one that there can be
        read_pack(pack_bytes(forged(pack, Stage.BUDGET, **made)))
    else:
        refused(forged(pack, Stage.BUDGET, **made))


def test_a_budget_that_there_cannot_be_is_refused_also_where_it_decided_nothing() -> None:
    pack = packs()["a refused budget"]
    assert isinstance(pack.policy, Mapping)
    refused(replace(pack, policy={**pack.policy, "reserve": -1}))
    refused(replace(pack, policy={**pack.policy, "reserve": 65}))
