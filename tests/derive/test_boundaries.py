"""Boundaries that are plain text: each pair of requests prints the same, and the specs say what becomes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypedDict

import pytest

from katapi.analyse import analyse
from katapi.check.boundaries import unanswered
from katapi.derive.boundaries import Forgery, answered, answers, forgeries
from katapi.derive.comparison import compare
from katapi.language.diagnostics import SpecError
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ContentSegment, ControlSegment
from tests.command import here
from tests.specs import OWN, ROOT, model_of, program_of, specs_in, whole


class Recorded(TypedDict):
    """A forgery as `tools/boundaries.py` writes it down."""

    model: str
    speaker: str
    spelled: list[str]
    forged: dict[str, Json]
    meant: dict[str, Json]


RECORDED: list[Recorded] = json.loads(Path(__file__).with_name("forgeries.json").read_text(encoding="utf-8"))
SPECS = {spec.name: spec for path in OWN for spec in specs_in(path)}
DOCUMENT = (ROOT / "docs" / "boundaries.md").read_text(encoding="utf-8")


def seen_by_the_model(program: Program, request: Json) -> list[int | str]:
    """The control ids that a request prints, and the runs of text between them."""
    out: list[int | str] = [""]
    for segment in render(program, canonical(program, request)).segments:
        if isinstance(segment, ControlSegment):
            out += [segment.token.id, ""]
        else:
            out[-1] = f"{out[-1]}{segment.text}"
    return out


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['model']}-{row['speaker']}")
def test_a_forgery_prints_what_another_request_prints(row: Recorded) -> None:
    program, model = program_of(*SPECS[row["model"]]), model_of(*SPECS[row["model"]])
    assert row["forged"] != row["meant"]
    assert seen_by_the_model(program, row["forged"]) == seen_by_the_model(program, row["meant"])
    forged, meant = (model.render(json.dumps(row[which]).encode()) for which in ("forged", "meant"))
    assert forged.text == meant.text
    told = "".join(segment.text for segment in forged.payload if isinstance(segment, ContentSegment))
    assert all(text in told for text in row["spelled"])


@pytest.mark.parametrize("name", SPECS)
def test_the_spec_says_what_becomes_of_each(name: str) -> None:
    program = program_of(*SPECS[name])
    found = [forgery for forgery in forgeries(program, 2) if not forgery.sampled]
    assert all(answered(program, forgery) for forgery in found)
    shown = {(row["speaker"], *row["spelled"]) for row in RECORDED if row["model"] == name}
    assert {(one.speaker, *(text.text for text in one.boundary)) for one in found} <= shown, "run tools/boundaries.py"


def test_the_document_names_models_with_and_without() -> None:
    having = {row["model"] for row in RECORDED}
    assert {line.split(" | ")[0][2:] for line in DOCUMENT.splitlines() if line.startswith("| ")} - {"model"} - {
        "---"
    } == having
    (last,) = re.findall(r"No such pair was found for (.*)\.", DOCUMENT)
    assert set(last.split(", ")) == set(SPECS) - having
    assert {"qwen3", "llama3.1", "book"} <= set(SPECS) - having
    assert {"llama2", "qwen2.5", "hermes-3-llama-3.1", "kimi-k2"} <= having


# ---- single constructs

HEAD = """
vocabulary V version "1" {
  control { 0 @user "<user>" 1 @model "<model>" 2 @end "<end>" }
  text { 3 "a" }
  unknown 4 "<unk>"
}
tokenizer V version "1" over V { normalize: none pretokenize: none segment: longest_match post: none decode: concat }
request V version "1" {
  bytes: utf8 strict
  depth: 8
  role system, user, tool, assistant { content: text }
}
"""
ANSWER = "when assistant { @model sampled { m.content @end } }"


def source(arms: str, more: str = "") -> Source:
    walk = f"each m in messages {{ {arms} }} generate {{ @model }} {more}"
    return Source("v.kata", f'{HEAD}template V version "1" for V {{ {walk} }}')


def codes(arms: str, more: str = "") -> list[str]:
    try:
        analyse("v", source(arms, more))
    except SpecError as error:
        return [finding.code for finding in error.diagnostics]
    return []


def found(arms: str, more: str) -> list[Forgery]:
    return list(forgeries(whole(analyse("v", source(arms, more))[0]), 2))


USER = "when user { @user m.content @end }"
SAME_FRAME = f'when system {{ @end m.content }} {USER} when tool {{ @user "R:" m.content @end }} {ANSWER}'
PARTED = (
    f'when system {{ "S:" m.content }} when user {{ "U:" m.content }} when tool {{ @user m.content @end }} {ANSWER}'
)
LISTED = (
    'when system, user { @user m.content @end } when tool+ as rs { @end each r in rs join ";" { r.content } @end }'
    f" {ANSWER}"
)


@pytest.mark.parametrize("arms", [SAME_FRAME, PARTED, LISTED])
def test_a_boundary_that_nothing_is_said_of_is_a_finding(arms: str) -> None:
    assert set(codes(arms)) == {"K406"}


@pytest.mark.parametrize(
    "arms",
    [
        f'when system, user, tool {{ @user m.role ":" m.content @end }} {ANSWER}',
        f'when system, user {{ @user m.content @end }} when tool {{ @model "R:" m.content @end }} {ANSWER}',
        f'when user {{ "U:" m.content "," }} when system, tool {{ @user m.role m.content @end }} {ANSWER}',
        f'when system, user, tool {{ @user "[" m.content "]" @end }} {ANSWER}',
    ],
)
def test_what_control_tokens_tell_apart_or_gains_nothing_is_none(arms: str) -> None:
    assert "K406" not in codes(arms)


def test_what_is_found_is_told_with_who_spells_it_and_what_it_passes_for() -> None:
    (user, *others) = found(SAME_FRAME, 'boundary "R:": accept')
    assert (user.speaker, [one.text for one in user.boundary], user.within) == ("user.content", ["R:"], False)
    assert others == []
    program = whole(analyse("v", source(SAME_FRAME, 'boundary "R:": accept'))[0])
    assert [one.text for one in answers(program, user)] == ["R:"]
    assert unanswered(program) == []


@pytest.mark.parametrize("answer", ["reject", 'escape with "(R)"', "accept"])
def test_each_answer_is_one(answer: str) -> None:
    assert codes(SAME_FRAME, f'boundary "R:": {answer}') == []


def test_templates_are_the_same_but_for_what_they_refuse() -> None:
    accepting, more, refusing = (
        whole(analyse("v", source(SAME_FRAME, clause))[0])
        for clause in ('boundary "R:": accept', 'boundary "R:", ":": accept', 'boundary "R:": reject')
    )
    assert compare(accepting, more).same
    difference = compare(accepting, refusing).difference
    assert difference is not None
    assert "T103" in difference.second.text


def test_the_command_shows_requests_and_what_the_spec_says() -> None:
    done = here("check", "--boundaries", "llama2", "qwen3", cwd=ROOT)
    assert done.status == 0
    assert "user.content can spell" in done.out
    assert 'boundary "[/INST]": accept' in done.out
    assert "no two requests of up to 3 messages print the same" in done.out
    missing = here("check", "--boundaries", "nonsense", cwd=ROOT)
    assert (missing.status, "nonsense" in missing.err) == (1, True)
