"""Each length that a window gives is that of the whole, for templates that look far or print texts side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import pytest

import katapi
from katapi.runtime.budget import measure
from katapi.runtime.budget.measure import Measure, Refused
from katapi.runtime.budget.policy import Allotment, Budget, Grouping, Misfit, Order, Section
from katapi.runtime.budget.reach import Unbounded
from katapi.runtime.errors import BudgetError, TemplateError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.request_model import RequestModel
from tests.budget.templates import model_of_text, template

SEEDS = 80
SHORT = ("a", "aa", "aaa", "b", "", "0")
LONG = ("aa ab a0 b " * 6 + "a", "a ba " * 14, "0 1 a " * 10 + "b", "a")
ROLES = (
    ("system", "user", "assistant", "tool", "note"),
    ("user", "note", "note", "note", "assistant", "tool"),
    ("user", "note", "assistant", "assistant", "tool"),
)
ROLES_OF = {
    "long_runs": (("assistant", "user", *("tool",) * 10),),
    "neighbours_in_front": (("system", "system", "user", "user", "note"),),
}
"""The roles for templates whose windows others would not reach."""
FAR = "let x = last n in messages before m where n is note if exists x { x.content }"

TEMPLATES = {
    "plain": template(),
    "asks_far": template(arms={"user": f"@start {FAR} m.content", "note": "drop m m.content @end"}),
    "asks_ahead": template(
        arms={
            "user": "let x = first t in messages after m where t is tool if exists x { x.content } m.content @start",
            "note": "drop m @end m.content",
        }
    ),
    "neighbours": template(arms={"user": '@start if prev m is user { "a" } m.content'}, accept="a"),
    "neighbours_in_front": template(
        "take all system as rules each s in rules { s.content @end }",
        {"user": 'if next m is user { "a" } m.content @start if prev m is user { "a" } m.content', "system": ""},
        accept="a",
    ),
    "long_runs": template(
        arms={
            "user": "@start m.content",
            "assistant then tool* as results": "@start sampled { m.content } each r in results { r.content } @end",
            "assistant": "",
            "tool": "@start m.content @end",
        },
    ),
    "counts_either": template(
        "counter n = 0",
        {"note": "drop m @start each x in m.marks ?? m.more ?? [] { advance n x n } @end"},
    ),
    "counts_each": template(
        "counter n = 0",
        {"note": "drop m @start m.content each x in m.marks ?? [] { x n advance n } @end"},
        generate="n @start",
    ),
    "counts_each_in_text": template(
        "counter n = 0",
        {"note": "drop m each x in m.marks ?? [] { n advance n x } @start m.content @end", "user": "@start m.content"},
    ),
    "counts_some": template(
        "counter n = 0",
        {"note": 'drop m @start each x in m.marks ?? [] { if x == "a" { advance n } x n } @end'},
    ),
    "counts_given": template(
        "counter n = 0",
        {
            "note": "drop m @start m.content if given m.name { advance n } @end",
            "user": '@start if n > 1 { "aaa" } m.content @end',
        },
    ),
    "counts_in_text": template(
        "counter n = 0",
        {"user": '@start m.content if n > 4 { "a" }', "tool": "@start m.content @end advance n"},
        accept="a",
    ),
    "counts_at_the_end": template("counter n = 0", {"note": "drop m m.content advance n"}, generate="n @start"),
    "counts_in_front": template(
        "take leading system as rule counter n = 0 if exists rule { advance n rule.content }",
        {"user": '@start if n == 1 { "aaa0" } m.content @end'},
        accept="aaa0",
    ),
    "begins_in_front": template(
        "take leading system as rule drop rule counter n = if exists rule then 1 else 0",
        {"user": '@start if n == 1 { "aaa0" } m.content @end'},
        accept="aaa0",
    ),
    "asks_for_what_is_taken": template(
        """take leading system as rule
  let late = first s in messages where s is system
  if exists rule { rule.content }""",
        {"user": "@start if exists late { late.content } m.content @end"},
    ),
    "takes_results": template(
        "take all tool as results each r in results { r.content }",
        {"tool": "", "user": "m.content", "system": "m.content", "assistant": "sampled { m.content }"},
    ),
    "takes_the_last": template(
        "take all note as notes let final = messages.last each r in notes { r.content drop r }",
        {"note": "", "user": '@start if exists final and final is assistant { "b" } m.content @end'},
        accept="b",
    ),
    "looks_at_the_last_in_front": template(
        "let final = messages.last if exists final and final is user { final.content }",
        {"user": "m.content", "tool": "m.content", "system": "m.content", "assistant": "sampled { m.content }"},
    ),
    "quotes": template(
        arms={
            "user": "m.content",
            "tool": "m.content",
            "system": "m.content",
            "assistant": f"sampled {{ m.content }} {FAR}",
            "note": "drop m",
        }
    ),
    "runs": template(
        arms={
            "user": "m.content",
            "assistant then tool* as results": "sampled { m.content } each r in results { r.content } if prev m is user"
            ' { "a" }',
            "assistant": "",
            "tool": "m.content",
        },
        accept="a",
    ),
    "asks_whether": template(
        "let tooled = any t in messages where t is tool let final = last n in messages where n is note",
        {
            "user": '@start if any n in messages before m where n is note { "a" } if tooled { "b" } m.content @end',
            "system": '@start if any t in messages after m where t is tool { "0" } m.content @end',
            "assistant": '@start sampled { m.content @end } if m is after final { "1" }',
        },
        accept="a b 0 1",
    ),
    "runs_with_control": template(
        arms={
            "assistant then tool* as results": "sampled { m.content } results.length each r in results { r.content }"
            ' if prev m is note { "a" } ' + FAR,
            "assistant": "",
            "tool": "m.content",
        },
        accept="a",
    ),
    "counts_up_to_the_end": template(
        "counter n = 0", {"note": "drop m m.content", "tool": "m.content advance n"}, generate='n "aa"', accept="aa"
    ),
    "calls_itself": template(
        "",
        {"note": "shown(m.data) drop m"},
        accept="a",
    ).replace(
        "  each m in",
        '  def shown(x: json) { match x { when object { each k, v in x { shown(v) k } } when other { "a" } } }\n'
        "  each m in",
    ),
}


def talk(random: Random, texts: Sequence[str], roles: Sequence[str]) -> list[JsonObject]:
    """A conversation in no order, some of it calls and their results."""
    messages: list[JsonObject] = []
    calls: list[str] = []
    for at in range(random.choice((20, 60))):
        role = random.choice(roles)
        message: dict[str, Json] = {"role": role, "content": random.choice(texts)}
        match role:
            case "assistant" if random.random() < 0.1:
                calls.append(f"c{at}")
                message["tool_calls"] = [{"id": calls[-1]}]
            case "tool" if calls:
                message["tool_call_id"] = calls.pop(random.randrange(len(calls)))
            case "note":
                message["data"] = {"a": {"b": 1}}
                for field in ("marks", "more"):
                    if random.random() < 0.4:
                        message[field] = [random.choice(texts) for _ in range(random.randrange(3))]
                if random.random() < 0.4:
                    message["name"] = random.choice(texts)
            case _:
                pass
        messages.append(message)
    if random.random() < 0.3:
        messages += [{"role": "note", "content": "a", "data": None}] * random.choice((1, 2))
    return messages


def some_budget(random: Random) -> Budget:
    order = random.choice((Order.NEWEST_FIRST, Order.OLDEST_FIRST))
    grouping = random.choice((Grouping.BY_MESSAGE, Grouping.BY_MESSAGE, Grouping.BY_TURN))
    history = Allotment(Section.HISTORY, order, Misfit.SKIP, grouping)
    return Budget("odd@1", random.choice((60, 100, 300, 2000)), 0, (history,))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_window_says_what_the_whole_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of_text(name, TEMPLATES[name])
    assert not isinstance(model._reach, Unbounded)
    windows = 0

    def compared(self: Measure[RequestModel], section: Section, item: Sequence[int]) -> int | Refused:
        nonlocal windows
        found = self._in_window(item)
        whole = self._whole(sorted([*self.kept, *item]), self._lists)
        assert found is None or found == whole, (item, self.kept)
        windows += found is not None
        return whole

    monkeypatch.setattr(Measure, "with_item", compared)
    monkeypatch.setattr(measure, "_FEW", 0)
    monkeypatch.setattr(measure, "_WORTH", 1)
    for seed in range(SEEDS):
        random = Random(seed)
        messages = talk(random, random.choice((SHORT, LONG)), random.choice(ROLES_OF.get(name, ROLES)))
        budget = some_budget(random)
        try:
            if random.random() < 0.6:
                model.assemble(json.dumps({"messages": messages}).encode(), budget)
            else:  # what is tried may stand at the very end
                required = [one for one in messages if one["role"] == "system"][:1] or messages[:1]
                history = [messages[at : at + 2] if at % 3 else messages[at] for at in range(0, len(messages), 2)]
                katapi.fit_context(model, required, history, [], budget.room)
        except (BudgetError, TemplateError):
            continue
    assert windows or name in ("quotes", "looks_at_the_last_in_front"), windows


def test_an_item_is_told_by_another_only_where_it_prints_its_own_numbers() -> None:
    model = model_of_text("counts_each", TEMPLATES["counts_each"])

    def note(mark: str, content: str) -> JsonObject:
        return {"role": "note", "content": content, "marks": [mark], "data": None}

    # "b0" is one token and "b1" are two: what comes behind the first note must know of it.
    asked: JsonObject = {"role": "user", "content": "a"}
    spoken: list[JsonObject] = [*[asked] * 4, note("a", "a"), *[asked] * 16]
    tried = [note("a", "a 0 " * 20), note("b", "a 0 " * 20)]
    last = [asked]
    room = len(model.assemble(json.dumps({"messages": [*spoken, *last]}).encode()))
    oldest_first = Budget("odd@1", room, 0, (Allotment(Section.HISTORY, Order.OLDEST_FIRST, Misfit.SKIP),))
    result = model.assemble(json.dumps({"messages": [*spoken, *tried, *last]}).encode(), oldest_first)
    assert result.record.decision is not None
    left = [choice for choice in result.record.decision.choices if not choice.kept]
    assert [choice.at for choice in left] == [(21,), (22,)]
    for choice, one in zip(left, tried, strict=True):
        assert choice.after == len(model.assemble(json.dumps({"messages": [*spoken, one, *last]}).encode()))
