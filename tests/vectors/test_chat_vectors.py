"""Qwen3 on whole conversations: the text that the official template printed, and the ids of the official tokenizer.

A case where Katapi's result is another one on purpose is known by the rule that `docs/differences.md` gives,
never by its name, and must give exactly what stands there.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from enum import Enum
from functools import cache
from pathlib import Path

import pytest

import katapi
from katapi.runtime.json_types import Json
from katapi.runtime.model_input import ModelInput

ROLES = {"system", "user", "assistant", "tool"}

Case = dict[str, Json]
Message = dict[str, Json]


class Rule(Enum):
    """What a case must give."""

    AS_OFFICIAL = "the official text and ids"
    UNKNOWN_ROLE = "a request error: the official template drops such a message"
    NULL_CONTENT = "what an empty content gives: the official template fails"
    NO_MESSAGES = "a template error: the official template fails"


@cache
def vectors() -> tuple[dict[str, Json], list[Case]]:
    """Header and cases: those of `../shared` where it exists, otherwise the copy in this repository."""
    root = Path(__file__).parents[2]
    shared = root.parent / "shared" / "vectors" / "chat" / "qwen3.jsonl.gz"
    path = shared if shared.exists() else Path(__file__).with_name("chat") / "qwen3.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header: dict[str, Json] = json.loads(next(lines))
        return header, [json.loads(line) for line in lines]


def messages_of(case: Case) -> list[Message]:
    messages = case["messages"]
    assert isinstance(messages, list)
    return messages


def rule_of(case: Case) -> Rule:
    """The rule for a case. One that the official template failed on, and that no rule covers, fails here."""
    messages = messages_of(case)
    if not messages:
        return Rule.NO_MESSAGES
    if any(m["role"] not in ROLES for m in messages):
        return Rule.UNKNOWN_ROLE
    if "error" not in case:
        return Rule.AS_OFFICIAL
    null = [m for m in messages if m["content"] is None]
    assert null, f"{case['id']}: no rule says what to make of {case['error']}"
    assert all(m["role"] == "assistant" and (m.get("tool_calls") or m.get("reasoning_content")) for m in null)
    return Rule.NULL_CONTENT


def request_of(case: Case) -> dict[str, Json]:
    """The case as a request."""
    params = case["params"]
    assert isinstance(params, dict)
    request = {"messages": case["messages"]}
    if "tools" in case:
        request["tools"] = case["tools"]
    return request | params


def assemble(case: Case, messages: list[Message]) -> ModelInput:
    """The case as a client sends it, with these messages."""
    request = request_of(case) | {"messages": messages}
    return katapi.load("qwen3").assemble(json.dumps(request, ensure_ascii=False).encode())


HEADER, CASES = vectors()
RULES = [rule_of(case) for case in CASES]


def cases(rule: Rule) -> list[Case]:
    return [case for case, found in zip(CASES, RULES, strict=True) if found is rule]


def test_the_file_holds_what_its_header_says_and_every_rule_has_cases() -> None:
    count = Counter(RULES)
    assert sum(count.values()) == len(CASES) == HEADER["cases"]
    assert set(count) == set(Rule)
    assert count[Rule.AS_OFFICIAL] > 350
    assert count[Rule.AS_OFFICIAL] + count[Rule.UNKNOWN_ROLE] == sum("text" in case for case in CASES)


def test_every_other_case_gives_exactly_the_official_text_and_ids() -> None:
    expected = cases(Rule.AS_OFFICIAL)
    same = 0
    different: list[Json] = []
    for case in expected:
        assembled = assemble(case, messages_of(case))
        if assembled.text == case["text"] and assembled.input_ids.tolist() == case["ids"]:
            same += 1
        else:
            different.append([case["id"], case["params"]])
    assert different == []
    assert same == len(expected)


def test_an_unknown_role_is_refused_at_its_place() -> None:
    for case in cases(Rule.UNKNOWN_ROLE):
        messages = messages_of(case)
        first = next(i for i, m in enumerate(messages) if m["role"] not in ROLES)
        with pytest.raises(katapi.RequestError) as caught:
            assemble(case, messages)
        assert (caught.value.code, caught.value.where) == ("R110", f"messages[{first}].role")
        assert str(messages[first]["role"]) in caught.value.message


def test_null_content_gives_what_an_empty_text_gives() -> None:
    for case in cases(Rule.NULL_CONTENT):
        messages = messages_of(case)
        emptied = [m | {"content": m["content"] or ""} for m in messages]
        assert emptied != messages
        found, expected = assemble(case, messages), assemble(case, emptied)
        assert found.text == expected.text
        assert found.input_ids.tolist() == expected.input_ids.tolist()


def test_each_failure_of_the_official_template_is_on_the_page_of_differences() -> None:
    page = (Path(__file__).parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")
    failures = {str(case["error"]) for case in vectors()[1] if "error" in case}
    assert len(failures) > 2
    assert {failure for failure in failures if f"\nfails: {failure}\n" not in page} == set()


def test_a_request_without_messages_is_a_template_error() -> None:
    for case in cases(Rule.NO_MESSAGES):
        with pytest.raises(katapi.TemplateError) as caught:
            assemble(case, [])
        assert caught.value.code == "T100"
