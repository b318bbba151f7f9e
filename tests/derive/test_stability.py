"""Prefix stability: verdicts are those that are written down, and each witness shows what it is said to show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypedDict

import pytest

import katapi
from katapi.analyse import analyse
from katapi.derive.fold import Constant
from katapi.derive.stability import Question, Witness, changes, settings
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.model.sites import cited
from katapi.runtime.errors import ArtifactError
from katapi.runtime.json_types import Json
from tests.command import here
from tests.derive.growing import proven
from tests.specs import ARTIFACTS, OWN, ROOT, program_of, specs_in, whole


class Recorded(TypedDict, total=False):
    """A verdict as `tools/stability.py` writes it down."""

    model: str
    question: str
    setting: dict[str, Constant]
    stable: bool | None
    beside: dict[str, Json]
    conversation: list[Json]
    behind: list[Json]
    prompted: bool


RECORDED: list[Recorded] = json.loads(Path(__file__).with_name("witnesses.json").read_text(encoding="utf-8"))
SPECS = {spec.name: spec for path in OWN for spec in specs_in(path)}
MODELS = list(SPECS)


def of(model: str, question: Question) -> dict[tuple[tuple[str, Constant], ...], Recorded]:
    rows = [row for row in RECORDED if (row["model"], row["question"]) == (model, question.value)]
    return {tuple(row["setting"].items()): row for row in rows}


def is_missing(program: Program) -> bool:
    """Whether the vocabulary of a spec is not at hand."""
    return program.vocabulary.artifact is not None and ARTIFACTS.data_of(program) is None


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("question", Question)
def test_what_is_written_down_as_stable_is_what_is_proven(name: str, question: Question) -> None:
    program = program_of(*SPECS[name])
    rows = of(name, question)
    assert list(rows) == [tuple(one.items()) for one in settings(program)], "run tools/stability.py"
    for setting, row in rows.items():
        if row["stable"] is True and not proven(SPECS[name], question, setting) and is_missing(program):
            pytest.skip("the proof needs the vocabulary, which is not on this machine")
        assert (row["stable"] is True) is proven(SPECS[name], question, setting), "run tools/stability.py"
        assert (row["stable"] is False) is ("conversation" in row)


@pytest.mark.parametrize("row", [row for row in RECORDED if row["stable"] is False], ids=lambda row: row["model"])
def test_a_witness_shows_that_ids_change(row: Recorded) -> None:
    witness = Witness(row["beside"], tuple(row["conversation"]), tuple(row["behind"]), row["prompted"])
    model = katapi.load(row["model"])
    try:
        at = witness.parts_at(model)
    except ArtifactError:  # the vocabulary is on few machines; what is printed differs too, or meets in one run of text
        before, behind = (model.render(json.dumps(one).encode()).text for one in (witness.beginning, witness.whole))
        assert not behind.startswith(before) or not behind[len(before) :].startswith("<")
    else:
        assert at is not None


def test_the_document_says_what_was_found() -> None:
    document = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in document.splitlines() if line.startswith("| ")}
    for name in MODELS:
        _, history, prompt = lines[name].split(" | ")
        for question, cell in ((Question.HISTORY, history), (Question.PROMPT, prompt)):
            found = {row["stable"] for row in of(name, question).values()}
            words = {True: "stable", False: "unstable", None: "not decided"}
            for verdict, word in words.items():
                said = cell.replace("unstable", "") if word == "stable" else cell
                assert (word in said) is (verdict in found), (name, question)


@pytest.mark.parametrize("name", MODELS)
def test_the_document_names_places_that_are_there(name: str) -> None:
    document = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    program = program_of(*SPECS[name])
    asked = [(one, question) for one in settings(program) for question in Question]
    found = [change for one, question in asked for change in changes(program, one, question)]
    places = {(cited(change.span, program.source), change.cause) for change in found}
    (line,) = [line for line in document.splitlines() if line.startswith(f"| {name} |")]
    assert {*re.findall(r"\(([\w.-]+\.kata:\d+): ([^)]*)\)", line)} <= places


# ---- single constructs

TEMPLATE = """
vocabulary V version "1" {
  control { 0 @user "<user>" 1 @model "<model>" 2 @end "<end>" }
  text { 3 "a" }
  unknown 4 "<unk>"
}
tokenizer V version "1" over V {
  normalize: none
  pretokenize: none
  segment: longest_match
  post: none
  decode: concat
}
request V version "1" {
  bytes: utf8 strict
  depth: 8
  role system, user, tool { content: text }
  role assistant { content: text  thought: text? }
  param short: bool = false
}
template V version "1" for V {
  %s
  generate { @model }
}
"""
WALK = "each m in messages { when system, user, tool { @user m.content @end } when assistant { %s } }"
ANSWER = "@model sampled { m.content } drop m.thought"


def causes(body: str, *, short: bool = False, question: Question = Question.HISTORY) -> list[str]:
    text = TEMPLATE % ("drop short " + body)
    program = whole(analyse("v", Source("v.kata", text))[0])
    return [change.cause for change in changes(program, {"short": short}, question)]


@pytest.mark.parametrize(
    "answer",
    [
        f"{ANSWER} @end",
        f'{ANSWER} if prev m is user {{ "a" }} @end',
        f'{ANSWER} if any u in messages before m where u is tool {{ "a" }} @end',
        f"{ANSWER} if m is not last {{ @end }}",
        f'{ANSWER} if short and m is last {{ "a" }} @end',
        f'{ANSWER} if any s in messages where s is system {{ "a" }} @end',
        f'if m is last and next m is user {{ reject "no" }} {ANSWER} @end',
        f"let later = any u in messages after m where u is user drop later {ANSWER} @end",
    ],
)
def test_what_cannot_change(answer: str) -> None:
    assert causes(WALK % answer) == []


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (f'{ANSWER} if m is last {{ "a" }} @end', "whether a message follows"),
        (f'{ANSWER} if next m is user {{ "a" }} @end', "whether a message follows"),
        (f'{ANSWER} if any u in messages after m where u is user {{ "a" }} @end', "`any u in …`"),
        (f'let n = count u in messages where u is user {ANSWER} if n > 1 {{ "a" }} @end', "`count u in …`"),
        (f'{ANSWER} if all s in messages where s is system {{ "a" }} @end', "`all s in …`"),
        (f"{ANSWER}", "goes on that of the message before"),
        (f'{ANSWER} if m is not last {{ "b" @end }}', "goes on that of the message before"),
        (f'{ANSWER} if m.content.length > 1 {{ @end }} else if m is not last {{ "b" @end }}', "goes on that of the"),
    ],
)
def test_what_may_change_is_told_with_its_cause(answer: str, part: str) -> None:
    arms = WALK % answer
    text = arms.replace("@user m.content @end", "m.content @end") if answer == ANSWER else arms
    assert part in " ".join(causes(text))


@pytest.mark.parametrize(
    ("end", "user", "printed", "told"),
    [
        ("", "", '" "', ["user"]),
        ("rstrip", "", '" \\n"', []),
        ("rstrip", "", '"\\n" m.content', ["user"]),
        ("", "lstrip", "m.content", ["user"]),
        ("", "lstrip", 'm.content "a"', []),
        ("rstrip", "lstrip", '" "', []),
    ],
)
def test_control_tokens_that_strip_white_space(end: str, user: str, printed: str, told: list[str]) -> None:
    text = TEMPLATE.replace('"<end>"', f'"<end>" {end}').replace('"<user>"', f'"<user>" {user}')
    asked = "@user m.content @end" if user else "m.content @end"
    walk = f"when user {{ {asked} }} when system, tool {{ @model m.content @end }}"
    walk += f" when assistant {{ @model sampled {{ m.content @end }} {printed} drop m.thought }}"
    clause = "" if user else f" boundary {printed.removesuffix(' m.content')}: accept"
    template = f"drop short each m in messages {{ {walk} }}{clause}"
    program = whole(analyse("v", Source("v.kata", text % template))[0])
    found = [change.cause for change in changes(program, {"short": False}, Question.HISTORY)]
    assert found == [f"the text of a message of `{role}` goes on that of the message before" for role in told]


def test_what_takes_the_last_message_or_those_to_come_may_change() -> None:
    walk = WALK % f"{ANSWER} @end"
    assert causes(f"take all user as asked each u in asked {{ u.content }} {walk}")
    taken = "take leading assistant as said if exists said { said.content drop said.thought }"
    assert causes(f"{taken} {walk}") == ["it may take the only message"]


def test_a_prompt_may_depend_on_what_is_asked_for() -> None:
    arms = WALK % "@model sampled { m.content @end } drop m.thought"
    told = causes(
        arms.replace("@user m.content", "@user if not generating { @end } m.content"), question=Question.PROMPT
    )
    assert told == ["it depends on whether a prefix is asked for"]


def test_what_stands_behind_the_messages_moves() -> None:
    assert causes(WALK % f"{ANSWER} @end" + ' "a"') == ["it stands behind the messages"]


def test_a_prompt_is_how_the_reply_begins() -> None:
    stable = WALK % "@model sampled { m.content @end } drop m.thought"
    assert causes(stable, question=Question.PROMPT) == []
    other = WALK % "if exists m.thought { m.thought } else { @model } sampled { m.content @end }"
    assert causes(other, question=Question.PROMPT)


def test_what_a_question_prints_when_it_is_answered_is_part_of_the_prompt() -> None:
    arms = WALK % "@model sampled { m.content @end } drop m.thought"
    more = 'if m is not last { "a" }'
    assert causes(arms.replace("@user m.content @end", f"@user m.content @end {more}"), question=Question.PROMPT) == [
        "a reply may begin otherwise"
    ]


def test_a_reply_may_go_on_in_the_text_of_a_prompt_without_prefix() -> None:
    arms = WALK % "sampled { m.content @end } drop m.thought"
    for printed, told in (("@end @model", []), ('@end @model "a"', ["the text of a reply goes on its text"])):
        text = TEMPLATE.replace("generate { @model }", "generate where short { @model }")
        body = arms.replace("@user m.content @end", f"@user m.content {printed}")
        program = whole(analyse("v", Source("v.kata", text % ("drop short " + body)))[0])
        assert [change.cause for change in changes(program, {"short": False}, Question.PROMPT)] == told


def test_a_question_in_front_of_the_walk_is_answered_too() -> None:
    asked = "take leading user as q if exists q { q.content @end } "
    arms = WALK % "%s @model sampled { m.content @end } drop m.thought"
    assert causes(asked + arms % "", question=Question.PROMPT) == []
    assert causes(asked + arms % "if m is first { @user }", question=Question.PROMPT) == ["a reply may begin otherwise"]


@pytest.mark.parametrize("printed", ["n @end", "number()"])
@pytest.mark.parametrize(
    ("before", "behind", "told"), [("", "advance n", []), ("advance n", "", ["a reply may count on"])]
)
def test_a_counter_of_the_reply_is_not_that_of_the_prompt(
    printed: str, before: str, behind: str, told: list[str]
) -> None:
    reply = f"{before} @model {printed} {behind} sampled {{ m.content @end }} drop m.thought"
    declared = "counter n" + (" def number() { n @end }" if printed == "number()" else "")
    text = TEMPLATE.replace("  %s\n", f"  {declared}\n  %s\n").replace("{ @model }", f"{{ @model {printed} }}")
    program = whole(analyse("v", Source("v.kata", text % ("drop short " + WALK % reply)))[0])
    assert [change.cause for change in changes(program, {"short": False}, Question.PROMPT)] == told


SAID = '@model sampled { m.content ?? "" @end }'
MADE = "each c in m.calls { @model sampled { c @end } }"
SOME = 'each c in m.calls where c != "a" { @model sampled { c @end } } drop m.calls'
EITHER = f"if given m.content or not given m.calls {{ {SAID} }}"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (f"{EITHER} if given m.calls {{ {MADE} }}", []),
        (f"{EITHER} if exists m.calls {{ {MADE} }}", []),
        (f"if not given m.calls {{ {SAID} }} if given m.calls {{ {MADE} drop m.content }}", []),
        (f'if m.content != "" {{ {SAID} }} if given m.calls {{ {MADE} }}', ["a reply may end before it"]),
        (f"{EITHER} if given m.calls {{ {SOME} }}", ["a reply may end before it"]),
    ],
)
def test_a_reply_of_which_one_part_or_another_is_printed(reply: str, told: list[str]) -> None:
    text = TEMPLATE.replace("content: text  thought: text?", "content: text?  calls: [text]?")
    program = whole(analyse("v", Source("v.kata", text % ("drop short " + WALK % reply)))[0])
    assert [change.cause for change in changes(program, {"short": False}, Question.PROMPT)] == told


def test_the_command_shows_verdicts_and_witnesses() -> None:
    done = here("check", "--stability", "qwen3", cwd=ROOT)
    assert done.status == 0
    assert "unstable" in done.out
    assert '+ {"role": "user", "content": "a"}' in done.out
    assert here("check", "--stability", "book", cwd=ROOT).out.count("    stable\n") == 2
    missing = here("check", "--stability", "nonsense", cwd=ROOT)
    assert (missing.status, "nonsense" in missing.err) == (1, True)
